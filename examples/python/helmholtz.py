"""A wave in absorbing matter: Helmholtz' equation in complex numbers, with a solver that is kept
for several sources. With matplotlib installed, `helmholtz.py picture.png` draws the last wave."""

import sys

import numpy as np
import scipy.sparse as sp

import heddle

n, wavenumber = 120, 2 * np.pi / 12  # spacing 1, 12 points per wavelength
second = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
laplacian = sp.kron(second, sp.eye_array(n)) + sp.kron(sp.eye_array(n), second)
A = laplacian - wavenumber**2 * (1 + 0.1j) * sp.eye_array(n * n)

solver = heddle.Solver(A, rtol=1e-8, maxiter=20000)  # complex symmetric: COCR
u = np.zeros(n * n, complex)
for column in (n // 4, n // 2):
    b = np.zeros(n * n, complex)
    b[n // 2 * n + column] = 1
    result = solver.solve(b, out=u)
    assert result.converged
    print(f"source in column {column}: {result.iterations} iterations of {result.method}")

if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    plt.imsave(sys.argv[1], u.real.reshape(n, n), cmap="RdBu")
