from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, SupportsFloat, SupportsIndex, TypeAlias, TypeVar, final

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

__all__ = [
    "Action",
    "ActionSet",
    "ArmModels",
    "CERTIFICATE_MIB",
    "CertificateError",
    "DamagedLogError",
    "Experiment",
    "LEANING",
    "Log",
    "Policy",
    "SAVED_POLICY_MIB",
    "SPEC_MIB",
    "Stop",
    "TABLE_MIB",
    "__version__",
    "certificate_words",
    "check_certificate",
    "fetch_data",
    "parse_spec",
    "reproduce",
    "run_command",
]

_Rows: TypeAlias = ActionSet | npt.ArrayLike
_P = TypeVar("_P", bound=Policy)

__version__: str
# Limits of files by kind, in mebibytes.
CERTIFICATE_MIB: int
SAVED_POLICY_MIB: int
SPEC_MIB: int
TABLE_MIB: int
# Above this share an estimate leans to the edge of what was thought possible.
LEANING: float

@final
class ActionSet:
    def __new__(
        cls, rows: npt.ArrayLike, labels: Iterable[Hashable] | None = None
    ) -> ActionSet: ...
    @staticmethod
    def arms(
        arms: SupportsIndex | list[Any] | tuple[Any, ...], labels: Iterable[Hashable] | None = None
    ) -> ActionSet: ...
    def __len__(self) -> int: ...
    def __getitem__(self, action: Any, /) -> Action: ...
    def __contains__(self, action: Any, /) -> bool: ...
    def __iter__(self) -> Iterator[Action]: ...
    @property
    def dim(self) -> int: ...
    @property
    def labels(self) -> list[Any] | None: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Action:
    @property
    def index(self) -> int: ...
    @property
    def label(self) -> Any: ...
    @property
    def features(self) -> npt.NDArray[np.float64]: ...
    def _parts(self) -> tuple[list[float], list[Any], int, int]: ...
    @staticmethod
    def _lone(features: list[float], labels: list[Any], index: int, of: int) -> Action: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class ArmModels:
    def __new__(
        cls,
        arms: int,
        dim: int,
        policy: Mapping[str, Any],
        facts: Mapping[str, Any],
        epsilon: float | None,
        seed: int,
        shared_draws: bool = False,
    ) -> ArmModels: ...
    def learn(
        self,
        arms: npt.NDArray[np.int64],
        rewards: npt.NDArray[np.float64],
        contexts: npt.NDArray[np.float64] | None = None,
    ) -> None: ...
    def estimates(
        self, contexts: npt.NDArray[np.float64] | None = None
    ) -> npt.NDArray[np.float64]: ...
    def select(
        self, contexts: npt.NDArray[np.float64] | None, rounds: int, call: int
    ) -> npt.NDArray[np.uint64]: ...
    def explain(
        self, actions: ActionSet, radius: float | Mapping[str, Any] | None = None
    ) -> dict[str, Any]: ...
    def add_arm(self) -> None: ...
    def remove_arm(self, arm: int) -> None: ...
    @property
    def observations(self) -> list[int]: ...
    def state(self) -> dict[str, Any]: ...
    def restore(
        self,
        observations: list[int],
        sums: npt.NDArray[np.float64],
        removed: tuple[int, int, float],
        squares: list[float] | None = None,
        first: int | None = None,
    ) -> None: ...

@disjoint_base
class Policy:
    def __new__(
        cls: type[_P], policy: Mapping[str, Any], facts: Mapping[str, Any], seed: SupportsIndex
    ) -> _P: ...
    def select(self, actions: _Rows) -> Any: ...
    def update(
        self,
        action: Any,
        reward: SupportsFloat | None = None,
        *,
        successes: SupportsIndex | None = None,
        of: SupportsIndex | None = None,
    ) -> None: ...
    def partial_fit(
        self,
        actions: Iterable[Any],
        rewards: Iterable[SupportsFloat | tuple[SupportsIndex, SupportsIndex]],
        *,
        offers: ActionSet | None = None,
    ) -> None: ...
    def decided(self, action: Any) -> None: ...
    def dropped(self, action: Any) -> None: ...
    @property
    def observations(self) -> int: ...
    @property
    def label(self) -> str: ...
    def _given(self) -> dict[str, Any]: ...
    def _play(self, actions: ActionSet, rewards: list[float], rounds: int) -> list[int]: ...
    def _save(self) -> tuple[str, list[ActionSet], list[tuple[Action, bool]]]: ...
    def _restore(
        self, text: str, sets: list[ActionSet], waiting: list[tuple[Action, bool]]
    ) -> None: ...
    def _explain(
        self, actions: _Rows, radius: float | Mapping[str, Any] | None = None
    ) -> dict[str, Any]: ...
    def _compare(
        self,
        actions: _Rows,
        a: Any,
        b: Any,
        radius: float | Mapping[str, Any] | None = None,
    ) -> dict[str, Any]: ...
    def _outlook(
        self, actions: _Rows, radius: float | Mapping[str, Any] | None = None
    ) -> dict[str, Any]: ...

@final
class Stop:
    def __new__(cls) -> Stop: ...
    def set(self) -> None: ...

@final
class Experiment:
    def __new__(
        cls,
        spec: Mapping[str, Any] | str,
        runs: int | None = None,
        seed: int | None = None,
        cache: str | None = None,
    ) -> Experiment: ...
    @property
    def name(self) -> str: ...
    @property
    def runs(self) -> int: ...
    @property
    def horizon(self) -> int: ...
    @property
    def policies(self) -> list[str]: ...
    def resolved(self) -> dict[str, Any]: ...
    def run(
        self, threads: int | None, progress: Callable[[int, int], object] | None
    ) -> dict[str, Any]: ...
    def play(self, first: int, end: int, stop: Stop) -> bytes: ...
    def sum_up(self, parts: Sequence[bytes]) -> dict[str, Any]: ...

def run_command(arguments: list[str]) -> int: ...
def parse_spec(text: str) -> dict[str, Any]: ...
def fetch_data(
    name: str,
    cache: str | None,
    mirror: str | None,
    accept_licence: bool,
    progress: Callable[[int, int | None], object] | None,
) -> None: ...
def reproduce(
    experiments: Sequence[str],
    quick: bool,
    runs: int | None,
    seed: int,
    literal: bool,
    threads: int | None,
    cache: str | None,
    progress: Callable[[int, int], object] | None,
) -> dict[str, Any]: ...

class CertificateError(ValueError): ...
class DamagedLogError(ValueError): ...

@final
class Log:
    def __new__(
        cls,
        path: str | None,
        policy: str | None,
        reward_range: tuple[float, float] | None,
        outcomes: str | None,
        noise: float | str | None,
        usual_rate: float | None,
        odds_factor: float | None,
        horizon: int | None,
        seed: int | None,
        leave_out: list[str],
        theta_norm_bound: float | None,
    ) -> Log: ...
    def decide(
        self, at_us: int, table: bytes, context: dict[str, str], most: int, key: str | None
    ) -> str: ...
    def reward(
        self, at_us: int, decision: int, value: float | None, counts: tuple[int, int] | None
    ) -> bool: ...
    def correct(
        self, at_us: int, decision: int, value: float | None, counts: tuple[int, int] | None
    ) -> bool: ...
    def change_outcomes(self, at_us: int, outcomes: str) -> bool: ...
    def retract(self, at_us: int, decision: int) -> bool: ...
    def drop(self, at_us: int, decision: int, undo: bool) -> bool: ...
    def change_policy(self, at_us: int, policy: str, horizon: int | None) -> bool: ...
    def status(self, now_us: int, points: int) -> str: ...
    def compare(self, now_us: int, first: str, second: str) -> str: ...
    def certificate(self, decision: int, most: int) -> str: ...
    def about(self) -> tuple[str, tuple[float, float], list[str], str, bool] | None: ...
    def pending(self) -> list[tuple[int, str]]: ...
    def recovery(self) -> str | None: ...
    def close(self) -> None: ...

def certificate_words(text: str) -> str: ...
def check_certificate(text: str, log: Log | None, path: str | None) -> None: ...
