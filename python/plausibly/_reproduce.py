"""The experiments of the paper, re-measured."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._files import write_file
from ._simulate import (
    Progress,
    Result,
    aligned,
    check_count,
    checked_cache,
    html_table,
    shown_progress,
)

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas
    import polars


@dataclass(frozen=True, repr=False, eq=False)
class Reproduction:
    """Measurements of the paper's experiments, and the verdicts on its claims."""

    results: Mapping[str, Result]
    """Every comparison by the name of its spec, in the order of the report: the experiments of the
    paper, other readings of them, and studies beyond it.
    """
    specs: Mapping[str, str]
    """The TOML text of every spec that was run, also for checks of theory; `simulate` accepts each.
    """
    manifest: Mapping[str, Any]
    """All findings, as in the `manifest.json` of the command: figures, claims, theory, skipped
    parts.
    """
    csv: str
    """The summary.csv of the command `plausibly reproduce`, byte for byte."""
    html: str
    """Its report, one page that needs no network, byte for byte."""

    @property
    def experiments(self) -> list[str]:
        """The paper's own experiments among the results."""
        studies = {one["name"]: one["study"] for one in self.manifest["experiments"]}
        return [name for name in self.results if name == studies[name]]

    @property
    def claims(self) -> list[dict[str, Any]]:
        """The paper's claims, one dict each: experiment, claim, statement, verdict, measure,
        evidence.
        """
        found = [
            (one["name"], claim) for one in self.manifest["experiments"] for claim in one["claims"]
        ]
        return [
            {"experiment": name, **claim} for name, claim in found if claim["stated_by_the_paper"]
        ]

    @property
    def skipped(self) -> list[dict[str, str]]:
        """Experiments that were not run: study, reason, remedy."""
        return list(self.manifest["skipped"])

    @cached_property
    def columns(self) -> dict[str, Any]:
        """The columns of all results, one after the other, with the experiment first."""
        names = [name for name, result in self.results.items() for _ in result["policy"]]
        columns: dict[str, Any] = {"experiment": names}
        for column in (
            "policy",
            "round",
            "regret_mean",
            "regret_se",
            "model_error_mean",
            "model_error_se",
            "plausible_mean",
        ):
            parts = [result[column] for result in self.results.values()]
            columns[column] = (
                [label for part in parts for label in part]
                if column == "policy"
                else np.concatenate(parts)
            )
        return columns

    def __getitem__(self, name: str) -> Result:
        """A result, by the name of its spec."""
        return self.results[name]

    def to_pandas(self) -> pandas.DataFrame:
        """All columns as a pandas frame."""
        import pandas

        return pandas.DataFrame(self.columns)

    def to_polars(self) -> polars.DataFrame:
        """All columns as a polars frame."""
        import polars

        return polars.DataFrame(self.columns)

    def plot(self, *names: str) -> matplotlib.figure.Figure:
        """Draws regret and model error by round, on logarithmic scales, for each experiment.

        By default these are the paper's experiments, else the results named. Bands are two standard
        errors either way. Needs matplotlib.
        """
        from matplotlib.figure import Figure

        shown = names or tuple(self.experiments)
        for name in shown:
            if name not in self.results:
                raise KeyError(
                    f"names: there is no result {name!r}; there are {', '.join(self.results)}"
                )
        figure = Figure(figsize=(10, 3.6 * len(shown)), layout="constrained")
        for part, name in zip(
            figure.subfigures(len(shown), 1, squeeze=False)[:, 0], shown, strict=True
        ):
            self.results[name].draw(part)
        return figure

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes the files of the command `plausibly reproduce` to a folder: the report
        `index.html`, `summary.csv`, `manifest.json` (without timings), and the specs.
        """
        manifest = json.dumps(self.manifest, indent=2, ensure_ascii=False) + "\n"
        files = {"summary.csv": self.csv, "manifest.json": manifest, "index.html": self.html}
        files |= {f"specs/{name}.toml": text for name, text in self.specs.items()}
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, text.encode())

    def __repr__(self) -> str:
        notes = [f"skipped {one['study']}: {one['reason']} {one['remedy']}" for one in self.skipped]
        return "\n".join(
            [self._heading(), *(aligned(self._rows(), words=3) if self.claims else ()), *notes]
        )

    def _repr_html_(self) -> str:
        return html_table(self._heading(), self._rows())

    def _heading(self) -> str:
        verdicts = [claim["verdict"] for claim in self.claims]
        counts = ", ".join(
            f"{verdicts.count(verdict)} {verdict}"
            for verdict in ("holds", "does not hold", "undecided")
        )
        return f"claims of the paper: {len(verdicts)} ({counts})"

    def _rows(self) -> list[list[str]]:
        rows = (
            [claim["experiment"], f"({claim['claim']}) {claim['statement']}", claim["verdict"]]
            for claim in self.claims
        )
        return [["experiment", "claim", "verdict"], *rows]


def reproduce(
    experiments: str | Iterable[str] = (),
    *,
    quick: bool = False,
    runs: int | None = None,
    seed: int = 2024,
    reading: str = "adopted",
    threads: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress = False,
) -> Reproduction:
    """Runs the experiments of the paper and judges its claims, like the command
    `plausibly reproduce`.

    `experiments` are names: "linear", "changing", "movielens", "wine", "heart", "k-armed", and
    beyond the paper "frontier", "delay", "differences", "verdicts" and "yes-no"; by default all of
    the paper with data in the cache.
    `quick` runs a tenth of the runs, `runs` this number for each experiment. `reading` says where
    the paper's λ = 10⁴ is used: "adopted" only in CODE's width, "literal" also as its ridge. Data
    sets are read from the folder `cache`, else from the variable PLAUSIBLY_DATA, else from where
    `fetch_data` and the command put them. The result is the same, to the last bit, for any number
    of `threads`. `progress` is as for `simulate`; Ctrl-C stops it.

    >>> from plausibly import reproduce
    >>> paper = reproduce("linear", runs=2)
    >>> paper.experiments, list(paper.results)
    (['linear'], ['linear', 'linear-readings', 'linear-ruler'])
    >>> paper["linear"].policies
    ['CODE', 'LinUCB', 'LinTS', 'Elim', 'ε-greedy', 'EtC']
    >>> len(paper.claims)
    5
    """
    names = [experiments] if isinstance(experiments, str) else list(experiments)
    if not all(isinstance(name, str) for name in names):
        raise TypeError("experiments: expected names")
    if reading not in ("adopted", "literal"):
        raise ValueError(f'reading: expected "adopted" or "literal", found {reading!r}')
    for name, value, least in (("runs", runs, 1), ("seed", seed, 0), ("threads", threads, 1)):
        if value is not None:
            check_count(name, value, least)
    with shown_progress(progress) as show:
        fields = _core.reproduce(
            names,
            bool(quick),
            runs,
            seed,
            reading == "literal",
            threads,
            checked_cache(cache),
            show,
        )
    results = {name: Result(**result) for name, result in fields.pop("results").items()}
    return Reproduction(results=results, manifest=json.loads(fields.pop("manifest")), **fields)


def fetch_data(
    *names: str,
    cache: str | os.PathLike[str] | None = None,
    mirror: str | os.PathLike[str] | None = None,
    accept_licence: bool = False,
    progress: bool | Callable[[int, int | None], object] | None = None,
) -> None:
    """Fetches data sets of the paper into the cache that the command `plausibly` uses too.

    The names are "movielens", "wine" and "heart"; without names, all of them. Data sets in the
    cache stay. They come from `mirror`, a folder or an address that holds their archives (else the
    variable PLAUSIBLY_MIRROR), or from their publishers if it does not have them. Only the
    published bytes are accepted. MovieLens has a licence to read and accept. Specs can then use
    them: `{"environment": {"kind": "wine"}, ...}`.

    A terminal shows the progress of a download. `progress` is True for a bar by tqdm, False for
    nothing, or a function of the bytes received and, if known, of all bytes. Ctrl-C ends it at
    once, and the next call continues from there.
    """
    source = os.environ.get("PLAUSIBLY_MIRROR") if mirror is None else os.fspath(mirror)
    for name in names or ("movielens", "wine", "heart"):
        with _shown_bytes(name, progress) as show:
            _core.fetch_data(name, checked_cache(cache), source, bool(accept_licence), show)


@contextmanager
def _shown_bytes(
    name: str, progress: bool | Callable[[int, int | None], object] | None
) -> Iterator[Callable[[int, int | None], object] | None]:
    """The listener for the progress of a download: the given function, a bar, a terminal line, or
    none.
    """
    if callable(progress):
        yield progress
    elif progress:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError(
                "progress: a bar needs tqdm; install it, or pass a function"
            ) from error
        with tqdm(desc=name, unit="B", unit_scale=True) as bar:

            def advance(done: int, total: int | None) -> None:
                bar.total = total
                bar.update(done - bar.n)

            yield advance
    elif progress is None and sys.stderr is not None and sys.stderr.isatty():
        shown = False

        def write(done: int, total: int | None) -> None:
            nonlocal shown
            shown = True
            of = "" if total is None else f" of {total / 1e6:.1f}"
            sys.stderr.write(f"\r{name}: {done / 1e6:.1f}{of} MB")
            sys.stderr.flush()

        try:
            yield write
        finally:
            if shown:
                sys.stderr.write("\n")
    else:
        yield None
