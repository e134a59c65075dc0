"""For scripts/compare-methods: iterations of SciPy's and PETSc's methods, and of recurrences in numpy, until the true
residual is small enough. `M` is the preconditioner as a matrix, or None."""
import glob
import importlib.util
import inspect
import os
import sys

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

TOLERANCE = 1e-8
MOST = 20000
RESTART = 30


class Done(Exception):
    pass


class Watch:
    """Counts the iterates of a solve until the true residual is small enough."""

    def __init__(self, A, b):
        self.A, self.b, self.target, self.count = A, b, TOLERANCE * np.linalg.norm(b), 0

    def __call__(self, x):
        if self.count == 0 and not np.any(x):
            return  # some versions of SciPy begin with the guess
        self.count += 1
        if self.is_enough(np.linalg.norm(self.b - self.A @ x)):
            raise Done

    def is_enough(self, residual):
        return residual <= self.target or self.count >= MOST


def no_tolerance(method):
    """The arguments that leave it to a callback when SciPy's method ends."""
    return {"rtol" if "rtol" in inspect.signature(getattr(linalg, method)).parameters else "tol": 1e-300}


def scipy_iterations(method, A, b, M):
    watch = Watch(A, b)
    try:
        if method == "gmres":
            # Solves with A M, so that the residual of the recurrence is that of the system.
            def see(relative):
                watch.count += 1
                if watch.is_enough(relative * np.linalg.norm(b)):
                    raise Done
            AM = A if M is None else linalg.LinearOperator(A.shape, lambda v: A @ (M @ v), dtype=A.dtype)
            linalg.gmres(AM, b, restart=RESTART, maxiter=MOST, callback=see, callback_type="pr_norm",
                         **no_tolerance(method))
        else:
            getattr(linalg, method)(A, b, maxiter=MOST, M=M, callback=watch, **no_tolerance(method))
    except Done:
        pass
    return watch.count


class Petsc:
    kinds = {"cg": "cg", "cr": "cr", "minres": "minres", "bicgstab": "bcgs", "bicgstab2": "bcgsl", "gmres": "gmres",
             "fgmres": "fgmres"}
    of_right = ("bcgs", "bcgsl", "gmres", "fgmres")

    def __init__(self, module):
        self.module = module
        self.is_complex = np.issubdtype(module.ScalarType, np.complexfloating)
        self.version = ".".join(map(str, module.Sys.getVersion()))
        # PETSc's pseudo-inverse makes the Gram matrix symmetric and takes it for Hermitian: over complex numbers the
        # polynomial of BiCGStab(2) then does not minimize. Cholesky's factorization reads the right triangle.
        module.Options()["ksp_bcgsl_pinv"] = False

    def matrix(self, A):
        A = sparse.csr_matrix(A, dtype=self.module.ScalarType)
        return self.module.Mat().createAIJ(A.shape, csr=(A.indptr, A.indices, A.data), comm=self.module.COMM_SELF)

    def set_method(self, solver, kind):
        solver.setType(kind)
        if kind in ("gmres", "fgmres"):
            solver.setGMRESRestart(RESTART)
        side = self.module.PC.Side
        solver.setPCSide(side.RIGHT if kind in self.of_right else side.LEFT)
        if kind in self.of_right:
            solver.setNormType(self.module.KSP.NormType.UNPRECONDITIONED)

    def iterations(self, method, A, b, M, inner=0):
        """`inner`: as many iterations of GMRES with M are the preconditioner."""
        P, reason = self.module, self.module.KSP.ConvergedReason
        mat = self.matrix(A)
        solver = P.KSP().create(P.COMM_SELF)
        solver.setOperators(mat, mat if M is None else self.matrix(M))
        self.set_method(solver, self.kinds[method])
        solver.setFromOptions()
        preconditioner = solver.getPC()
        if inner:
            preconditioner.setType("ksp")
            preconditioner.setUseAmat(True)
            preconditioner.setUp()
            within = preconditioner.getKSP()
            self.set_method(within, "gmres")
            within.setTolerances(rtol=1e-300, atol=1e-300, max_it=inner)
            within.getPC().setType("mat")
        else:
            preconditioner.setType("none" if M is None else "mat")
        right, x, y = mat.createVecLeft(), mat.createVecRight(), mat.createVecRight()
        right.setArray(b)
        target = TOLERANCE * np.linalg.norm(b)

        def judge(solver, iteration, _):
            mat.mult(solver.buildSolution(x), y)
            y.aypx(-1, right)
            if y.norm() <= target:
                return reason.CONVERGED_RTOL
            return reason.DIVERGED_ITS if iteration >= MOST else 0

        solver.setConvergenceTest(judge)
        solver.setTolerances(max_it=MOST)
        solver.solve(right, mat.createVecRight())
        return solver.getIterationNumber() / (2 if method == "bicgstab2" else 1)  # it counts two for each


def recurrence_iterations(method, A, b, M):
    """COCG (van der Vorst and Melissen 1990), COCR (Sogabe and Zhang 2007): products without conjugation."""
    watch = Watch(A, b)
    apply = (lambda v: v) if M is None else (lambda v: M @ v)
    x, r = np.zeros_like(b), b.copy()
    z = apply(r)
    w = A @ z
    p, q = z.copy(), w.copy()
    rho = r @ z if method == "cocg" else z @ w
    try:
        while True:
            u = apply(q)
            alpha = rho / (p @ q if method == "cocg" else q @ u)
            x += alpha * p
            watch(x)
            r = r - alpha * q
            z = z - alpha * u
            w = A @ z
            old, rho = rho, (r @ z if method == "cocg" else z @ w)
            p = z + rho / old * p
            q = w + rho / old * q
    except Done:
        return watch.count


def find_petsc():
    """PETSc, that of complex numbers where there are two; or why there is none."""
    if importlib.util.find_spec("petsc4py") is None:
        found = [f for kind in ("complex", "real")
                 for f in glob.glob(f"/usr/lib/petscdir/petsc*/*-{kind}/lib/python3/dist-packages/petsc4py")]
        if not found:
            return "not there (Debian: python3-petsc4py-complex)"
        sys.path.append(os.path.dirname(found[0]))
    try:
        import petsc4py
        petsc4py.init([])
        from petsc4py import PETSc
    except (ImportError, ValueError) as error:  # ValueError: made for another numpy
        return str(error)
    return Petsc(PETSc)
