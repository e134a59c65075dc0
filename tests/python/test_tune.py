"""Tuning, profiles, and pictures."""

import numpy as np
import pytest

import heddle


@pytest.fixture(scope="module")
def tuned():
    A = heddle.generate("dirac", 400)
    seen = []
    profile = heddle.tune(A, "cg", threads=1, seconds=0.3, callback=lambda *now: seen.append(now))
    assert seen and all(len(now) == 3 for now in seen)
    return A, profile


def test_solvers_take_the_plan_of_a_profile(tuned, tmp_path):
    A, profile = tuned
    record = profile.content["records"][0]
    assert record["entry"] == "quaternion" and record["objective"] == "cg"
    assert profile.plan == record["plan"] and repr(profile).startswith("<heddle.Profile: ")
    solver = heddle.Solver(A, "cg", threads=1, profile=profile)
    assert solver.plan == profile.plan_for(A, threads=1)
    b = np.ones((A.shape[0], 4))
    assert solver.solve(b).converged
    path = tmp_path / "tuned.json"
    profile.write(path)
    profile.write(path, merge=True)
    again = heddle.Profile.read(path)
    assert again.content == profile.content
    assert heddle.Solver(A, "cg", threads=1, profile=path).plan == solver.plan


def test_prediction_measures_nothing():
    A = heddle.generate("poisson", 300)
    profile = heddle.tune(A, "product", search="predict")
    assert profile.content["records"][0]["search"] == "predict"


def test_what_is_tuned_besides_the_plan_of_one_matrix():
    A, B = heddle.generate("poisson", 600), heddle.generate("poisson", 900)
    short = {"threads": 1, "seconds": 0.1, "max_runs": 3}
    domain = heddle.tune({"a": A, "b": B}, "product", domain="grids", tightness=0.2, **short)
    assert [record["matrix"] for record in domain.content["records"]] == ["a", "b"]
    assert domain.content["domains"][0]["domain"] == "grids"
    assert domain.loss(A, method="product", threads=1, seconds=0.1) > -1
    nodes = heddle.tune(A, "product", storage="hisparse", **short).content
    assert nodes["trees"] and not nodes["records"]
    multigrid = heddle.tune(A, "multigrid", **short).content["multigrids"]
    assert multigrid[0]["preconditioner"].startswith("multigrid")
    for refused in ({"storage": "tree"}, {"max_runs": 0}, {"confidence": 2}, {"tightness": -1}):
        with pytest.raises(heddle.UsageError):
            heddle.tune(A, **refused)
    with pytest.raises(heddle.UsageError, match="domain"):
        heddle.tune({"a": A, "b": B}, "multigrid")
    with pytest.raises(heddle.UsageError, match="no matrix"):
        heddle.tune({})


def test_products_are_measured():
    A = heddle.generate("dirac", 500)
    measured = A.measure("CSR", threads=1, repetitions=1, adjoint=True, triad=False)
    assert measured["seconds"]["median"] > 0 and measured["moved_bytes"] > A.data.nbytes
    with pytest.raises(heddle.UsageError, match="repetitions"):
        A.measure("CSR", threads=1, repetitions=0)


def test_searches_end_by_what_a_callback_raises():
    class Enough(Exception):
        pass

    def stop(*_):
        raise Enough

    with pytest.raises(Enough):
        heddle.tune(heddle.generate("poisson", 300), threads=1, callback=stop)


def test_refuses_what_is_no_search_or_profile(tuned, tmp_path):
    A, profile = tuned
    for options in ({"method": "sor"}, {"search": "best"}, {"seconds": -1}, {"max_memory_ratio": 0}):
        with pytest.raises(heddle.UsageError):
            heddle.tune(A, **options)
    with pytest.raises(FileNotFoundError):
        heddle.Solver(A, profile=tmp_path / "absent.json")
    (tmp_path / "broken.json").write_text("{}")
    with pytest.raises(heddle.UsageError, match="broken.json"):
        heddle.Profile.read(tmp_path / "broken.json")
    with pytest.raises(heddle.UsageError, match="a plan and a profile"):
        heddle.Solver(A, plan="CSR", profile=profile)
    other = profile.content
    other["device"]["name"] = "another"
    other["device"]["instructions"] = "none"
    import json

    (tmp_path / "other.json").write_text(json.dumps(other))
    with pytest.raises(heddle.UsageError, match="another device"):
        heddle.Solver(A, profile=tmp_path / "other.json")


def test_results_and_matrices_show_themselves():
    A = heddle.generate("elasticity", 300)
    result = heddle.solve(A, np.ones((A.shape[0], 3)))
    page = result._repr_html_()
    assert "converged" in page and "<polyline" in page and "nan" not in page
    bare = heddle.Solver(A).solve(np.zeros((A.shape[0], 3)))._repr_html_()
    assert "<polyline" not in bare and "<table>" in bare
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    axes = result.plot_history()
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), result.history)
    for B in (A, heddle.generate("poisson", 5000), heddle.Matrix(np.ones((3, 7)))):
        image = B.spy(pixels=50).images[0].get_array()
        assert max(image.shape) <= 50 and image.sum() == B.nnz
    same = A.spy(ax=axes)
    assert same is axes
    matplotlib.pyplot.close("all")
