"""Checks of the places of SciPy's sparse matrices: SciPy's own routines do not check them, and a
wrong one ends the process."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import indices_of
from ._errors import SizeError, UsageError


def check_places(source: Any) -> None:
    """Raises ``UsageError`` or ``SizeError`` for the first invalid place of a SciPy sparse
    matrix."""
    if type(source).__module__.partition(".")[0] != "scipy":
        return
    shape, form = source.shape, source.format
    if len(shape) != 2:
        raise UsageError(f"a sparse matrix has two dimensions, not {len(shape)}")
    if form == "coo":
        for name, places, count in zip(("row", "column"), (source.row, source.col), shape):
            index = indices_of(places)
            if index.shape != source.data.shape:
                raise SizeError(
                    f"data has the shape {source.data.shape}, but the {name}s {index.shape}"
                )
            first = _first_beyond(index, count)
            if first is not None:
                raise SizeError(_beyond(f"entry {first}", name, index[first], count))
    elif form == "csc":
        _check_compressed(source, shape[::-1], "column", "row")
    elif form in ("csr", "bsr"):
        rows, columns = getattr(source, "blocksize", (1, 1))
        _check_compressed(source, (shape[0] // rows, shape[1] // columns), "row", "column")
    elif form == "dia" and len(source.data) != len(source.offsets):
        raise SizeError(f"data has {len(source.data)} diagonals, but offsets {len(source.offsets)}")


def _check_compressed(source: Any, shape: tuple[int, int], major: str, minor: str) -> None:
    """``shape``: the numbers of rows and columns, or of columns and rows, major ones first."""
    pointer, index = indices_of(source.indptr), indices_of(source.indices)
    if pointer.shape != (shape[0] + 1,):
        raise SizeError(f"indptr has {pointer.size} numbers, but the matrix {shape[0]} {major}s")
    if pointer[0] != 0:
        raise UsageError(f"indptr begins with {pointer[0]} instead of 0")
    entries = min(len(index), len(source.data))  # those after the last row belong to no row
    begin, end = pointer[:-1], pointer[1:]
    if pointer[-1] > entries or (end < begin).any():
        wrong = int(np.argmax((end < begin) | (end > entries)))
        if end[wrong] > entries:
            raise SizeError(f"indptr[{wrong + 1}] is {end[wrong]}, but there are {entries} entries")
        raise UsageError(
            f"indptr[{wrong + 1}] is {end[wrong]}, less than indptr[{wrong}], {begin[wrong]}"
        )
    first = _first_beyond(index[: pointer[-1]], shape[1])
    if first is not None:
        where = f"{major} {int(np.searchsorted(pointer, first, 'right')) - 1}"
        raise SizeError(_beyond(where, minor, index[first], shape[1]))


def _first_beyond(index: NDArray[Any], count: int) -> int | None:
    """The position of the first index that is not from 0 to count - 1."""
    unsigned = index.view(f"u{index.itemsize}")  # a negative index becomes large
    if not unsigned.size or unsigned.max() < count:
        return None
    return int(np.argmax(unsigned >= count))


def _beyond(where: str, name: str, number: int, count: int) -> str:
    return f"{where} names {name} {number}, but there are {count} {name}s, counted from 0"
