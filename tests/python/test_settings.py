"""Settings by name: the library's table is what signatures, help and errors go by."""

import inspect
import json
import re
import subprocess
import sys

import numpy as np
import pytest

import heddle
from heddle import _heddle

table = json.loads(_heddle.settings_table())
A = heddle.generate("poisson", 300)
b = np.ones(A.shape[0])
uses_of_solver = "storage", "ranks", "solver", "multigrid"
solver_rows = [row for row in table if row["use"] in uses_of_solver]
# Requirements by use or by name: without these a setting is refused.
needs = {
    "ranks": {"ranks": 2},
    "multigrid": {"preconditioner": "multigrid"},
    "dense": {"storage": "hisparse"},
}


def parsed(row):
    """The default as a value, None where it is in words."""
    text = row["default"]
    if row["kind"] == "yes_or_no":
        return {"true": True, "false": False}[text]
    try:
        return {"number": float, "whole_number": int}[row["kind"]](text)
    except ValueError:
        return None
    except KeyError:  # names and texts
        return text if text and " " not in text and row["kind"] != "numbers" else None


@pytest.mark.parametrize("row", solver_rows, ids=lambda row: row["name"])
def test_every_setting_of_a_solver_is_taken_by_name_with_its_default(row):
    name, value = row["name"], parsed(row)
    shown = inspect.signature(heddle.Solver).parameters[name]
    assert shown.kind == shown.KEYWORD_ONLY and shown.default == value
    assert name in inspect.signature(heddle.solve).parameters
    assert re.search(rf"^(\w+, )?{name}(, \w+)?$", inspect.getdoc(heddle.Solver), re.MULTILINE)
    method = row.get("taken_by", ["cg"])[0]
    given = {"method": method, **needs.get(row["use"], {}), **needs.get(name, {})}
    for spelled in filter(None, (name, row.get("alias"))):
        assert heddle.Solver(A, **given, **{spelled: None}).method == method
        assert heddle.Solver(A, **given, **{spelled: value}).method == method


@pytest.mark.parametrize(
    ("row", "value"),
    [
        ("threads", 1), ("plan", "CSR"), ("storage", "hisparse"), ("partition", "rows"),
        ("exchange", "task"), ("transfer", "peer"), ("boundary", "split"), ("tolerance", 1e-4),
        ("tolerance", np.float32(1e-3)), ("absolute_tolerance", 1), ("max_iterations", np.int64(7)),
        ("time_limit", np.inf), ("keep", "best"), ("keep", "BEST"), ("restart", 5),
        ("basis_precision", "single"), ("field_precision", "single"), ("interval", (0.05, 20)),
        ("interval", np.array([0.05, 20])), ("interval", "0.05 20"), ("omega", 0.1),
        ("record_history", np.True_), ("record_history", 1), ("cycle", "w"),
        ("smoother", "gauss-seidel"), ("interpolation", "plain"), ("level_precision", "single"),
        ("strength", 0.2), ("candidates", "adaptive"), ("estimates_again", True),
    ],
)  # fmt: skip
def test_values_of_every_kind_are_taken(row, value):
    row = next(own for own in solver_rows if own["name"] == row)
    method = {"omega": "richardson"}.get(row["name"], row.get("taken_by", ["cg"])[0])
    given = {"method": method, "preconditioner": "none", **needs.get(row["use"], {})}
    solver = heddle.Solver(A, **given, **{row["name"]: value})
    result = solver.solve(b)
    assert result.converged or row["name"] == "max_iterations"
    if row["name"] == "record_history":
        assert len(result.history) == result.iterations + 1


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("tolerance", 1, "tolerance must be a number of at least 0 and below 1, not '1'"),
        ("rtol", "1e-5", "rtol must be a number of at least 0 and below 1, not '1e-5'"),
        ("rtol", np.nan, "rtol must be .*, not 'nan'"),
        ("restart", 0, "restart must be a whole number from 1 to 2147483647, not '0'"),
        ("restart", 2.5, "restart must be a whole number from 1 to 2147483647, not '2.5'"),
        ("restart", True, "restart must be a whole number from 1 to 2147483647, not 'true'"),
        ("maxiter", 2**70, "maxiter must be a whole number"),
        ("maxiter", [1, 2], r"maxiter must be a whole number, 0 or more, not \[1, 2\]"),
        ("interval", (2, 1), "interval must be two finite numbers, 0 < LOWER < UPPER, not '2 1'"),
        ("interval", (1, "a"), "interval must be two finite numbers"),
        ("interval", 5, "interval must be two finite numbers"),
        ("record_history", "yes", "record_history must be true or false, not 'yes'"),
        ("keep", 1, "keep must be last or best, not '1'"),
        ("plan", ["CSR"], r"plan must be a plan, not \['CSR'\]"),
        ("plan", "", "plan must be a plan, not ''"),
        ("device", object(), "device must be cpu"),
        ("candidates", "random", "candidates must be adaptive, not 'random'"),
    ],
)  # fmt: skip
def test_values_out_of_their_range_are_refused_by_name(name, value, words):
    with pytest.raises(heddle.UsageError, match=words):
        heddle.Solver(A, **{name: value})
    with pytest.raises(ValueError, match=words):
        heddle.solve(A, b, **{name: value})


calls = {
    "heddle.Solver": lambda **given: heddle.Solver(A, **given),
    "heddle.solve": lambda **given: heddle.solve(A, b, **given),
    "heddle.cg": lambda **given: heddle.cg(A, b, **given),
    "heddle.gmres": lambda **given: heddle.gmres(A, b, **given),
    "heddle.lsmr": lambda **given: heddle.lsmr(A, b, **given),
    "heddle.tune": lambda **given: heddle.tune(A, search="predict", **given),
    "Matrix.describe": lambda **given: A.describe(**given),
    "Matrix.measure": lambda **given: A.measure(**given),
    "Matrix.memory": lambda **given: A.memory(**given),
}


@pytest.mark.parametrize("call", calls)
def test_names_that_there_are_not_name_the_nearest(call):
    for wrong, meant in (("devise", "device"), ("thread", "threads")):
        with pytest.raises(heddle.UsageError, match=f"no setting '{wrong}'; did you mean {meant}"):
            calls[call](**{wrong: 1})
    with pytest.raises(heddle.UsageError, match="there is no setting 'zzz'"):
        calls[call](zzz=1)


@pytest.mark.parametrize(
    ("call", "wrong", "meant"),
    [
        ("heddle.Solver", "tolx", "rtol"), ("heddle.Solver", "nullspace", "null_space"),
        ("heddle.Solver", "max_iter", "maxiter"), ("heddle.solve", "nullspace", "null_space"),
        ("heddle.solve", "calback", "callback"), ("heddle.cg", "calback", "callback"),
        ("heddle.gmres", "restarts", "restart"), ("heddle.lsmr", "damping_", "damp"),
        ("heddle.tune", "domains", "domain"), ("Matrix.measure", "repetition", "repetitions"),
    ],
)  # fmt: skip
def test_keywords_of_python_are_near_too(call, wrong, meant):
    words = rf"there is no setting '{wrong}'; did you mean {meant}\?$"
    with pytest.raises(heddle.UsageError, match=words):
        calls[call](**{wrong: 1})


@pytest.mark.parametrize(
    ("call", "name", "words"),
    [
        ("heddle.Solver", "search", "heddle.Solver does not take search, .* of tuning"),
        ("heddle.Solver", "scaling", "a setting of description"),
        ("heddle.Solver", "damping", "a setting of least squares"),
        ("heddle.solve", "guard", "heddle.solve does not take guard, .* of eigen"),
        ("heddle.cg", "exchange", "heddle.cg does not take exchange, .* of ranks"),
        ("heddle.lsmr", "strength", "heddle.lsmr does not take strength, .* of multigrid"),
        ("heddle.tune", "plan", "heddle.tune does not take plan, .* of storage"),
        ("heddle.tune", "rtol", "heddle.tune does not take rtol, .* of solver"),
        ("Matrix.describe", "plan", "Matrix.describe does not take plan"),
        ("Matrix.memory", "omega", "Matrix.memory does not take omega"),
    ],
)
def test_settings_of_another_use_are_refused(call, name, words):
    with pytest.raises(heddle.UsageError, match=words):
        calls[call](**{name: 1})


def test_settings_that_are_not_asked_for_are_refused():
    for given, words in (
        ({"exchange": "task"}, "exchange is for ranks: give their number, as ranks=2"),
        ({"strength": 0.2}, "strength is for the preconditioner multigrid, not for jacobi"),
        ({"strength": 0.2, "preconditioner": None}, "strength is for the preconditioner multigrid"),
        ({"cycle": "w", "preconditioner": lambda r: r}, "cycle is for the preconditioner"),
        ({"coordinates": b, "preconditioner": None}, "coordinates is for the preconditioner"),
        ({"restart": 5}, "restart is for gmres and fgmres, not for cg"),
        ({"node": 16}, "node is for the storage hisparse"),
        ({"rtol": 1e-3, "tolerance": 1e-3}, "rtol and tolerance are one setting"),
        ({"ranks": 2, "profile": "none.json"}, "profile is not for ranks"),
    ):
        with pytest.raises(heddle.Error, match=words):
            heddle.Solver(A, "cg", **given)
    with pytest.raises(heddle.UsageError, match="heddle.cg has tolerance as rtol"):
        heddle.cg(A, b, tolerance=1e-3)
    # A method that was chosen automatically need not take them.
    assert heddle.Solver(A, restart=5, basis_precision="single").method == "cg"
    skew = np.array([[2.0, 1.0], [0.0, 2.0]])
    assert heddle.Solver(skew, "gmres", None, restart=1).solve([1.0, 1.0]).iterations > 2


def test_functions_of_scipys_take_settings():
    for function in (heddle.cg, heddle.minres, heddle.bicgstab, heddle.gmres):
        assert function(A, b, plan="CSR", time_limit=60, threads=1)[1] == 0
        assert "time_limit" in inspect.signature(function).parameters
        assert "tolerance" not in inspect.signature(function).parameters  # it is called rtol there
    x, info = heddle.cg(A, b, M="multigrid", strength=0.1, cycle="v")
    assert info == 0 and np.linalg.norm(b - A @ x) <= 1e-5 * np.linalg.norm(b)
    assert heddle.cg(A, b, maxiter=2, keep="best")[1] == 2
    assert heddle.lsmr(A, b, time_limit=0.0)[1] == -1
    assert heddle.lsmr(A, b, threads=1, plan="CSR")[1] in (1, 2)


def test_settings_hold_texts():
    settings = _heddle.Settings({"rtol": "1e-8", "interval": "1 2"})
    settings.set("record_history", "yes")
    assert json.loads(settings.json) == {
        "tolerance": 1e-8, "interval": [1, 2], "record_history": True}  # fmt: skip
    with pytest.raises(heddle.UsageError, match="tolerance must be"):
        settings.set("tolerance", "2")
    with pytest.raises(ValueError, match="null character"):
        settings.set("plan", "CSR\0")
    assert json.loads(settings.json)["tolerance"] == 1e-8


def test_programs_without_docstrings_run():
    program = (
        "import heddle, inspect\n"
        "if 'restart' not in inspect.signature(heddle.Solver).parameters: exit(1)"
    )
    assert subprocess.run([sys.executable, "-OO", "-c", program]).returncode == 0
