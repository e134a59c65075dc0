"""The tiles of real numbers by which entries act on the components of a vector."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import _entry_shapes

_complex = np.array([[[1, 0], [0, 1]], [[0, -1], [1, 0]]])
_quaternion = np.array([
    np.eye(4),
    [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 0, -1], [0, 0, 1, 0]],
    [[0, 0, -1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, -1, 0, 0]],
    [[0, 0, 0, -1], [0, 0, -1, 0], [0, 1, 0, 0], [1, 0, 0, 0]]])  # fmt: skip


def tiles_of(entry: str) -> NDArray[Any]:
    """The tile of each real component of an entry, shape ``(components, R, R)``."""
    if entry == "complex":
        return _complex
    if entry == "quaternion":
        return _quaternion
    if entry == "dual-quaternion":  # the dual part of the product is r s' + d s
        return np.concatenate([np.kron(part, _quaternion) for part in (np.eye(2), [[0, 0], [1, 0]])])
    size = _entry_shapes[entry][0] if _entry_shapes[entry] else 1
    places = np.eye(size * size).reshape(-1, size, size)
    if entry == "complex-block3":
        return np.array([np.kron(place, tile) for place in places for tile in _complex])
    return places


def blocks_of(entry: str, data: NDArray[Any]) -> NDArray[Any]:
    """Entries as blocks of the numbers of their rows, shape ``(nnz, R, R)``: tiles of quaternions,
    else the entries themselves."""
    if "quaternion" in entry:
        return np.tensordot(data, tiles_of(entry).astype(data.dtype), 1)
    return data.copy() if data.ndim > 1 else data.reshape(-1, 1, 1).copy()
