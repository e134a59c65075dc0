"""A system of quaternions w, x, y, z: from a model problem, and assembled from triplets."""

import numpy as np

import heddle

# The squared Dirac operator on a closed surface, whose spectrum contains conformal deformations.
A = heddle.generate("dirac", 5000)
b = np.zeros((A.shape[0], 4))
b[:, 0] = 1
result = heddle.solve(A, b)
assert result.converged
print(A, result, sep="\n")

# Rotations along a ring of n frames: x_i - q_i x_(i+1) = b_i, each q_i a unit quaternion.
n = 1000
rng = np.random.default_rng(1)
q = rng.standard_normal((n, 4))
q *= 0.5 / np.linalg.norm(q, axis=1, keepdims=True)
one = np.tile([1.0, 0, 0, 0], (n, 1))
here = np.arange(n)
ring = heddle.Matrix(
    (np.concatenate([one, -q]), (np.tile(here, 2), np.concatenate([here, (here + 1) % n]))),
    shape=(n, n),
)
x = rng.standard_normal((n, 4))
found = heddle.solve(ring, ring @ x)
assert found.converged
print(found, f"error {np.abs(found.x - x).max():.1e}", sep="\n")
