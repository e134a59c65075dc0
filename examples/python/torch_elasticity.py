"""A cube of elastic cells that its top presses down. PyTorch assembles it from the stiffness of each cell, as torch-fem
does, heddle.torch solves by multigrid with the rigid motions, and backward tells how much each cell matters."""

import numpy as np

try:
    import torch
except ImportError:
    print("PyTorch is not installed")
    raise SystemExit from None
import heddle.torch

n, first, second = 8, 0.6, 0.4  # cells per side; Lame's parameters where the stiffness is 1
node = np.arange((n + 1) ** 3).reshape(n + 1, n + 1, n + 1)
point = np.stack(np.meshgrid(*3 * [np.linspace(0, 1, n + 1)], indexing="ij"), -1).reshape(-1, 3)
corners = np.array(list(np.ndindex(2, 2, 2)))
cells = np.stack([node[a : n + a, b : n + b, c : n + c].reshape(-1) for a, b, c in corners], 1)
unit, sign = np.zeros((8, 3, 8, 3)), 2 * corners - 1
for at in sign / np.sqrt(3):  # Gauss's points of trilinear shape functions
    x, y, z = (1 + sign * at).T
    slope = n / 4 * sign * np.stack([y * z, x * z, x * y], 1)
    unit += first * np.einsum("ai,bj->aibj", slope, slope) + second * np.einsum("aj,bi->aibj", slope, slope)
    unit += second * np.einsum("ij,ak,bk->aibj", np.eye(3), slope, slope)
unit = torch.as_tensor(unit.reshape(24, 24) / (2 * n) ** 3)
numbers = torch.as_tensor((3 * cells[:, :, None] + np.arange(3)).reshape(-1, 24))
ground = torch.as_tensor((3 * node[:, :, 0].reshape(-1, 1) + np.arange(3)).reshape(-1))  # rests on stiff springs
rows = torch.cat([numbers.repeat_interleave(24, 1).reshape(-1), ground])
columns = torch.cat([numbers.repeat(1, 24).reshape(-1), ground])
rotations = np.cross(np.eye(3)[:, None], point - 0.5).reshape(3, -1).T
rigid = torch.as_tensor(np.hstack([np.tile(np.eye(3), (len(point), 1)), rotations]))
load = torch.zeros(3 * len(point), dtype=torch.float64)
load[3 * node[:, :, -1].reshape(-1) + 2] = -1 / (n + 1) ** 2
stiffness = torch.ones(n**3, dtype=torch.float64, requires_grad=True)
values = torch.cat([(stiffness[:, None, None] * unit).reshape(-1), load.new_full(ground.shape, 10.0)])
A = torch.sparse_coo_tensor(torch.stack([rows, columns]), values, 2 * [len(load)]).coalesce().to_sparse_bsr((3, 3))
u = heddle.torch.solve(A, load, method="cg", preconditioner="multigrid", candidates=rigid)
(load @ u).backward()  # the work of the load
parts = u.detach()[numbers]
assert torch.allclose(stiffness.grad, -((parts @ unit) * parts).sum(1), rtol=1e-6)
print(f"it sinks by {-u[-1]:.3f}; one cell matters {stiffness.grad.min() / stiffness.grad.mean():.1f} times the mean")
