"""Runs the notebooks cell by cell, and compares the stored outputs with today's.

`BLESS=1` stores today's outputs.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "guides").glob("*.ipynb"))
NAMES = [path.stem for path in NOTEBOOKS]


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def shown(value: Any) -> dict[str, Any]:
    """The notebook form of a value: a picture, a table or text."""
    if type(value).__name__ == "Figure":
        drawn = io.BytesIO()
        value.savefig(drawn, format="png", dpi=80)
        return {
            "image/png": base64.b64encode(drawn.getvalue()).decode("ascii"),
            "text/plain": [repr(value)],
        }
    found = {"text/plain": lines(repr(value))}
    return (
        {"text/html": lines(value._repr_html_()), **found}
        if hasattr(value, "_repr_html_")
        else found
    )


def run(source: str, name: str, space: dict[str, Any]) -> list[dict[str, Any]]:
    """The outputs of one cell: what it printed, and the value of its last line."""
    # Skips lines that only a notebook understands, which configure pictures.
    tree = ast.parse(
        "\n".join("" if line.startswith("%") else line for line in source.split("\n")), name
    )
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), space)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), space)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append(
            {"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())}
        )
    if value is not None:
        outputs.append({"data": shown(value), "metadata": {}, "output_type": "execute_result"})
    return outputs


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with today's outputs."""
    space: dict[str, Any] = {"__name__": "__main__"}
    cells = []
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            outputs = run("".join(cell["source"]), f"cell {count}", space)
            for output in outputs:
                if output["output_type"] == "execute_result":
                    output["execution_count"] = count
            cell = {**cell, "execution_count": count, "outputs": outputs}
        cells.append(cell)
    return {**notebook, "cells": cells}


def without_pictures(notebook: dict[str, Any]) -> str:
    """The notebook as text, without picture bytes, which depend on the matplotlib release."""
    copied = json.loads(json.dumps(notebook))
    for cell in copied["cells"]:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                output["data"]["image/png"] = "a picture"
    return json.dumps(copied, indent=1, sort_keys=True, ensure_ascii=False)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_a_notebook_shows_what_it_gives(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    stored = json.loads(path.read_text(encoding="utf-8"))
    found = executed(stored)
    if os.environ.get("BLESS"):
        text = json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")
        return
    assert without_pictures(found) == without_pictures(stored)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_it_is_a_notebook_that_says_something(path: Path) -> None:
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert (stored["nbformat"], stored["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in stored["cells"]]
    assert len(ids) == len(set(ids))
    pictures = [
        output["data"]["image/png"]
        for cell in stored["cells"]
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    assert pictures and all(
        base64.b64decode(picture).startswith(b"\x89PNG") for picture in pictures
    )


def test_a_changed_output_is_noticed() -> None:
    cell = {
        "cell_type": "code",
        "execution_count": 1,
        "id": "a",
        "metadata": {},
        "source": ["print(1)\n", "2"],
    }
    now = executed({"cells": [cell]})
    kinds = [output["output_type"] for output in now["cells"][0]["outputs"]]
    assert kinds == ["stream", "execute_result"]
    then = json.loads(json.dumps(now).replace('"2"', '"3"'))
    assert without_pictures(now) != without_pictures(then)
