"""The solve as a primitive of JAX: its rules, and the calls of XLA that reach Heddle.

``solve_p`` takes right-hand sides ``(k, N, ...)``, guesses of their shape and, unless the solver's
own count, entries ``(nnz, ...)``. It returns solutions, and for each a ``heddle_device_report`` in
numbers of 32 bits. Its rules make derivatives from solves, so all orders exist."""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
import weakref
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import ffi, lax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import _heddle
from ._errors import UnsupportedError, UsageError
from ._gpu import _default_stream
from ._jax_pattern import is_known
from ._mirror import adjoint_of
from ._right_hand_sides import good

# heddle_device_report: 18 numbers of 32 bits. The first is the outcome, the fifth and sixth are the
# iterations.
_report_numbers = 18
bytes_of_report = 4 * _report_numbers
_good = [_heddle.outcomes.index(name) for name in good]

# Solvers by the key that compiled functions know.
_solvers: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
_keys = itertools.count()
_gone = "the heddle.jax.Solver of this compiled function no longer exists: keep it"


def key_for(solver: Any) -> int:
    key = next(_keys)
    _solvers[key] = solver
    return key


def outcome_of(report: Any) -> Any:
    """The number of the outcome of each solve, in the order of ``_heddle.outcomes``."""
    return report[:, 0]


def iterations_of(report: Any) -> Any:
    return report[:, 4]


def apply_inverse(
    solver: Any, values: Any, b: Any, x0: Any, *, adjoint: bool = False, raises: bool = True
) -> Any:
    """A^-1 b, or that of A*, and the reports. ``values`` and ``x0`` may be None. ``raises``: a
    solve that did not converge raises on a CPU, and is NaN on a GPU; else its x is returned."""
    operands = (b, jnp.zeros_like(b) if x0 is None else x0, *([] if values is None else [values]))
    if all(map(is_known, (*operands, jnp.zeros(())))):  # nor is the call itself traced
        solver = _Reference(solver)  # JAX would keep the solver of each derivative
    return solve_p.bind(*operands, solver=solver, adjoint=adjoint, raises=raises)


class _Reference(weakref.ref[Any]):
    """A reference that JAX, too, can refer to weakly."""


def _living(solver: Any) -> Any:
    """The solver of a primitive's parameter, which is itself or a weak reference to it."""
    own = solver() if isinstance(solver, _Reference) else solver
    if own is None:
        raise UsageError(_gone)
    return own


def _keep_with(array: Any, solver: Any) -> None:
    """Keeps the solver as long as an array of derivatives that are not computed yet."""
    if not isinstance(array, jax.core.Tracer):
        weakref.finalize(array, _living, solver).atexit = False


solve_p = Primitive("heddle_solve")
solve_p.multiple_results = True
# XLA's call.
_call_p = Primitive("heddle_call")
_call_p.multiple_results = True


@solve_p.def_impl
def _solve_now(*operands: Any, solver: Any, adjoint: bool, raises: bool) -> Any:
    own = _living(solver)
    if own.on_gpu:
        x, report = _compiled(solver, adjoint, raises)(*operands)
        _keep_with(x, own)  # which may not be computed yet
        return [x, report]
    b = operands[0]
    if any(device.platform != "cpu" for device in b.devices()):
        raise UsageError(_elsewhere(own, "a GPU"))
    given, guess, *values = (np.asarray(one) for one in operands)
    x, report = np.array(guess), np.zeros((len(given), _report_numbers), np.int32)
    own.solve_on_host(values[0] if values else None, given, x, report, adjoint, raises)
    where = b.sharding if b.committed else None
    return [jax.device_put(x, where), jax.device_put(report, where)]


@functools.lru_cache
def _compiled(solver: Any, adjoint: bool, raises: bool) -> Any:
    return jax.jit(
        lambda *operands: solve_p.bind(*operands, solver=solver, adjoint=adjoint, raises=raises)
    )


@solve_p.def_abstract_eval
def _shapes(b: Any, *_: Any, **__: Any) -> Any:
    shape = b.shape[0], _report_numbers
    report = b.update(shape=shape, dtype=np.dtype(np.int32), weak_type=False)
    return [b.update(weak_type=False), report]


_call_p.def_abstract_eval(_shapes)


def _jvp(primals: Any, tangents: Any, *, adjoint: bool, **how: Any) -> Any:
    """dx = A^-1 (db - dA x)"""
    b, x0, *values = primals
    of_b, _, *of_values = tangents
    solver = _living(how["solver"])
    x, report = solve_p.bind(*primals, adjoint=adjoint, **how)
    rest = None if type(of_b) is ad.Zero else of_b
    for one in of_values:
        if type(one) is not ad.Zero:
            image = product(solver.mirror, one, x, adjoint)
            rest = -image if rest is None else rest - image
    if rest is None:
        of_x = _no_tangent(x)
    else:
        guess = jnp.zeros_like(x)
        of_x, _ = solve_p.bind(rest, guess, *values, adjoint=adjoint, **how)
        _keep_with(guess, solver)
    return [x, report], [of_x, _no_tangent(report)]


def _no_tangent(primal: Any) -> ad.Zero:
    return ad.Zero(jax.typeof(primal).to_tangent_aval())


def _transpose(cotangents: Any, b: Any, x0: Any, *values: Any, adjoint: bool, **how: Any) -> Any:
    """A^-T c is the conjugate of A^-* conj(c)."""
    of_x = cotangents[0]
    if type(of_x) is ad.Zero:
        return [ad.Zero(b.aval), None, *(None for _ in values)]
    given = of_x.conj()
    of_b, _ = solve_p.bind(given, jnp.zeros_like(given), *values, adjoint=not adjoint, **how)
    return [of_b.conj(), None, *(None for _ in values)]


def _batch(operands: Any, axes: Any, **how: Any) -> Any:
    """Further right-hand sides; with entries of their own, solves one after the other."""
    size = next(one.shape[axis] for one, axis in zip(operands, axes) if axis is not None)
    if any(axis is not None for axis in axes[2:]):
        operands = tuple(batching.bdim_at_front(*both, size) for both in zip(operands, axes))
        return lax.map(lambda one: tuple(solve_p.bind(*one, **how)), operands), (0, 0)
    b, x0 = (batching.bdim_at_front(*both, size) for both in zip(operands[:2], axes))
    k, *row = b.shape[1:]
    b, x0 = (one.reshape(size * k, *row) for one in (b, x0))
    x, report = solve_p.bind(b, x0, *operands[2:], **how)
    return [x.reshape(size, k, *row), report.reshape(size, k, _report_numbers)], (0, 0)


ad.primitive_jvps[solve_p] = _jvp
ad.primitive_transposes[solve_p] = _transpose
batching.primitive_batchers[solve_p] = _batch


def _call(b: Any, x0: Any, *values: Any, solver: Any, adjoint: bool, raises: bool) -> Any:
    own = _living(solver)
    if own.on_gpu and adjoint and values:
        values = (own.mirror.adjoint(values[0]),)
    x, report = _call_p.bind(b, x0, *values, solver=solver, adjoint=adjoint, raises=raises)
    if raises and own.on_gpu:
        outcome = outcome_of(report)
        fails = ~functools.reduce(jnp.logical_or, (outcome == one for one in _good))
        x = x + jnp.where(fails, np.nan, 0).astype(x.dtype).reshape(-1, *(1 for _ in x.shape[1:]))
    return [x, report]


mlir.register_lowering(solve_p, mlir.lower_fun(_call, multiple_results=True))


def _lower(ctx: Any, *operands: Any, solver: Any, adjoint: bool, raises: bool) -> Any:
    (platform,) = ctx.platforms or ctx.module_context.platforms
    own = _living(solver)
    if (platform != "cpu") != own.on_gpu:
        raise UsageError(_elsewhere(own, platform))
    if adjoint and own.on_gpu:
        own.prepare_adjoint()
    ctx.module_context.add_keepalive(solver)
    rule = ffi.ffi_lowering("heddle_solve", operand_output_aliases={1: 0})
    flags = {"adjoint": adjoint, "key": own.key, "raises": raises}
    return rule(ctx, *operands, **{name: np.int64(flag) for name, flag in flags.items()})


mlir.register_lowering(_call_p, _lower)


def _elsewhere(solver: Any, platform: str) -> str:
    device = "a GPU" if solver.on_gpu else "the CPU"
    return (
        f"the solver is on {device}, but JAX solves on {platform}: make it with "
        f"device={'cpu' if solver.on_gpu else 'cuda'!r}"
    )


def _called(arguments: Any, results: Any, attributes: Any, stream: int) -> None:
    """XLA's call: addresses and shapes. Attributes are in the order of their names."""
    adjoint, key, raises = attributes
    solver = _solvers.get(key)
    if solver is None:
        raise UsageError(_gone)
    (b, shape), _guess, *values = arguments
    (x, _), (report, shape_of_report) = results
    address = values[0][0] if values else None
    if solver.on_gpu:
        solver.enqueue(address, b, x, report, shape[0], bool(adjoint), stream or _default_stream)
        return
    dtype = solver.A.dtype
    given = None if address is None else _array(address, values[0][1], dtype)
    there = _array(b, shape, dtype), _array(x, shape, dtype)
    solver.solve_on_host(
        given, *there, _array(report, shape_of_report, np.int32), bool(adjoint), bool(raises)
    )


def _array(address: int, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array of NumPy over memory of XLA's."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size == 0:
        return np.empty(shape, dtype)
    return np.frombuffer((ctypes.c_char * size).from_address(address), dtype).reshape(shape)


for _platform, _handler in zip(("cpu", "CUDA"), _heddle.xla_handlers(_called)):
    ffi.register_ffi_target("heddle_solve", _handler, platform=_platform)


def product(mirror: Any, values: Any, x: Any, adjoint: bool) -> Any:
    """A x, or A* x, of ``(k, N, ...)``."""
    row, column = mirror.row, mirror.column
    if adjoint:
        values, row, column = adjoint_of(values, mirror.entry), column, row
    return jnp.zeros_like(x).at[:, row].add(_times(values, x[:, column], mirror.entry))


def _times(a: Any, x: Any, entry: str) -> Any:
    """Each entry a x, of ``(nnz, ...)`` and ``(k, nnz, ...)``."""
    if entry == "dual-quaternion":
        raise UnsupportedError("dual quaternions have no adjoint, and so no gradients")
    if entry == "quaternion":
        (w, p), (v, q) = ((one[..., :1], one[..., 1:]) for one in (a, x))
        of_w = w * v - (p * q).sum(-1, keepdims=True)
        return jnp.concatenate([of_w, w * q + v * p + jnp.cross(p, q)], -1)
    return (a * x[..., None, :]).sum(-1) if a.ndim == 3 else a * x
