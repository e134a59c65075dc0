"""The motions of a rigid body, which elasticity nearly maps to zero."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import plain, stored
from ._errors import SizeError


def rigid_body_modes(points: ArrayLike) -> NDArray[Any]:
    """The motions of a rigid body with nodes at these points, as ``candidates`` of multigrid for
    elasticity: translations first, then infinitesimal rotations about the points' mean in the
    planes xy, yz and zx, scaled by the distance of the point that is furthest from it.

    Parameters
    ----------
    points
        Shape ``(n, d)``, d = 2 or 3: a point for each row of blocks.

    Returns an array of shape ``(k, n, d)``, k = 3 in the plane and 6 in space, in the precision of
    the points. Raises ``SizeError`` for another shape.

    >>> import numpy as np
    >>> import heddle
    >>> heddle.rigid_body_modes(np.array([[0.0, 0], [0, 2]]))[2]     # the rotation
    array([[ 1.,  0.],
           [-1.,  0.]])
    """
    given = stored(plain(points, "points"), "points")
    if given.ndim != 2 or given.shape[1] not in (2, 3) or given.dtype.kind == "c":
        raise SizeError(f"points of shape {given.shape}, {given.dtype}: not real ones of (n, 2), (n, 3)")
    n, d = given.shape
    modes = np.zeros((3 if d == 2 else 6, n, d), given.dtype)
    modes[range(d), :, range(d)] = 1
    away = given.astype(np.float64) - given.mean(axis=0, dtype=np.float64) if n else given
    largest = np.abs(away).max(initial=0)  # squares of large coordinates would overflow
    radius = largest * np.linalg.norm(away / largest, axis=1).max() if largest > 0 else 1
    for motion in range(d, len(modes)):
        start, end = motion - d, (motion - d + 1) % 3
        modes[motion, :, start] = -(away[:, end] / radius)
        modes[motion, :, end] = away[:, start] / radius
    return modes
