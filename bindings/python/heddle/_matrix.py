"""Matrices of compound entries, and the arrays that stand for their vectors."""

from __future__ import annotations

import math
import os
import threading
from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _heddle, _pictures
from ._errors import SizeError, UnsupportedError, UsageError
from ._gpu import device_of, empty_like, gpu_array, on_gpu, one_name, package_of

_real = {"single": np.dtype(np.float32), "double": np.dtype(np.float64)}
_complex = {"single": np.dtype(np.complex64), "double": np.dtype(np.complex128)}
_over_complex = ("complex", "complex-block3")
# The shape of an entry, and of a row of a vector, in numbers.
_entry_shapes = {
    "real": (), "complex": (), "quaternion": (4,), "dual-quaternion": (8,), "block2": (2, 2),
    "block3": (3, 3), "block4": (4, 4), "block6": (6, 6), "complex-block3": (3, 3)}  # fmt: skip
_row_shapes = {
    "real": (), "complex": (), "quaternion": (4,), "dual-quaternion": (8,), "block2": (2,),
    "block3": (3,), "block4": (4,), "block6": (6,), "complex-block3": (3,)}  # fmt: skip


def dtype_of(entry: str, precision: str) -> np.dtype:
    """Of the numbers of an entry."""
    return (_complex if entry in _over_complex else _real)[precision]


def _plain(array: ArrayLike) -> NDArray[Any]:
    """Quaternions of the package numpy-quaternion as rows of w, x, y, z, by a view."""
    given = np.asarray(array)
    if given.dtype.name == "quaternion":
        return np.ascontiguousarray(given).view(np.float64).reshape(*given.shape, 4)
    return given


def numbers(array: ArrayLike, dtype: np.dtype, name: str) -> NDArray[Any]:
    """The array itself where it is contiguous and of that type; else a copy, where NumPy takes the
    conversion for safe: integers become doubles, floats doubles, real numbers complex ones, never
    the reverse."""
    given = _plain(array)
    if given.dtype == dtype and given.flags.c_contiguous and given.flags.aligned:
        return given
    if not np.can_cast(given.dtype, dtype, "safe"):
        raise UnsupportedError(
            f"{name} is of {given.dtype}, and the matrix of {dtype}: convert one of them"
        )
    return np.require(given, dtype, ["C", "A"])


def forms(shape: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The shapes that a vector or the entries of that shape may have: this one, all of it flat, and
    a column of numbers."""
    return (shape, (math.prod(shape),)) if len(shape) > 1 else (shape, (*shape, 1))


def check_form(given: Any, shape: tuple[int, ...], name: str) -> None:
    if given.shape not in forms(shape):
        allowed = " or ".join(map(str, forms(shape)))
        raise SizeError(f"{name} has the shape {given.shape}, not {allowed}")


def _entry_of(data: NDArray[Any]) -> str:
    """What the shape of an array of entries says."""
    shape, is_complex = data.shape[1:], data.dtype.kind == "c"
    for entry, own in _entry_shapes.items():
        if own == shape and (entry in _over_complex) == is_complex:
            return entry
    kind = "complex" if is_complex else "real"
    raise UsageError(
        f"no entry has the shape {shape} of {kind} numbers; there are: () real and complex, (4,) "
        "quaternion, (8,) dual-quaternion, (2, 2), (3, 3), (4, 4), (6, 6) blocks, (3, 3) of "
        "complex numbers"
    )


def _stored(data: ArrayLike) -> NDArray[Any]:
    """Entries in a type that matrices hold."""
    given = _plain(data)
    if given.dtype.kind in "bui":
        given = given.astype(np.float64)
    if given.dtype.char not in "fdFD":
        raise UnsupportedError(f"entries of {given.dtype}; there are single and double precision")
    return np.require(given, given.dtype.newbyteorder("="), ["C", "A"])


def _indices(array: ArrayLike) -> NDArray[Any]:
    given = np.asarray(array)
    if given.size and given.dtype.kind not in "ui":
        raise UnsupportedError(f"indices are of {given.dtype}, not integers")
    dtype = np.int32 if given.dtype == np.int32 else np.int64
    return np.require(given, dtype, ["C", "A"])


class Matrix:
    """A sparse matrix of compound entries, in compressed sparse rows.

    Parameters
    ----------
    source
        One of

        - a SciPy sparse matrix or array: CSR, CSC, COO, or BSR, whose blocks of 2x2, 3x3, 4x4 and
          6x6 real or 3x3 complex numbers become entries (other blocks are taken apart);
        - a dense array of two dimensions, whose zeros are left out;
        - ``(data, indices, indptr)``, compressed sparse rows, with ``shape``;
        - ``(data, (row, col))``, triplets in any order, with ``shape``; those of one place are
          added.

        The shape of ``data`` tells the entry: ``(nnz,)`` real or complex numbers, ``(nnz, 4)``
        quaternions **w, x, y, z**, ``(nnz, 8)`` dual quaternions (w, x, y, z of the standard part,
        then of the dual part), ``(nnz, R, R)`` blocks. Floats and complex64 make a matrix in single
        precision, all else one in double precision.
    shape
        Rows and columns, counted in entries.
    entry
        The entry that you expect; the source tells it, and another raises ``UsageError``.

    The arrays are copied; CuPy's sparse matrices come by way of the host. ``A @ x`` takes x of
    shape ``(columns, ...)``, a row a vector entry: ``(n,)`` numbers, ``(n, 4)`` quaternions,
    ``(n, 3)`` for 3x3 blocks; or all of it flat. The result has the same form. Of an x in a GPU's
    memory, which is contiguous and of the matrix's type, so is the result.

    >>> import numpy as np
    >>> import heddle
    >>> i = np.array([[0, 1, 0, 0]])                       # the quaternion i
    >>> A = heddle.Matrix((i, ([0], [0])), shape=(1, 1))
    >>> A
    <heddle.Matrix: 1 x 1, 1 quaternion entries in double precision>
    >>> A @ np.array([[0.0, 0, 1, 0]])                     # i j = k
    array([[0., 0., 0., 1.]])
    """

    # NumPy leaves `array @ matrix` to us, who do not have it.
    __array_ufunc__ = None

    def __init__(
        self,
        source: Any,
        shape: tuple[int, int] | None = None,
        *,
        entry: str | None = None,
    ) -> None:
        if isinstance(source, _heddle.Matrix):
            self._own = source
        elif isinstance(source, tuple):
            self._own = _of_arrays(source, shape)
        else:
            self._own = _of_object(source)
        self._operators: dict[Any, _heddle.Operator] = {}
        # Held while operators are made and given new values: none misses them.
        self._lock = threading.Lock()
        self._entry, self._precision = self._own.entry, self._own.precision
        if entry is not None and entry != self._entry:
            raise UsageError(f"the entries are {self._entry}, not {entry}")

    entry = property(lambda self: self._entry, doc="``'real'``, ``'quaternion'``, ``'block3'``...")
    precision = property(lambda self: self._precision, doc="``'single'`` or ``'double'``.")

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, counted in entries."""
        return self._own.shape

    @property
    def dtype(self) -> np.dtype:
        """Of the numbers that make an entry."""
        return dtype_of(self._entry, self._precision)

    @property
    def nnz(self) -> int:
        """Entries."""
        return len(self.indices)

    @property
    def indptr(self) -> NDArray[np.int64]:
        """Row offsets; a view that cannot be written to."""
        return self._own.arrays()[0]

    @property
    def indices(self) -> NDArray[np.int32]:
        """The column of each entry; a view that cannot be written to."""
        return self._own.arrays()[1]

    @property
    def data(self) -> NDArray[Any]:
        """The entries, shape ``(nnz, ...)``; a view that cannot be written to, see
        ``update_values``."""
        return self._own.arrays()[2].reshape((-1, *_entry_shapes[self._entry]))

    def info(self) -> dict[str, Any]:
        """Features of the matrix: lengths of rows, bandwidth, symmetry.

        >>> import heddle
        >>> heddle.generate("poisson", 1000).info()["symmetric_pattern"]
        True
        """
        return self._own.info()

    def update_values(self, data: ArrayLike) -> None:
        """New entries for the same places, row by row in the order of ``A.data``, in its shape or
        flat. CSC and triplets have another order. Products and solvers of this matrix take them
        from their next call on, and allocate nothing for it. No other thread may multiply or solve
        meanwhile.

        >>> import numpy as np
        >>> import heddle
        >>> A = heddle.Matrix(np.diag([1.0, 2.0]))
        >>> solver = heddle.Solver(A)
        >>> A.update_values([4.0, 4.0])
        >>> solver.solve([1.0, 1.0]).x
        array([0.25, 0.25])
        """
        if on_gpu(data):
            raise UnsupportedError("data lies in a GPU's memory: copy it to the host first")
        values = numbers(data, self.dtype, "data")
        check_form(values, (self.nnz, *_entry_shapes[self._entry]), "data")
        with self._lock:
            self._own.update_values(values)
            for operator in self._operators.values():
                operator.update_values(values)

    def operator(
        self, device: str = "cpu", threads: int = 0, stream: int = 0, plan: str | None = None
    ) -> _heddle.Operator:
        """The matrix in the storage of a plan. It is made once for each device, number of threads,
        stream and plan, and kept as long as the matrix."""
        device = one_name(device)
        key = device, threads, stream, plan
        made = self._operators.get(key)
        if made is None:
            with self._lock:
                made = self._operators.get(key)
                if made is None:
                    made = _heddle.Operator.of_matrix(self._own, device, threads, stream, plan)
                    self._operators[key] = made
        return made

    @property
    def plan(self) -> str:
        """The plan under which products ``A @ x`` run, see docs/plans.md."""
        return self.operator().plan

    @property
    def H(self) -> Adjoint:
        """The adjoint A*, for products ``A.H @ y``."""
        return Adjoint(self)

    def __matmul__(self, x: ArrayLike) -> NDArray[Any]:
        return _product(self.operator(device_of(x) if on_gpu(x) else "cpu"), x, self)

    def spy(self, ax: Any = None, *, pixels: int = 400) -> Any:
        """Draws how many entries lie where, in matplotlib's axes or new ones, which it returns. At
        most ``pixels`` a side."""
        return _pictures.spy(self, ax, pixels)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return (
            f"<heddle.Matrix: {rows} x {columns}, {self.nnz} {self._entry} entries in "
            f"{self._precision} precision>"
        )


class Adjoint:
    """A*, of the values that A has whenever it multiplies.

    >>> import numpy as np
    >>> import heddle
    >>> A = heddle.Matrix(np.array([[1j, 0], [2, 1]]))
    >>> A.H @ np.array([1.0, 0])
    array([0.-1.j, 0.+0.j])
    """

    __array_ufunc__ = None

    def __init__(self, matrix: Matrix) -> None:
        self.H = matrix
        self._operators: dict[Any, _heddle.Operator] = {}
        self.operator()

    def operator(self, device: str = "cpu", threads: int = 0) -> _heddle.Operator:
        """The adjoint of ``A.operator``, which it shares."""
        key = one_name(device), threads
        if key not in self._operators:
            self._operators[key] = self.H.operator(device, threads).adjoint()
        return self._operators[key]

    @property
    def shape(self) -> tuple[int, int]:
        return self.H.shape[::-1]

    def __matmul__(self, x: ArrayLike) -> NDArray[Any]:
        return _product(self.operator(device_of(x) if on_gpu(x) else "cpu"), x, self.H)


def _product(operator: _heddle.Operator, x: Any, matrix: Matrix) -> Any:
    row = _row_shapes[matrix.entry]
    shape = operator.columns, *row
    gpu = on_gpu(x)
    given = gpu_array(x, operator, matrix.dtype, "x") if gpu else numbers(x, matrix.dtype, "x")
    check_form(given, shape, "x")
    image = forms((operator.rows, *row))[forms(shape).index(given.shape)]
    if gpu:
        y = empty_like(x, image)
        operator.apply_at(given.place, gpu_array(y, operator, matrix.dtype, "A x").place)
    else:
        y = np.empty(image, matrix.dtype)
        operator.apply(given, y)
    return y


def _of_arrays(source: tuple, shape: tuple[int, int] | None) -> _heddle.Matrix:
    if shape is None:
        raise UsageError("a matrix of arrays needs shape=(rows, columns)")
    rows, columns = map(index, shape)
    if max(abs(rows), abs(columns)) >= 2**63:
        raise SizeError(f"a matrix of {rows} x {columns} does not fit")
    data = _stored(source[0])
    if len(source) == 3:
        places, make = (source[2], source[1]), _heddle.Matrix.from_csr
    elif len(source) == 2:
        places, make = source[1], _heddle.Matrix.from_triplets
    else:
        raise UsageError("arrays are (data, indices, indptr) or (data, (row, col))")
    row, column = map(_indices, places)
    if data.shape[:1] != column.shape:
        raise SizeError(f"data has the shape {data.shape}, and there are {column.size} columns")
    return make(_entry_of(data), rows, columns, row, column, data)


def _of_object(source: Any) -> _heddle.Matrix:
    if package_of(source) in ("cupy", "cupyx"):
        source = source.get()  # CuPy's, to the host
    if not hasattr(source, "tocsr"):
        dense = _stored(source)
        if dense.ndim != 2:
            raise UsageError(f"a dense matrix has two dimensions, not {dense.ndim}")
        row, column = np.nonzero(dense)
        return _of_arrays((dense[row, column], (row, column)), dense.shape)
    blocks = getattr(source, "blocksize", (1, 1))
    if source.format == "bsr" and blocks in ((2, 2), (3, 3), (4, 4), (6, 6)):
        if source.dtype.kind != "c" or blocks == (3, 3):
            return _of_compressed(source, blocks)
    return _of_compressed(source.tocsr(), (1, 1))


def _of_compressed(source: Any, blocks: tuple[int, int]) -> _heddle.Matrix:
    shape = source.shape[0] // blocks[0], source.shape[1] // blocks[1]
    try:
        return _of_arrays((source.data, source.indices, source.indptr), shape)
    except UsageError:
        # The library refuses a place that is named twice, and else keeps the caller's order.
        summed = source.copy()
        summed.sum_duplicates()
        if len(summed.indices) == len(source.indices):
            raise
        return _of_arrays((summed.data, summed.indices, summed.indptr), shape)


def read(
    path: str | os.PathLike[str], entry: str = "real", *, precision: str = "double"
) -> Matrix:
    """Reads a Matrix Market (``.mtx``, ``.mtx.gz``) or SciPy ``.npz`` file into a matrix of
    entries: see docs/file-formats.md for how files hold compound entries. Raises ``FileError``.

    >>> import os, tempfile
    >>> import heddle
    >>> path = os.path.join(tempfile.mkdtemp(), "dirac.npz")
    >>> heddle.write(path, heddle.generate("dirac", 100))
    >>> heddle.read(path, "quaternion")
    <heddle.Matrix: 92 x 92, 632 quaternion entries in double precision>
    """
    return Matrix(_heddle.Matrix.read(os.fspath(path), entry, precision))


def write(path: str | os.PathLike[str], A: Matrix) -> None:
    """Writes a matrix in double precision; the end of the name tells the format: ``.npz``,
    ``.mtx.gz`` or ``.mtx``. Raises ``FileError``."""
    A._own.write(os.fspath(path))


def generate(problem: str, size: int = 100000, *, seed: int = 1) -> Matrix:
    """A model problem of docs/problems.md: ``poisson`` (real), ``elasticity`` (3x3 blocks),
    ``helmholtz`` (complex) or ``dirac`` (quaternions); ``size`` is the number of rows wished for.
    The same size and seed make the same matrix.

    >>> import heddle
    >>> heddle.generate("elasticity", 1000).entry
    'block3'
    """
    return Matrix(_heddle.Matrix.generate(problem, size, seed))
