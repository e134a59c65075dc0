"""A block of rubber that is pulled and turned: scikit-fem assembles the tangent of each Newton step, and heddle solves
with 3 x 3 blocks. The pattern stays, so that every step only brings new values to one matrix and one solver."""

import numpy as np
import skfem
from skfem.helpers import ddot, det, grad, identity, inv, transpose

import heddle

mesh = skfem.MeshTet.init_tensor(np.linspace(0, 4, 17), np.linspace(0, 1, 5), np.linspace(0, 1, 5))
basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTetP1()), intorder=1)
n, shear, bulk = mesh.nvertices, 1.0, 10.0  # numbers of a vertex are adjacent: 3 v + component


def deformation(w):
    F = grad(w["u"]) + identity(grad(w["u"]))
    return F, transpose(inv(F)), np.log(det(F))


@skfem.LinearForm
def force(v, w):  # for a neo-Hookean solid: P = mu (F - F^-T) + lambda log(det F) F^-T
    F, G, volume = deformation(w)
    return ddot(shear * (F - G) + bulk * volume * G, grad(v))


@skfem.BilinearForm
def tangent(u, v, w):  # dP = mu dF + lambda tr(F^-1 dF) F^-T + (mu - lambda log(det F)) F^-T dF^T F^-T
    F, G, volume = deformation(w)
    transposed = np.einsum("ij...,kj...,kl...->il...", G, grad(u), G)
    return ddot(shear * grad(u) + bulk * ddot(G, grad(u)) * G + (shear - bulk * volume) * transposed, grad(v))


u = np.zeros(3 * n)
held = np.flatnonzero((mesh.p[0] == 0) | (mesh.p[0] == 4))
free = np.ones(n, bool)
free[held] = False

# Maps scikit-fem's numbers to places in an array of blocks, row by row. A held vertex keeps only its diagonal
# block.
row, column = tangent.coo_data(basis, u=basis.interpolate(u)).indices
places, slot = np.unique((row // 3).astype(np.int64) * n + column // 3, return_inverse=True)
within = slot * 9 + row % 3 * 3 + column % 3
i, j = places // n, places % n
coupled = (free[i] & free[j])[:, None, None]
alone = ((i == j) & ~free[i])[:, None, None] * np.eye(3)


def blocks():
    numbers = tangent.coo_data(basis, u=basis.interpolate(u)).data
    return np.bincount(within, numbers, 9 * len(places)).reshape(-1, 3, 3) * coupled + alone


K = heddle.Matrix((blocks(), j, np.searchsorted(i, np.arange(n + 1))), shape=(n, n))
solver = heddle.Solver(K, "cg", rtol=1e-4)



def pulled_and_rotated(load):
    """The ends move so; between them it is where Newton's method begins."""
    share, y, z = mesh.p[0] / 4, mesh.p[1] - 0.5, mesh.p[2] - 0.5
    c, s = np.cos(share * load * np.pi / 2), np.sin(share * load * np.pi / 2)
    return np.stack([share * load, c * y - s * z - y, s * y + c * z - z], -1)


for load in (0.25, 0.5, 0.75, 1.0):
    u += (pulled_and_rotated(load) - pulled_and_rotated(load - 0.25)).reshape(-1)
    for step in range(10):
        r = force.assemble(basis, u=basis.interpolate(u)).reshape(n, 3) * free[:, None]
        if np.linalg.norm(r) < 1e-8:
            break
        K.update_values(blocks())
        result = solver.solve(-r)
        assert result.converged, result
        u += result.x.reshape(-1)
    print(f"load {load:.2f}: {step} Newton steps, {result.iterations} iterations in the last")
    assert np.linalg.norm(r) < 1e-8
