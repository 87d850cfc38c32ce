"""Action sets from arrays, lists, frames and tables."""

from __future__ import annotations

import numpy as np
import pytest

from plausibly import ActionSet, LinUCB

ROWS = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def features(actions: ActionSet) -> list[list[float]]:
    return [action.features.tolist() for action in actions]


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        tuple(map(tuple, ROWS)),
        np.array(ROWS),
        np.array(ROWS, order="F"),
        np.array(ROWS, dtype=np.float32),
        np.array(ROWS, dtype=np.int16),
        np.array(ROWS, dtype=np.uint8),
        np.array(ROWS, dtype=np.longdouble),
        np.array(ROWS, dtype=">f8"),
        np.array(ROWS).T.copy().T,
        np.repeat(np.array(ROWS), 2, axis=1)[:, ::2],
        np.array(ROWS)[::-1][::-1],
        np.ma.masked_array(np.array(ROWS)),
        [np.array(row) for row in ROWS],
    ],
)
def test_layouts_and_types_give_the_same_rows(rows: object) -> None:
    assert features(ActionSet(rows)) == ROWS
    assert LinUCB(radius=1.0).select(rows) == 1


def test_fortran_order_is_not_read_as_columns() -> None:
    square = np.array([[1.0, 2.0], [3.0, 4.0]], order="F")
    assert features(ActionSet(square)) == [[1.0, 2.0], [3.0, 4.0]]


def test_a_set_does_not_follow_the_array_it_was_made_from() -> None:
    rows = np.array(ROWS)
    actions = ActionSet(rows)
    rows[:] = np.nan
    assert features(actions) == ROWS


def test_frames_of_numbers() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = {"price": [1.5, 2.5], "stock": [3, 4], "new": [True, False]}
    expected = [[1.5, 3.0, 1.0], [2.5, 4.0, 0.0]]
    assert features(ActionSet(pandas.DataFrame(columns))) == expected
    assert features(ActionSet(pandas.DataFrame(columns).convert_dtypes())) == expected
    assert features(ActionSet(polars.DataFrame(columns))) == expected


def test_frames_with_text_or_gaps_name_the_column() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    text = {"price": [1.5, 2.5], "colour": ["red", "blue"]}
    gaps = {"price": [1.5, None]}
    for frame in (pandas.DataFrame(text), polars.DataFrame(text)):
        with pytest.raises(TypeError, match="rows: column 'colour' holds"):
            ActionSet(frame)
    for frame in (pandas.DataFrame(gaps), polars.DataFrame(gaps)):
        with pytest.raises(ValueError, match="rows: column 'price' has missing values"):
            ActionSet(frame)


def test_arrow_tables() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    columns = {"price": [1.5, 2.5], "stock": [3, 4], "new": [True, False]}
    table = pyarrow.table(columns)
    expected = [[1.5, 3.0, 1.0], [2.5, 4.0, 0.0]]

    class Streams:
        """Offers only Arrow's interface."""

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return table.__arrow_c_stream__(requested_schema)

    chunked = pyarrow.concat_tables([table.slice(0, 1), table.slice(1, 1)])
    small = pyarrow.table(
        {
            "a": pyarrow.array([1, 2], pyarrow.uint8()),
            "b": pyarrow.array([0.5, 2], pyarrow.float32()),
        }
    )
    for rows in (table, table.to_batches()[0], Streams(), chunked):
        assert features(ActionSet(rows)) == expected
    assert features(ActionSet(small)) == [[1.0, 0.5], [2.0, 2.0]]
    assert LinUCB(radius=1.0).select(table) == 1
    for wrong in (["red", "blue"], [None, "x"]):
        with pytest.raises(TypeError, match="rows: column 'colour' holds string"):
            ActionSet(pyarrow.table({"price": [1.5, 2.5], "colour": wrong}))
    with pytest.raises(TypeError, match="rows: column 'd' holds (date32|decimal)"):
        ActionSet(pyarrow.table({"d": pyarrow.array([1, 2], pyarrow.date32())}))
    with pytest.raises(ValueError, match="rows: column 'price' has missing values"):
        ActionSet(pyarrow.table({"price": [1.5, None]}))
    with pytest.raises(ValueError, match="rows: feature 0 of action 1"):
        ActionSet(pyarrow.table({"price": [1.5, float("nan")]}))
    with pytest.raises(TypeError, match="rows: expected an Arrow table, found"):
        ActionSet(pyarrow.array([1.0, 2.0]))


def test_labels_and_places() -> None:
    plain, named = ActionSet(ROWS), ActionSet(ROWS, labels=["a", ("b", 2)])
    assert (len(plain), plain.dim, plain.labels) == (2, 3, None)
    assert (named[("b", 2)].index, named[("b", 2)].label, plain[1].label) == (1, ("b", 2), None)
    assert "a" in named and 0 not in named and 0 in plain and 2 not in plain and -1 not in plain
    assert [action.label for action in named] == named.labels
    copied = named.labels
    assert copied is not None
    copied.clear()
    assert named.labels == ["a", ("b", 2)]
    assert plain[np.int64(1)].index == 1
    assert repr(plain) == "ActionSet(2 actions of 3 features)"


def test_arms_have_no_features() -> None:
    arms = ActionSet.arms(3, labels=["x", "y", "z"])
    assert (len(arms), arms.dim, arms["z"].features.tolist()) == (3, 0, [])
    assert repr(arms) == "ActionSet.arms(3, labelled)"
