"""Pictures of matrices and histories by matplotlib, and of results as HTML for notebooks."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._matrix import Matrix
    from ._result import Result


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def spy(A: Matrix, ax: Any, pixels: int) -> Any:
    """Draws the number of entries in each pixel, with at most ``pixels`` a side: a picture of any
    matrix costs one pass over its entries."""
    rows, columns = A.shape
    step = max(1, math.ceil(max(rows, columns) / pixels))
    height, width = -(-rows // step), -(-columns // step)
    row = np.repeat(np.arange(rows) // step, np.diff(A.indptr))
    counts = np.bincount(row * width + A.indices // step, minlength=height * width)
    ax = _axes(ax)
    image = np.ma.masked_equal(counts.reshape(height, width), 0)
    ax.set(xscale="linear", yscale="linear")
    ax.imshow(
        image, cmap="viridis_r", norm="log", interpolation="none", origin="upper",
        extent=(-0.5, columns - 0.5, rows - 0.5, -0.5),
    )  # fmt: skip
    ax.set_title(f"{rows} x {columns}, {A.nnz} {A.entry} entries", fontsize="medium")
    return ax


def plot_history(result: Result, ax: Any) -> Any:
    ax = _axes(ax)
    ax.semilogy(np.arange(len(result.history)), result.history, label=result.method)
    ax.set_xlabel("iteration")
    ax.set_ylabel("relative residual")
    return ax


def html_of(result: Result, history: Any) -> str:
    rows = {
        "status": result.status,
        "method": result.method,
        "iterations": f"{result.iterations}",
        "|b - A x| / |b|": f"{result.residual:.3g}",
    }
    if result.detail:
        rows["detail"] = result.detail
    if not math.isnan(result.seconds):
        rows["seconds"] = f"{result.seconds:.3g}"
    cells = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
        for name, value in rows.items()
    )
    return f"<table>{cells}</table>" + _line(history)


def _line(history: Any) -> str:
    """The residuals as a line on a logarithmic scale; nothing for fewer than two."""
    if history is None:
        return ""
    known = np.asarray(history)[np.isfinite(history) & (np.asarray(history) > 0)]
    if len(known) < 2:
        return ""
    width, height, most = 240, 80, 500
    heights = np.log10(known[:: -(-len(known) // most)])
    low, high = heights.min(), heights.max()
    across = np.linspace(2, width - 2, len(heights))
    down = 2 + (high - heights) / max(high - low, 1e-12) * (height - 4)
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, down))
    return (
        f"<svg width='{width}' height='{height}' role='img'><title>relative residual, "
        f"1e{low:.0f} to 1e{high:.0f}</title>"
        f"<polyline points='{points}' fill='none' stroke='#1f77b4'/></svg>"
    )
