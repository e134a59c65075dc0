"""Poisson's equation in five lines, with a SciPy matrix."""

import numpy as np
import scipy.sparse as sp

import heddle

line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(100, 100))
A = sp.kron(line, sp.eye_array(100)) + sp.kron(sp.eye_array(100), line)
u, info = heddle.cg(A, np.ones(10000), rtol=1e-8)

assert info == 0
print(f"|b - A u| / |b| = {np.linalg.norm(1 - A @ u) / 100:.1e}, largest u = {u.max():.1f}")
