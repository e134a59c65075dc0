"""Heddle: sparse linear systems with compound entries - complex numbers, quaternions, dual
quaternions, blocks - on CPUs and NVIDIA GPUs.

>>> import numpy as np
>>> import heddle
>>> A = heddle.generate("dirac", 1000)                      # quaternions
>>> b = np.ones((A.shape[0], 4))                            # rows of w, x, y, z
>>> heddle.solve(A, b).converged
True
"""

from ._configuration import show_config
from ._eigen import eigsh
from ._errors import (
    BusyError,
    DeviceError,
    Error,
    FileError,
    MissingFileError,
    NotConvergedError,
    OutOfMemoryError,
    SingularError,
    SizeError,
    UnsupportedError,
    UsageError,
)
from ._expansion import fold
from ._heddle import version as __version__
from ._matrix import Adjoint, Matrix, generate, read, write
from ._preconditioners import Preconditioner, preconditioner
from ._result import Result
from ._rigid_body import rigid_body_modes
from ._scipy import bicgstab, cg, gmres, lsmr, minres, solve
from ._solvers import Solver
from ._tune import Profile, tune

__all__ = [
    "Adjoint", "BusyError", "DeviceError", "Error", "FileError", "Matrix", "MissingFileError",
    "NotConvergedError", "OutOfMemoryError", "Preconditioner", "Profile", "Result", "SingularError",
    "SizeError", "Solver", "UnsupportedError", "UsageError", "bicgstab", "cg", "eigsh", "fold",
    "generate", "gmres", "lsmr", "minres", "preconditioner", "read", "rigid_body_modes", "show_config",
    "solve", "tune", "write"]  # fmt: skip
