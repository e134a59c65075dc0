"""A solve as a function of PyTorch: backward solves the adjoint system, on the GPU where there is one. b and x stay
there; the values of A, which change with the conductivity, go by way of the host. Here it finds how well each part of a
plate conducts, from temperatures on it."""

import sys

import numpy as np

import heddle

try:
    import torch
except ImportError:
    print("PyTorch is not installed")
    sys.exit()


class Solve(torch.autograd.Function):
    """x with A x = b for the values of A, in the order of `A.data`. Of real numbers; A is symmetric here, so that one
    solver serves both systems."""

    @staticmethod
    def forward(ctx, values, b, solver):
        solver.A.update_values(values.detach().cpu().numpy())
        x = solver.solve(b.detach()).x
        x = torch.as_tensor(x, device=b.device)
        ctx.solver = solver
        ctx.save_for_backward(values, x)
        return x

    @staticmethod
    def backward(ctx, gradient):
        values, x = ctx.saved_tensors
        A = ctx.solver.A
        A.update_values(values.detach().cpu().numpy())
        of_b = torch.as_tensor(ctx.solver.solve(gradient.contiguous()).x, device=x.device)
        places = np.stack([np.repeat(np.arange(A.shape[0]), np.diff(A.indptr)), A.indices])
        row, column = torch.as_tensor(places, device=x.device)
        return -of_b[row] * x[column], of_b, None


n = 40  # points per side; edges between neighbours conduct, and every point loses some heat
device = "cuda" if torch.cuda.is_available() else "cpu"
point = np.arange(n * n).reshape(n, n)
a = np.concatenate([point[:, :-1].reshape(-1), point[:-1].reshape(-1)])
b = np.concatenate([point[:, 1:].reshape(-1), point[1:].reshape(-1)])
rows, columns = np.concatenate([a, b, a, b, point.reshape(-1)]), np.concatenate([a, b, b, a, point.reshape(-1)])
order, slot = np.unique(rows * n * n + columns, return_inverse=True)
A = heddle.Matrix((np.ones(len(order)), (order // n**2, order % n**2)), (n * n, n * n))
A.update_values(np.ones(A.nnz) * (order // n**2 == order % n**2) + 1e-3)
solver = heddle.Solver(A, "cg", device=device, rtol=1e-10)
slot = torch.as_tensor(slot, device=device)


def values_of(conductivity):
    each = (conductivity[a] + conductivity[b]) / 2
    loss = torch.full((n * n,), 0.05, dtype=torch.float64, device=device)
    return torch.zeros(A.nnz, dtype=torch.float64, device=device).index_add(
        0, slot, torch.cat([each, each, -each, -each, loss])
    )


def temperatures(logarithm):
    return Solve.apply(values_of(torch.exp(logarithm)), heat, solver)


y, x = np.mgrid[:n, :n] / n
heat = torch.as_tensor(np.where(x < 0.5, np.where(y > 0.5, 1.0, 0.3), 0.0).reshape(-1), device=device)  # in one half
wanted = torch.as_tensor(np.where((x - 0.6) ** 2 + (y - 0.4) ** 2 < 0.04, 1.0, 0.0).reshape(-1), device=device)
measured = temperatures(wanted).detach()

found = torch.zeros(n * n, dtype=torch.float64, device=device, requires_grad=True)


def misfit(logarithm):
    return ((temperatures(logarithm) - measured) ** 2).sum() / (measured**2).sum()


# The gradient agrees with finite differences, in any direction.
direction = torch.as_tensor(np.random.default_rng(1).standard_normal(n * n), device=device)
(gradient,) = torch.autograd.grad(misfit(found), found)
along = (misfit(found.detach() + 1e-4 * direction) - misfit(found.detach() - 1e-4 * direction)) / 2e-4
assert abs((gradient * direction).sum() / along - 1) < 1e-3

optimizer = torch.optim.LBFGS([found], max_iter=60, tolerance_grad=0, tolerance_change=0, line_search_fn="strong_wolfe")


def descend():
    optimizer.zero_grad()
    error = misfit(found)
    error.backward()
    return error


first = misfit(found).item()
optimizer.step(descend)
last = misfit(found).item()
print(f"{device}: misfit {first:.1e} before, {last:.1e} after")
assert last < 1e-2 * first
