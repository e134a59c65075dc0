"""What lives how long: cycles of solvers and functions, and threads at the end of the process."""

import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest

import heddle


class Model:
    """Holds a solver that calls back to it."""

    def __init__(self, of_operator):
        self.shape, self.dtype = (8, 8), np.dtype(np.float64)
        self.solver = (
            heddle.Solver(self, "cg", None)
            if of_operator
            else heddle.Solver(np.eye(8), "cg", self.matvec)
        )

    def matvec(self, x):
        return 2 * x


@pytest.mark.parametrize("of_operator", [False, True])
def test_cycles_are_collected(of_operator):
    models = [Model(of_operator) for _ in range(5)]
    assert models[0].solver.solve(np.ones(8)).converged
    alive = [weakref.ref(model) for model in models]
    del models
    gc.collect()
    assert not any(model() for model in alive)


def run(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


def test_a_script_with_a_solver_ends_in_silence():
    ended = run(
        "import heddle, numpy as np\n"
        "solver = heddle.Solver(np.eye(3), 'cg', lambda r: solver and r)\n"
        "print(solver.solve(np.ones(3)).status)"
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "converged\n", "")


@pytest.mark.parametrize(
    ("M", "callback"), [("None", "None"), ("lambda r: r", "lambda *progress: None")]
)
def test_the_process_ends_while_a_daemon_thread_solves(M, callback):
    ended = run(
        f"""
import threading, time
import heddle, numpy as np
A = heddle.generate("helmholtz", 20000)
solver = heddle.Solver(A, "gmres", {M}, rtol=0.0, maxiter=10**9, time_limit=60)
b = np.ones(A.shape[0], complex)
def work():
    while True:
        solver.solve(b, callback={callback})
threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
"""
    )
    assert ended.returncode == 0 and "terminate" not in ended.stderr, ended.stderr
