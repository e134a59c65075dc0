"""Matrices of compound entries."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _heddle, _pictures
from ._arithmetic import Arithmetic
from ._arrays import _entry_shapes, _row_shapes, check_form, forms, numbers
from ._description import Described
from ._edits import edited_triplets
from ._errors import UnsupportedError, UsageError
from ._gpu import copy_there, device_of, empty_like, gpu_array, on_gpu, one_name, to_host
from ._in_scipy import rows_of, values_at_places_of
from ._settings import Taken

_storage = Taken("Matrix.operator", "storage")


class Matrix(Described, Arithmetic):
    """A sparse matrix of compound entries, in compressed sparse rows.

    Parameters
    ----------
    source
        One of

        - a SciPy sparse matrix or array: CSR, CSC, COO, or BSR, whose blocks of 2x2, 3x3, 4x4 and
          6x6 real or 3x3 complex numbers become entries (other blocks are taken apart);
        - a dense array of two dimensions, whose zeros are left out;
        - ``(data, indices, indptr)``, compressed sparse rows, with ``shape``;
        - ``(data, (row, col))``, triplets in any order, with ``shape``; those for the same place
          are added.

        The shape of ``data`` determines the entry: ``(nnz,)`` real or complex numbers, ``(nnz, 4)``
        quaternions **w, x, y, z**, ``(nnz, 8)`` dual quaternions (w, x, y, z of the standard part,
        then of the dual part), ``(nnz, R, R)`` blocks. float32 and complex64 make a matrix in
        single precision, all other types one in double precision.
    shape
        Rows and columns, counted in entries.
    entry
        The entry that you expect; the source determines it, and a different one raises
        ``UsageError``.

    The arrays are copied; CuPy's sparse matrices are copied through the host. ``A @ x`` takes x of
    shape ``(columns, ...)``, one row per vector entry: ``(n,)`` numbers, ``(n, 4)`` quaternions,
    ``(n, 3)`` for 3x3 blocks; or all of it flat. The result has the same form. ``A @ X`` multiplies
    k vectors, the columns of X: ``(n, k)`` numbers, ``(n, k, 4)`` quaternions, ``(n, k, 3)``, or
    ``(4 n, k)``, ``(3 n, k)`` with each column flat. An array of ``(n, 4)`` is one vector of
    quaternions, never four columns. If x is in a GPU's memory, where it must be one vector,
    contiguous and of the matrix's type, so is the result.

    >>> import numpy as np
    >>> import heddle
    >>> i = np.array([[0, 1, 0, 0]])                       # the quaternion i
    >>> A = heddle.Matrix((i, ([0], [0])), shape=(1, 1))
    >>> A
    <heddle.Matrix: 1 x 1, 1 quaternion entries in double precision>
    >>> A @ np.array([[0.0, 0, 1, 0]])                     # i j = k
    array([[0., 0., 0., 1.]])
    """

    # NumPy then leaves `array @ matrix` to this class, which does not define it.
    __array_ufunc__ = None

    def __init__(
        self, source: Any, shape: tuple[int, int] | None = None, *, entry: str | None = None
    ) -> None:
        super().__init__(source, shape, entry=entry)
        self._operators: dict[Any, _heddle.Operator] = {}
        self._generation = 0  # grows with each update of the entries

    def diagonal(self) -> NDArray[Any]:
        """A copy of the diagonal, an entry for each row, zero where there is none: shape
        ``(min(rows, columns), ...)``, as ``A.data`` has.

        >>> import numpy as np
        >>> import heddle
        >>> heddle.Matrix(np.array([[0.0, 1], [2, 3]])).diagonal()
        array([0., 3.])
        """
        data, row = self.data, rows_of(self)
        found = np.zeros((min(self.shape), *data.shape[1:]), data.dtype)
        there = row == self.indices
        found[row[there]] = data[there]
        return found

    def update_values(self, data: Any) -> None:
        """Sets new entries for the same places, row by row in the order of ``A.data``, in its shape
        or flat; CSC and triplets have another order. Or takes those of a ``Matrix`` or SciPy matrix
        of the same pattern, in whatever order: another pattern raises ``UsageError``. Products and
        solvers of this matrix take the new entries from their next call on, and allocate nothing
        for them. No other thread may multiply or solve meanwhile.

        An array of CuPy, PyTorch, JAX or Warp in a GPU's memory, contiguous and of the matrix's
        type, reaches operators on that GPU without passing through the host. A copy of it stays in
        that memory until the host needs the entries: for ``A.data``, and for storage elsewhere.

        >>> import numpy as np
        >>> import heddle
        >>> A = heddle.Matrix(np.diag([1.0, 2.0]))
        >>> solver = heddle.Solver(A)
        >>> A.update_values([4.0, 4.0])
        >>> solver.solve([1.0, 1.0]).x
        array([0.25, 0.25])
        """
        shape = self.nnz, *_entry_shapes[self._entry]
        if hasattr(data, "tocsr"):
            data = values_at_places_of(self, data)
        with self._lock:
            elsewhere, newer = list(self._operators.values()), None
            if on_gpu(data):
                place = one_name(device_of(data))
                there = [own for (device, *_), own in self._operators.items() if device == place]
                if there:
                    newer = copy_there(data)
                    given = [gpu_array(newer, own, self.dtype, "data") for own in there]
                    check_form(given[0], shape, "data")
                    # Set before the first update that may fail: the previous entries must not come
                    # back.
                    self._newer = newer
                    self._generation += 1
                    for own, entries in zip(there, given):
                        own.update_values_at(entries.place, self.nnz)
                    elsewhere = [own for own in elsewhere if own not in there]
            if newer is None or elsewhere:
                values = numbers(to_host(data) if on_gpu(data) else data, self.dtype, "data")
                check_form(values, shape, "data")
                self._stored.update_values(values)
                self._newer = None
                self._generation += 1
                for own in elsewhere:
                    own.update_values(values)

    def edited(
        self,
        *,
        set: tuple[ArrayLike, tuple[ArrayLike, ArrayLike]] | None = None,
        add: tuple[ArrayLike, tuple[ArrayLike, ArrayLike]] | None = None,
        remove: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> Matrix:
        """Another matrix of this size, with entries set, added and removed; this one is unchanged,
        and so are its solvers. All is made anew, in time and memory of the whole matrix.

        Parameters
        ----------
        set, add
            ``(data, (row, col))``: the entry there becomes ``data``, or ``data`` is added to it,
            whether there was one or not. ``data`` has the shape of ``A.data``, with a row for each
            place.
        remove
            ``(row, col)``: the entry there, which must exist, is removed.

        A place may be named only once among all. Raises ``UsageError`` for one that is named twice
        or has no entry to remove, ``SizeError`` for one beyond the matrix.

        >>> import numpy as np
        >>> import heddle
        >>> A = heddle.Matrix(np.diag([1.0, 2.0]))
        >>> B = A.edited(add=([1.0], ([0], [0])), set=([5.0], ([0], [1])), remove=([1], [1]))
        >>> B.data, B.indices, A.nnz
        (array([2., 5.]), array([0, 1], dtype=int32), 2)
        """
        return Matrix(edited_triplets(self, set, add, remove), self.shape)

    def operator(self, device: str = "cpu", **settings: Any) -> _heddle.Operator:
        """The matrix stored as the settings say. The operator is made once for each device, number
        of threads and plan, and kept as long as the matrix; a tree, which takes no new values, is
        not kept."""
        return self._stored_as(_storage.texts({"device": device, **settings}))

    def _stored_as(self, texts: dict[str, str]) -> _heddle.Operator:
        rest = texts.copy()
        device = one_name(rest.pop("device", "cpu"))
        key = device, *sorted(rest.items())
        made = self._operators.get(key)
        if made is None:
            with self._lock:
                made = self._operators.get(key)
                if made is None:
                    if device != "cpu":  # the default
                        texts = {**rest, "device": device}
                    made = _heddle.Operator.of_matrix(self._own, _heddle.Settings(texts))
                    if "storage" not in rest:
                        self._operators[key] = made
        return made

    @property
    def plan(self) -> str:
        """The plan under which products ``A @ x`` run; see docs/reference/plans.md."""
        return self._stored_as({}).plan

    @property
    def H(self) -> Adjoint:
        """The adjoint A*, for products ``A.H @ y``."""
        return Adjoint(self)

    def aslinearoperator(self) -> Any:
        """A ``LinearOperator`` of SciPy over the numbers of A's vectors, which multiplies with the
        values that A has at the time. It has ``rmatvec``, except for dual quaternions, which have
        no adjoint.

        >>> import numpy as np
        >>> import scipy.sparse.linalg as spla
        >>> import heddle
        >>> A = heddle.Matrix(np.diag([1.0, 2.0, 3.0, 4.0]))
        >>> spla.eigsh(A.aslinearoperator(), k=1, return_eigenvectors=False).round(9)
        array([4.])
        """
        from scipy.sparse.linalg import LinearOperator

        def times(own: Any) -> Any:
            return lambda x: own @ np.asarray(x).astype(self.dtype, casting="same_kind", copy=False)

        forward = times(self)
        back = None if self.entry == "dual-quaternion" else times(self.H)
        return LinearOperator(self._sizes(), forward, back, forward, self.dtype, back)

    def __matmul__(self, x: ArrayLike) -> NDArray[Any]:
        return _product(self._stored_as({"device": device_of(x)} if on_gpu(x) else {}), x, self)

    def spy(self, ax: Any = None, *, pixels: int = 400) -> Any:
        """Draws the density of entries, in matplotlib's axes or new ones, which it returns. The
        picture has at most ``pixels`` a side."""
        return _pictures.spy(self, ax, pixels)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return (
            f"<heddle.Matrix: {rows} x {columns}, {self.nnz} {self._entry} entries in "
            f"{self._precision} precision>"
        )


class Adjoint:
    """A*, which multiplies with the values that A has at the time.

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
        self._stored_as({})

    def operator(self, device: str = "cpu", **settings: Any) -> _heddle.Operator:
        """The adjoint of ``A.operator``, whose storage it shares."""
        return self._stored_as(_storage.texts({"device": device, **settings}))

    def _stored_as(self, texts: dict[str, str]) -> _heddle.Operator:
        stored = self.H._stored_as(texts)
        if "storage" in texts:  # a tree is made again
            return stored.adjoint()
        if stored not in self._operators:
            self._operators[stored] = stored.adjoint()
        return self._operators[stored]

    @property
    def shape(self) -> tuple[int, int]:
        return self.H.shape[::-1]

    def __matmul__(self, x: ArrayLike) -> NDArray[Any]:
        return _product(self._stored_as({"device": device_of(x)} if on_gpu(x) else {}), x, self.H)


def _product(operator: _heddle.Operator, x: Any, matrix: Matrix) -> Any:
    if isinstance(x, (Matrix, Adjoint)):
        raise UnsupportedError(
            "matrices are not multiplied here: A @ (B @ x) multiplies by both, and A.tocsr() is a "
            "matrix of SciPy, which multiplies matrices"
        )
    row = _row_shapes[matrix.entry]
    shape = operator.columns, *row
    gpu = on_gpu(x)
    dtype = matrix.dtype
    given: Any = gpu_array(x, operator, dtype, "x") if gpu else numbers(x, dtype, "x")
    if not gpu and given.shape not in forms(shape) and given.ndim > 1:
        return _product_of_columns(operator, given, dtype, row)
    check_form(given, shape, "x")
    image = forms((operator.rows, *row))[forms(shape).index(given.shape)]
    if gpu:
        y = empty_like(x, image)
        operator.apply_at(given.place, gpu_array(y, operator, dtype, "A x").place)
    else:
        y = np.empty(image, dtype)
        operator.apply(given, y)
    return y


def _product_of_columns(
    operator: _heddle.Operator, X: NDArray[Any], dtype: np.dtype, row: tuple[int, ...]
) -> NDArray[Any]:
    """Products with the columns of X: ``(columns, k, ...)``, or ``(numbers, k)``, each flat."""
    one = X.shape[:1] + X.shape[2:]
    shape = operator.columns, *row
    if one not in (shape, (math.prod(shape),)):
        columns = f"({', '.join(map(str, (shape[0], 'k', *row)))})"
        check_form(X, shape, "x", f", or {columns} for k columns")
    image = operator.rows, *row
    image = image if one == shape else (math.prod(image),)
    y, Y = np.empty(image, dtype), np.empty((image[0], X.shape[1], *image[1:]), dtype)
    for j in range(X.shape[1]):
        operator.apply(np.ascontiguousarray(X[:, j]), y)
        Y[:, j] = y
    return Y


def read(
    path: str | os.PathLike[str], entry: str | None = None, *, precision: str = "double"
) -> Matrix:
    """Reads a Matrix Market (``.mtx``, ``.mtx.gz``) or SciPy ``.npz`` file into a matrix of
    entries: real or complex ones, like the file's numbers, unless you name another. See
    docs/reference/file-formats.md for how files hold compound entries. Raises ``FileError``.

    >>> import os, tempfile
    >>> import heddle
    >>> path = os.path.join(tempfile.mkdtemp(), "dirac.npz")
    >>> heddle.write(path, heddle.generate("dirac", 100))
    >>> heddle.read(path, "quaternion")
    <heddle.Matrix: 92 x 92, 632 quaternion entries in double precision>
    """
    return Matrix(_heddle.Matrix.read(os.fspath(path), entry, precision))


def write(path: str | os.PathLike[str], A: Matrix) -> None:
    """Writes a matrix in double precision; the end of the name selects the format: ``.npz``,
    ``.mtx.gz`` or ``.mtx``. Raises ``FileError``."""
    A._own.write(os.fspath(path))


def generate(problem: str, size: int = 100000, *, seed: int = 1) -> Matrix:
    """A model problem of docs/reference/problems.md: ``poisson`` (real), ``elasticity`` (3x3 blocks),
    ``helmholtz`` (complex) or ``dirac`` (quaternions); ``size`` is the approximate number of rows.
    The same size and seed make the same matrix.

    >>> import heddle
    >>> heddle.generate("elasticity", 1000).entry
    'block3'
    """
    return Matrix(_heddle.Matrix.generate(problem, size, seed))
