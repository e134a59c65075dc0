"""A solve as a function of PyTorch, on the GPU where there is one: the values of A, which change with the conductivity,
b, x and the gradients stay there. Here it finds how well each part of a plate conducts, from temperatures on it."""

import sys

import numpy as np

import heddle

try:
    import torch
except ImportError:
    print("PyTorch is not installed")
    sys.exit()
import heddle.torch

n = 40  # points per side; edges between neighbours conduct, and every point loses some heat
device = "cuda" if torch.cuda.is_available() else "cpu"
point = np.arange(n * n).reshape(n, n)
a = np.concatenate([point[:, :-1].reshape(-1), point[:-1].reshape(-1)])
b = np.concatenate([point[:, 1:].reshape(-1), point[1:].reshape(-1)])
rows, columns = np.concatenate([a, b, a, b, point.reshape(-1)]), np.concatenate([a, b, b, a, point.reshape(-1)])
order, slot = np.unique(rows * n * n + columns, return_inverse=True)
A = heddle.Matrix((np.ones(len(order)), (order // n**2, order % n**2)), (n * n, n * n))
A.update_values(np.ones(A.nnz) * (order // n**2 == order % n**2) + 1e-3)
solver = heddle.torch.Solver(A, "cg", device=device, rtol=1e-10)
slot = torch.as_tensor(slot, device=device)


def values_of(conductivity):
    each = (conductivity[a] + conductivity[b]) / 2
    loss = torch.full((n * n,), 0.05, dtype=torch.float64, device=device)
    return torch.zeros(A.nnz, dtype=torch.float64, device=device).index_add(
        0, slot, torch.cat([each, each, -each, -each, loss])
    )


def temperatures(logarithm):
    return solver.solve(heat, values_of(torch.exp(logarithm)))


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
