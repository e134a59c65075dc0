"""The exceptions of heddle: one for each kind of error of the library, with its one-line message."""

import errno
import os
from typing import Any

from . import _heddle


class Error(Exception):
    """An error found before a solve begins, in one line. ``kind`` names its kind: ``"usage"``,
    ``"no device"``, ..."""

    kind = "internal"


class UsageError(Error, ValueError):
    """An argument, or a combination of them, without a meaning."""


class FileError(Error, OSError):
    """A file that cannot be opened, read or written, or that is malformed."""


class MissingFileError(FileError, FileNotFoundError):
    """A file that is not there."""


class SizeError(Error, ValueError):
    """Arrays that do not match in size or precision."""


class UnsupportedError(Error, TypeError):
    """An entry or operator that a method cannot take."""


class SingularError(Error, ArithmeticError):
    """A preconditioner that cannot be made; the message names a row."""


class DeviceError(Error, RuntimeError):
    """A GPU, its driver or its compiler is missing."""


class OutOfMemoryError(Error, MemoryError):
    """A layout or an array that does not fit."""


class BusyError(Error, RuntimeError):
    """The solver is in use by another call."""


class NotConvergedError(Error, RuntimeError):
    """A result that is not as accurate as it was asked for; what there is of it are attributes. Those
    of ``heddle.eigsh`` have ``eigenvalues`` and ``eigenvectors`` of the last iteration, in its form.
    """

    kind = "not converged"
    eigenvalues: Any
    eigenvectors: Any


_classes = {
    "usage": UsageError,
    "bad plan": UsageError,
    "not finite": UsageError,
    "malformed file": FileError,
    "io": FileError,
    "size mismatch": SizeError,
    "out of range": SizeError,
    "singular": SingularError,
    "unsupported": UnsupportedError,
    "no device": DeviceError,
    "memory": OutOfMemoryError,
    "busy": BusyError,
}


def of_status(status: int, message: str) -> Error:
    kind = _heddle.status_name(status)
    is_missing = kind == "io" and os.strerror(errno.ENOENT) in message
    error = MissingFileError(message) if is_missing else _classes.get(kind, Error)(message)
    error.kind = kind
    return error
