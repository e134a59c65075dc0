"""The library, the machine and the packages that take part, for reports of errors."""

from __future__ import annotations

import json
from typing import Any, Literal, overload

from . import _heddle
from ._errors import UsageError

# Packages that hand over arrays, matrices or solvers.
_packages = (
    "numpy", "scipy", "torch", "jax", "cupy", "cupy-cuda13x", "cupy-cuda12x", "warp-lang", "pyamg",
    "petsc4py")  # fmt: skip


@overload
def show_config(mode: Literal["stdout"] = ...) -> None: ...
@overload
def show_config(mode: Literal["dicts"]) -> dict[str, Any]: ...
def show_config(mode: str = "stdout") -> dict[str, Any] | None:
    """Prints what a report of an error should contain, as JSON: the versions of Heddle, Python and
    the packages that Heddle works with; the library's file; the processor, its threads and the
    instructions that loops were compiled for; GPUs and NVIDIA's libraries, or why there are none;
    folders of kernels and profiles; and variables of the environment that Heddle reads. Like
    ``numpy.show_config`` it returns this instead if ``mode`` is ``"dicts"``.

    >>> import heddle
    >>> heddle.show_config("dicts")["version"] == heddle.__version__
    True
    """
    if mode not in ("stdout", "dicts"):
        raise UsageError(f"mode={mode!r}: there are stdout and dicts")
    import platform  # importing these is slow
    from importlib import metadata

    packages = {}
    for name in _packages:
        try:
            packages[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    shown: dict[str, Any] = {
        **json.loads(_heddle.configuration()),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": packages,
    }
    if mode == "dicts":
        return shown
    print(json.dumps(shown, indent=2))
    return None
