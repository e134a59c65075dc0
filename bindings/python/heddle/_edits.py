"""Edits of matrices: entries set, added and removed together."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _heddle
from ._arrays import _entry_shapes, check_form, indices_of, numbers
from ._errors import SizeError, UsageError
from ._in_scipy import rows_of

Places = NDArray[np.int64]


def edited_triplets(A: Any, set: Any, add: Any, remove: Any) -> tuple[Any, tuple[Places, Places]]:
    """The triplets of ``A.edited``, with each place once."""
    columns = max(A.shape[1], 1)
    old = rows_of(A) * columns + A.indices
    data, keep = A.data.copy(), np.ones(len(old), bool)
    order = np.argsort(old, kind="stable")
    batches: list[tuple[Places, Any]] = [_batch(A, set, "set"), _batch(A, add, "add")]
    batches.append((_keys(A, remove, "remove"), None))
    _refuse_twice(np.concatenate([keys for keys, _ in batches]), columns)

    more, places = [], []
    for (keys, values), name in zip(batches, ("set", "add", "remove")):
        at = np.searchsorted(old, keys, sorter=order)
        there = np.zeros(len(keys), bool)
        inside = at < len(old)
        there[inside] = old[order[at[inside]]] == keys[inside]
        found = order[at[there]]
        if name == "remove":
            if not there.all():
                row, column = divmod(int(keys[~there][0]), columns)
                raise UsageError(f"remove: there is no entry at row {row}, column {column}")
            keep[found] = False
            continue
        data[found] = values[there] if name == "set" else data[found] + values[there]
        more.append(values[~there])
        places.append(keys[~there])
    keys = np.concatenate([old[keep], *places])
    return np.concatenate([data[keep], *more]), (keys // columns, keys % columns)


def edited_tree(
    tree: _heddle.Operator, entry: str, dtype: np.dtype, set: Any, add: Any, remove: Any
) -> _heddle.Operator:
    """The operator of an edited tree, which shares its nodes."""
    A = SimpleNamespace(shape=(tree.rows, tree.columns), entry=entry, dtype=dtype)
    columns = max(tree.columns, 1)
    given: list[NDArray[Any]] = []
    for keys, values in (_batch(A, set, "set"), _batch(A, add, "add")):
        given += [*divmod(keys, columns), values]
    keys = _keys(A, remove, "remove")
    given += divmod(keys, columns)
    return tree.edited(*given)


def _keys(A: Any, places: Any, name: str) -> Places:
    """A number for each place: row times columns + column."""
    if places is None:
        return np.empty(0, np.int64)
    if not isinstance(places, tuple) or len(places) != 2:
        raise UsageError(f"{name}: places must be (row, col)")
    row, column = map(indices_of, places)
    if row.ndim != 1 or row.shape != column.shape:
        raise SizeError(f"{name}: row and col have the shapes {row.shape} and {column.shape}")
    outside = (row < 0) | (row >= A.shape[0]) | (column < 0) | (column >= A.shape[1])
    if outside.any():
        i = int(np.flatnonzero(outside)[0])
        raise SizeError(
            f"{name}: row {row[i]}, column {column[i]} is beyond a matrix of "
            f"{A.shape[0]} x {A.shape[1]}"
        )
    return row.astype(np.int64) * max(A.shape[1], 1) + column


def _batch(A: Any, given: Any, name: str) -> tuple[Places, NDArray[Any]]:
    shape = _entry_shapes[A.entry]
    if given is None:
        return np.empty(0, np.int64), np.empty((0, *shape), A.dtype)
    if not isinstance(given, tuple) or len(given) != 2:
        raise UsageError(f"{name}: edits must be (data, (row, col))")
    keys = _keys(A, given[1], name)
    values = numbers(given[0], A.dtype, name)
    check_form(values, (len(keys), *shape), name)
    return keys, values.reshape((len(keys), *shape))


def _refuse_twice(keys: Places, columns: int) -> None:
    ordered = np.sort(keys)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(twice):
        row, column = divmod(int(twice[0]), columns)
        raise UsageError(f"row {row}, column {column} is edited twice")
