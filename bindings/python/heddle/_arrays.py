"""The arrays that stand for entries and vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import SizeError, UnsupportedError, UsageError
from ._instead import refuse_no_array, refuse_no_numbers, refuse_no_object

_real: dict[str, np.dtype] = {"single": np.dtype(np.float32), "double": np.dtype(np.float64)}
_complex: dict[str, np.dtype] = {
    "single": np.dtype(np.complex64), "double": np.dtype(np.complex128)}  # fmt: skip
_over_complex = ("complex", "complex-block3")
# The shape of an entry, and of a row of a vector, in numbers.
_entry_shapes = {
    "real": (), "complex": (), "quaternion": (4,), "dual-quaternion": (8,), "block2": (2, 2),
    "block3": (3, 3), "block4": (4, 4), "block6": (6, 6), "complex-block3": (3, 3)}  # fmt: skip
_row_shapes = {
    "real": (), "complex": (), "quaternion": (4,), "dual-quaternion": (8,), "block2": (2,),
    "block3": (3,), "block4": (4,), "block6": (6,), "complex-block3": (3,)}  # fmt: skip


def dtype_of(entry: str, precision: str) -> np.dtype:
    """The type of the numbers of an entry."""
    return (_complex if entry in _over_complex else _real)[precision]


def plain(array: ArrayLike, name: str) -> NDArray[Any]:
    """The array in NumPy. Quaternions of the package numpy-quaternion become rows of w, x, y, z, by
    a view; so do those of SciPy's ``Rotation``, which has x, y, z, w. Raises ``UnsupportedError``
    for sparse matrices and masked numbers."""
    if hasattr(array, "as_quat"):
        return np.roll(array.as_quat(), 1, axis=-1)
    if type(array) is not np.ndarray:
        refuse_no_array(array, name)
    given = np.asarray(array)
    if given.dtype.isbuiltin == 2 and given.dtype.name == "quaternion":  # reading the name is slow
        return np.ascontiguousarray(given).view(np.float64).reshape(*given.shape, 4)
    return given


def numbers(array: ArrayLike, dtype: np.dtype, name: str) -> NDArray[Any]:
    """The array itself if it is contiguous and of that type; else a copy, if NumPy considers the
    conversion safe: integers become doubles, floats doubles, real numbers complex ones, never the
    reverse."""
    given = plain(array, name)
    if not np.can_cast(given.dtype, dtype, "safe"):
        refuse_no_numbers(array, given, name)
        raise UnsupportedError(
            f"{name} has dtype {given.dtype}, but the matrix has {dtype}: convert one of them"
        )
    return _in_place_or_copied(given, dtype)


def _in_place_or_copied(given: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """NumPy's ``require`` of contiguous arrays, in a tenth of the time if nothing is to be done."""
    if given.dtype == dtype and given.flags.c_contiguous and given.flags.aligned:
        return given
    return np.require(given, dtype, ["C", "A"])


def writable(array: Any, dtype: np.dtype, name: str) -> NDArray[Any]:
    """The array itself, or a view by DLPack of another package's array in the host's memory. Raises
    ``UnsupportedError`` unless it is contiguous, of that type, and writable."""
    given = array
    refuse_no_array(array, name)
    if not isinstance(array, np.ndarray) and hasattr(array, "__dlpack__"):
        try:
            given, same = np.asarray(array), np.from_dlpack(array)
            if given.ctypes.data != same.ctypes.data:  # a copy; NumPy 1's from_dlpack is read-only
                given = same
        except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
            pass  # it is refused below
    if not isinstance(given, np.ndarray) or given.dtype != dtype or not given.flags.carray:
        raise UnsupportedError(f"{name} is not a contiguous, writable array of {dtype}")
    return given


def forms(shape: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The shapes that a vector or entries of that shape may have: the shape itself; flat, if it has
    several dimensions, else a column of numbers."""
    return (shape, (math.prod(shape),)) if len(shape) > 1 else (shape, (*shape, 1))


def check_form(given: Any, shape: tuple[int, ...], name: str, advice: str = "") -> None:
    if given.shape not in forms(shape):
        allowed = " or ".join(map(str, forms(shape)))
        raise SizeError(f"{name} has the shape {tuple(given.shape)}, not {allowed}{advice}")


def entry_of(data: NDArray[Any]) -> str:
    """The entry that the shape of an array of entries indicates."""
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


def stored(data: ArrayLike, name: str = "data") -> NDArray[Any]:
    """Entries in a type that matrices hold."""
    given = plain(data, name)
    if given.dtype.kind in "bui" or given.dtype.char == "e":
        given = given.astype(np.float64)
    if given.dtype.char not in "fdFD":
        refuse_no_object(data, given, name)
        raise UnsupportedError(
            f"entries of {given.dtype} are not supported, only single and double precision: "
            f"convert {name}, as {name}.astype(numpy.float64) does"
        )
    return _in_place_or_copied(given, given.dtype.newbyteorder("="))


def indices_of(array: ArrayLike) -> NDArray[Any]:
    given = plain(array, "an array of indices")
    if given.size and given.dtype.kind not in "ui":
        raise UnsupportedError(f"indices are of {given.dtype}, not integers")
    dtype = np.int32 if given.dtype == np.int32 else np.int64
    if given.size and given.dtype.kind == "u" and given.max() > np.iinfo(np.int64).max:
        raise SizeError(f"index {given.max()} is too large for any matrix")
    return _in_place_or_copied(given, np.dtype(dtype))
