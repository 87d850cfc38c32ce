"""Policies in files and pickles. The format is in docs/reference/saved-policy.md."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._files import read_file

WITH_OLD_DEFAULTS = 3
"""The last version in which omitted parameters had other defaults."""

FORMAT = "plausibly policy"
VERSION = 4
"""The version of the format. A changed meaning, also a changed default of an omitted parameter,
needs a new version.
"""


Waiting = list[tuple[_core.Action, bool]]
"""Choices without a reward, each with whether `decided` was called for it."""


def document(text: str, sets: list[_core.ActionSet], waiting: Waiting) -> dict[str, Any]:
    """The content of a policy's file."""
    policy = json.loads(text)
    head = {"format": FORMAT, "version": VERSION, "written_by": _core.__version__}
    plain = {
        "waiting": [_plain_choice(*choice) for choice in waiting],
        "sets": [_plain_set(actions) for actions in sets],
    }
    body = {**head, **policy, **plain}
    return {**body, "sha256": _digest(body)}


def write(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Writes the whole file or nothing: writes a temporary file, syncs it, then renames it."""
    target = os.fspath(_checked_path(path))
    folder, name = os.path.split(target)
    beside = os.path.join(folder, f".{name}.{secrets.token_hex(6)}.tmp")
    text = (_written(content) + "\n").encode("utf-8")
    if len(text) > _core.SAVED_POLICY_MIB << 20:
        raise ValueError(
            f"the policy would have more than {_core.SAVED_POLICY_MIB} MiB, the limit of a saved "
            "policy, because the action sets it remembers are large; nothing was written"
        )
    try:
        with open(beside, "xb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        if os.path.exists(beside):
            os.unlink(beside)
        raise
    _sync_folder(folder or ".")


def read(
    path: str | os.PathLike[str],
) -> tuple[str, list[_core.ActionSet], Waiting, str, object]:
    """Text, sets, waiting choices, kind and outcomes of the policy in a file."""
    name = os.fspath(_checked_path(path))

    def refuse(reason: str) -> ValueError:
        return ValueError(f"path: {name} {reason}")

    raw = read_file(name, _core.SAVED_POLICY_MIB, "a saved policy")
    try:
        found = json.loads(
            raw.decode("utf-8"), parse_constant=_no_constant, object_pairs_hook=_once
        )
    except (ValueError, RecursionError) as error:
        raise refuse(f"is no saved policy, or is damaged: {error}") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise refuse("is no saved policy")
    version = found.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise refuse("is damaged: it names no version of the format")
    if version not in (WITH_OLD_DEFAULTS, VERSION):
        raise refuse(_other_version(version))
    digest = found.pop("sha256", None)
    if digest != _digest(found):
        raise refuse("is damaged: it does not hold what was written; save the policy again")
    try:
        sets = [_set_of(entry) for entry in found.pop("sets")]
        waiting = [_choice_of(entry) for entry in found.pop("waiting")]
        kind, outcomes = found["policy"]["kind"], found["facts"].get("outcomes")
        state = {
            name: value
            for name, value in found.items()
            if name not in ("format", "version", "written_by")
        }
        if version == WITH_OLD_DEFAULTS:
            _fill_in(state)
    except _Unclear as error:
        raise refuse(str(error)) from error
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise refuse(f"cannot be read back: {error!r}") from error
    return json.dumps(state), sets, waiting, str(kind), outcomes


def renewed(version: int, text: str) -> str:
    """The text of a policy in a pickle, in today's version."""
    if version == VERSION:
        return text
    if version != WITH_OLD_DEFAULTS:
        raise ValueError(f"the pickle {_other_version(version)}")
    state = json.loads(text)
    _fill_in(state)
    return json.dumps(state)


def settings(text: str) -> tuple[dict[str, Any], dict[str, Any], int]:
    """The parameters of a policy."""
    state = json.loads(text)
    return state["policy"], state["facts"], state["seed"]


class _Unclear(ValueError):
    """It cannot be told what the defaults of a policy were."""


def _fill_in(state: dict[str, Any]) -> None:
    """Writes the defaults of version 3 into the parameters of a policy, so that it goes on as it
    would have.
    """
    policy, played = state["policy"], state["played"]
    if policy["kind"] not in ("code", "insured", "lin-ucb"):
        return
    if played is None:
        raise _Unclear(
            "was saved before it had seen any actions, by an earlier plausibly whose defaults "
            "depended on them; it has learned nothing, so make a new one"
        )
    _fill_in_table(policy, arms=played["features"] == 0)


def _fill_in_table(policy: dict[str, Any], *, arms: bool) -> None:
    kind = policy["kind"]
    if kind not in ("code", "insured", "lin-ucb"):
        return
    policy.setdefault("radius", {"kind": "mixture" if arms else "determinant"})
    if not arms:
        policy.setdefault("ridge", 1.0)
        if kind != "lin-ucb":
            policy["exclusion"] = "intervals"
    if kind == "code" and "target" not in policy:
        policy.setdefault("greed", 0.0)
    if "inside" in policy:
        _fill_in_table(policy["inside"], arms=arms)


def _other_version(version: int) -> str:
    """Why a version is refused."""
    if version > VERSION:
        return (
            f"has version {version} of the format, and this plausibly reads up to {VERSION}: "
            "install a newer one"
        )
    return (
        f"has version {version} of the format, which this plausibly no longer reads; it reads "
        f"versions {WITH_OLD_DEFAULTS} and {VERSION}. Use the plausibly that wrote it, or teach a "
        "new policy its rewards"
    )


def _checked_path(path: object) -> str | os.PathLike[str]:
    if isinstance(path, (str, os.PathLike)):
        return path
    raise TypeError(f"path: expected a path, found {type(path).__name__}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object without duplicate keys: readers disagree on which of the two counts."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the key {name!r} occurs twice in an object")
        found[name] = value
    return found


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _digest(body: dict[str, Any]) -> str:
    """The checksum of the content, independent of its layout."""
    plain = json.dumps(
        body, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


def _written(value: Any, indent: str = "") -> str:
    """JSON for people: one key per line, and each list of numbers on one line."""
    if isinstance(value, dict) and value:
        inner = indent + "  "
        lines = (
            f"{inner}{json.dumps(name)}: {_written(entry, inner)}" for name, entry in value.items()
        )
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(entry, (dict, list)) for entry in value):
        inner = indent + "  "
        return (
            "[\n" + ",\n".join(inner + _written(entry, inner) for entry in value) + f"\n{indent}]"
        )
    return json.dumps(value, allow_nan=False)


def _sync_folder(folder: str) -> None:
    try:
        opened = os.open(folder, os.O_RDONLY)
    except OSError:  # some systems cannot open folders, and the file itself is synced
        return
    try:
        os.fsync(opened)
    except OSError:
        pass
    finally:
        os.close(opened)


def _plain_set(actions: _core.ActionSet) -> dict[str, Any]:
    content: dict[str, Any] = {"arms": len(actions)}
    if actions.dim > 0:
        content = {"rows": [action.features.tolist() for action in actions]}
    if actions.labels is not None:
        content["labels"] = [_plain_label(label) for label in actions.labels]
    return content


def _set_of(content: dict[str, Any]) -> _core.ActionSet:
    labels = content.get("labels")
    if labels is not None:
        labels = [_label_of(label) for label in labels]
    if "arms" in content:
        return _core.ActionSet.arms(content["arms"], labels)
    return _core.ActionSet(np.array(content["rows"], dtype=np.float64), labels)


def _plain_choice(action: _core.Action, decided: bool) -> dict[str, Any]:
    features, labels, index, of = action._parts()
    plain = [_plain_label(label) for label in labels]
    return {"labels": plain, "index": index, "of": of, "features": features, "decided": decided}


def _choice_of(content: dict[str, Any]) -> tuple[_core.Action, bool]:
    labels = [_label_of(label) for label in content["labels"]]
    action = _core.Action._lone(content["features"], labels, content["index"], content["of"])
    return action, bool(content["decided"])


def _plain_label(label: object) -> Any:
    """A label that JSON can hold and that equals the given one."""
    if isinstance(label, tuple):
        return {"tuple": [_plain_label(part) for part in label]}
    plain = label.item() if isinstance(label, np.generic) else label
    if plain is None or isinstance(plain, bool):
        return plain
    for exact in (str, int, float):
        if isinstance(plain, exact):
            # An Enum or another subclass is saved as the plain value that it equals.
            kept = exact.__str__(plain) if exact is str else exact(plain)
            if kept == plain:
                return kept
    raise TypeError(
        f"the label {label!r} cannot be saved: labels in a file are text, numbers, booleans, None "
        "or tuples of these; give the actions such labels, or use pickle"
    )


def _label_of(plain: Any) -> Any:
    if isinstance(plain, dict):
        return tuple(_label_of(part) for part in plain["tuple"])
    if plain is not None and not isinstance(plain, (str, int, float, bool)):
        raise ValueError(f"{plain!r} is no label")
    return plain


def _action_set(rows: npt.NDArray[np.float64], labels: Iterable[Any] | None) -> _core.ActionSet:
    """Unpickles an action set; pickles name this function."""
    count, dim = rows.shape
    return _core.ActionSet.arms(count, labels) if dim == 0 else _core.ActionSet(rows, labels)


def _lone_action(features: list[float], labels: list[Any], index: int, of: int) -> _core.Action:
    """Unpickles an action without its set; pickles name this function."""
    return _core.Action._lone(features, labels, index, of)


def _action(actions: _core.ActionSet, index: int) -> _core.Action:
    """Unpickles an action of a set; pickles name this function."""
    return next(islice(actions, index, None))
