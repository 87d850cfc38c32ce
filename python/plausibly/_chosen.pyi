from typing import Any

from typing_extensions import disjoint_base

from . import _core

class Chosen:
    action: _core.Action
    def bare(self) -> Any: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

class ChosenText(Chosen, str):
    __slots__ = ("action",)
    def bare(self) -> str: ...

@disjoint_base
class ChosenInteger(Chosen, int):
    def bare(self) -> int: ...

class ChosenFloat(Chosen, float):
    __slots__ = ("action",)
    def bare(self) -> float: ...

@disjoint_base
class ChosenTuple(Chosen, tuple[Any, ...]):
    def bare(self) -> tuple[Any, ...]: ...

CARRIERS: dict[type[Any], type[Chosen]]

def _chosen(made: type[Any], label: Any, action: _core.Action) -> Any: ...
