"""A matrix's arrays, and what they are made from."""

from __future__ import annotations

import threading
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _heddle
from ._arrays import _entry_shapes, dtype_of, entry_of, indices_of, numbers, stored
from ._errors import SizeError, UsageError
from ._gpu import package_of, to_host
from ._instead import refuse_no_matrix
from ._places import check_places


class Assembled:
    """The part of ``Matrix`` that has its arrays, in compressed sparse rows."""

    def __init__(
        self, source: Any, shape: tuple[int, int] | None = None, *, entry: str | None = None
    ) -> None:
        if isinstance(source, _heddle.Matrix):
            self._stored = source
        elif isinstance(source, tuple):
            self._stored = _of_arrays(source, shape)
        else:
            self._stored = _of_object(source)
        # Entries on a GPU that the host has not asked for yet; else None.
        self._newer: Any = None
        # Held while operators are made and updated, so that none misses new values.
        self._lock = threading.RLock()
        self._entry, self._precision = self._stored.entry, self._stored.precision
        if entry is not None and entry != self._entry:
            raise UsageError(f"the entries are {self._entry}, not {entry}")

    @property
    def entry(self) -> str:
        """``'real'``, ``'quaternion'``, ``'block3'``..."""
        return self._entry

    @property
    def precision(self) -> str:
        """``'single'`` or ``'double'``."""
        return self._precision

    @property
    def _own(self) -> _heddle.Matrix:
        """The stored matrix with its newest entries."""
        if self._newer is not None:
            with self._lock:
                if self._newer is not None:
                    self._stored.update_values(numbers(to_host(self._newer), self.dtype, "data"))
                    self._newer = None
        return self._stored

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, counted in entries."""
        return self._stored.shape

    @property
    def dtype(self) -> np.dtype:
        """The type of the numbers that make an entry."""
        return dtype_of(self._entry, self._precision)

    @property
    def nnz(self) -> int:
        """The number of entries."""
        return len(self.indices)

    @property
    def indptr(self) -> NDArray[np.int64]:
        """Row offsets; a view that cannot be written to."""
        return self._stored.arrays()[0]

    @property
    def indices(self) -> NDArray[np.int32]:
        """The column of each entry; a view that cannot be written to."""
        return self._stored.arrays()[1]

    @property
    def data(self) -> NDArray[Any]:
        """The entries, shape ``(nnz, ...)``; a view that cannot be written to, see
        ``update_values``."""
        return self._own.arrays()[2].reshape((-1, *_entry_shapes[self._entry]))


def _of_arrays(source: tuple[Any, ...], shape: tuple[int, int] | None) -> _heddle.Matrix:
    if shape is None:
        raise UsageError("a matrix of arrays needs shape=(rows, columns)")
    rows, columns = map(index, shape)
    if max(abs(rows), abs(columns)) >= 2**63:
        raise SizeError(f"a matrix of {rows} x {columns} does not fit")
    data = stored(source[0])
    if len(source) == 3:
        places, make = (source[2], source[1]), _heddle.Matrix.from_csr
    elif len(source) == 2:
        places, make = source[1], _heddle.Matrix.from_triplets
    else:
        raise UsageError("arrays must be (data, indices, indptr) or (data, (row, col))")
    row, column = map(indices_of, places)
    if data.shape[:1] != column.shape:
        raise SizeError(f"data has the shape {data.shape}, but there are {column.size} columns")
    return make(entry_of(data), rows, columns, row, column, data)


def _of_object(source: Any) -> _heddle.Matrix:
    if isinstance(source, Assembled):
        return _of_arrays((source.data, source.indices, source.indptr), source.shape)
    if package_of(source) in ("cupy", "cupyx"):
        source = source.get()  # from CuPy to the host
    if not hasattr(source, "tocsr"):
        refuse_no_matrix(source)
        dense = stored(source, "A")
        if dense.ndim != 2:
            raise UsageError(f"a dense matrix has two dimensions, not {dense.ndim}")
        row, column = np.nonzero(dense)
        return _of_arrays((dense[row, column], (row, column)), dense.shape)
    blocks = getattr(source, "blocksize", (1, 1))
    if source.format == "bsr" and blocks in ((2, 2), (3, 3), (4, 4), (6, 6)):
        if source.dtype.kind != "c" or blocks == (3, 3):
            return _of_compressed(source, blocks)
    if source.format != "csr" or len(source.shape) != 2:  # otherwise the library checks the arrays
        check_places(source)
    return _of_compressed(source.tocsr(), (1, 1))


def _of_compressed(source: Any, blocks: tuple[int, int]) -> _heddle.Matrix:
    shape = source.shape[0] // blocks[0], source.shape[1] // blocks[1]
    try:
        return _of_arrays((source.data, source.indices, source.indptr), shape)
    except UsageError:
        # The library refuses a place that occurs twice; otherwise it keeps the caller's order.
        check_places(source)
        summed = source.copy()
        summed.sum_duplicates()
        if len(summed.indices) == len(source.indices):
            raise
        return _of_arrays((summed.data, summed.indices, summed.indptr), shape)
