"""What users give that is something else than it looks: each is taken for what it is, or refused
with the call that mends it."""

import re
import types

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import heddle


def line(n, dtype=np.float64):
    return sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n)).tocsr().astype(dtype)


A, b = line(6), np.arange(1.0, 7)
x = np.linalg.solve(A.toarray(), b)


@pytest.mark.parametrize(
    "given",
    [
        b.tolist(), tuple(b), b.astype(int), b.astype(np.uint8), b.astype(np.float16),
        b.astype(np.float32), b.astype(">f8"), b.astype(">i2"), b[::-1].copy()[::-1],
        np.repeat(b, 2)[::2], np.ma.array(b), np.matrix(b).T, b[:, None], np.asfortranarray(b),
    ],
    ids=lambda given: f"{type(given).__name__} {getattr(given, 'dtype', '')}",
)  # fmt: skip
def test_numbers_of_every_kind_are_a_right_hand_side(given):
    for call in (heddle.solve, lambda A, b: heddle.Solver(A).solve(b)):
        np.testing.assert_allclose(np.ravel(call(A, given).x), x, rtol=1e-8)
    np.testing.assert_allclose(heddle.cg(A, given, rtol=1e-10)[0], x, rtol=1e-8)
    np.testing.assert_allclose(heddle.lsmr(A, given, atol=1e-12, btol=1e-12)[0].ravel(), x, rtol=1e-6)


def test_bools_and_frozen_arrays_are_right_hand_sides():
    ones = np.ones(6, bool)
    expected = np.linalg.solve(A.toarray(), np.ones(6))
    np.testing.assert_allclose(heddle.solve(A, ones).x, expected, rtol=1e-8)
    frozen = b.copy()
    frozen.flags.writeable = False
    np.testing.assert_allclose(heddle.solve(A, frozen, frozen).x, x, rtol=1e-8)


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint16, np.int64, np.float16, np.float32, ">f8", ">i4", ">c16"])  # fmt: skip
def test_entries_of_every_kind_are_a_matrix(dtype):
    whole = np.abs(A.toarray()).astype(dtype)
    for given in (whole, whole.tolist(), np.asfortranarray(whole), whole[::-1, ::-1].copy()[::-1, ::-1]):
        B = heddle.Matrix(given)
        assert B.dtype.isnative and B.shape == (6, 6)
        np.testing.assert_allclose(B @ b.astype(B.dtype), whole.astype(B.dtype) @ b, rtol=1e-6)
    copy = heddle.Matrix(B)
    assert (copy.data == B.data).all() and (copy.indices == B.indices).all()


solves = [
    heddle.solve, heddle.cg, heddle.minres, heddle.bicgstab, heddle.gmres, heddle.lsmr,
    lambda A, b: heddle.Solver(A).solve(b), lambda A, b: heddle.Matrix(A) @ b,
    lambda A, b: heddle.cg(heddle.Matrix(A), b),
    lambda A, b: heddle.cg(spla.aslinearoperator(A), b),
]  # fmt: skip


@pytest.mark.parametrize("kind", [object, "U", np.longdouble, np.clongdouble])
def test_numbers_that_no_double_holds_are_refused_with_the_conversion(kind):
    with pytest.raises(heddle.UnsupportedError, match=r"A.astype\(numpy.float64\)"):
        heddle.Matrix(A.toarray().astype(kind))
    given = b.astype(kind)
    kind_of_error = heddle.UnsupportedError if given.dtype.kind in "fc" else heddle.UsageError
    for solve in solves:
        with pytest.raises(kind_of_error, match=r"^[bx] is of .*convert it, as") as error:
            solve(A, given)
    name, call = re.search(r"numpy.asarray\(([bx]), (.*)\) does", str(error.value)).groups()
    converted = np.asarray(given, eval(call, {"numpy": np}))
    np.testing.assert_array_equal(converted, b)


def test_what_is_no_array_is_named():
    for given, what in (
        (None, "None"), ("ones", "a text"), (b"ones", "a text"), ({}, "of the type dict"),
        (heddle.Solver(A), "of the type Solver"), (spla.splu(A.tocsc()), "of the type SuperLU"),
    ):  # fmt: skip
        for solve in solves:
            with pytest.raises(heddle.UsageError, match=f"^[bx] is {what}, not an array of numbers"):
                solve(A, given)
    solver = heddle.Solver(A)
    for name, call in (
        ("x0", lambda: heddle.cg(A, b, x0=[None] * 6)), ("x0", lambda: solver.solve(b, x0={})),
        ("b", lambda: solver.solve_all(None)), ("null_space", lambda: heddle.Solver(A, null_space="x")),
        ("the function's result", lambda: heddle.cg(A, b, M=lambda r: None)),
        ("A", lambda: heddle.cg({}, b)), ("A", lambda: heddle.Matrix({})),
    ):  # fmt: skip
        with pytest.raises(heddle.UsageError, match=f"^{name} is "):
            call()


def test_masked_numbers_are_refused():
    masked = np.ma.masked_less(b, 3)
    calls = [
        lambda: heddle.solve(A, masked), lambda: heddle.cg(A, masked), lambda: heddle.lsmr(A, masked),
        lambda: heddle.Solver(A).solve(masked), lambda: heddle.solve(A, b, masked),
        lambda: heddle.Solver(A).solve(b, out=masked), lambda: heddle.Matrix(A) @ masked,
        lambda: heddle.Solver(A).solve_all(np.ma.masked_less([b], 3)),
        lambda: heddle.Matrix(np.ma.masked_equal(A.toarray(), 2)),
        lambda: heddle.Matrix((masked, (range(6), range(6))), (6, 6)),
        lambda: heddle.Matrix((b, (np.ma.masked_less(range(6), 3), range(6))), (6, 6)),
        lambda: heddle.Matrix(A).edited(set=(masked, (range(6), range(6)))),
        lambda: heddle.cg(A, b, M=lambda r: np.ma.masked_less(r, 3)),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(heddle.UnsupportedError, match="masked"):
            call()
    assert (masked.data == b).all()


def test_an_index_beyond_64_bits_is_shown_as_it_is():
    far = np.array([0, 2**63 + 5], np.uint64)
    for row, column in ((far, [0, 1]), ([0, 1], far), (far.astype(">u8"), [0, 1])):
        with pytest.raises(heddle.SizeError, match=str(2**63 + 5)):
            heddle.Matrix((np.ones(2), (row, column)), (2, 2))
    near = np.array([0, 1], np.uint64)
    assert heddle.Matrix((np.ones(2), (near, near)), (2, 2)).nnz == 2


def test_numbers_that_stand_for_none_in_the_library_are_refused():
    for rtol in (-1, -1.0, np.float32(-1), np.nan, "1e-5", None):
        for call in (heddle.cg, heddle.minres, heddle.bicgstab, heddle.gmres):
            with pytest.raises(heddle.UsageError, match="rtol="):
                call(A, b, rtol=rtol)
    for rtol in (-1, np.nan, "1e-5"):
        with pytest.raises(heddle.UsageError, match="rtol must be a number of at least 0 and below 1"):
            heddle.Solver(A, rtol=rtol)
    for name in ("atol", "btol"):
        with pytest.raises(heddle.UsageError, match=f"{name}=-1"):
            heddle.lsmr(A, b, **{name: -1})
    with pytest.raises(heddle.UsageError, match="0 < LOWER < UPPER"):
        heddle.Solver(A, "chebyshev", interval=(0, 0))
    assert heddle.Solver(A, rtol=np.array(1e-3)).solve(b).converged


def test_what_is_no_matrix_names_the_call_that_makes_one():
    for given, call in (
        (lambda v: A @ v, "LinearOperator"), (A.__matmul__, "LinearOperator"),
        ("A.mtx", r"heddle.read\('A.mtx'\)"),
        (types.SimpleNamespace(aspreconditioner=None, solve=None, levels=[]), r"levels\[0\].A"),
        (None, "A is None, not a matrix of heddle"), (heddle.Solver(A), r"A.solve\(b\).x"),
        (spla.splu(A.tocsc()), r"heddle.cg\(matrix, b, M=A.solve\)"),
        (spla.spilu(A.tocsc()), r"heddle.solve\(matrix, b, preconditioner=A.solve\)"),
    ):  # fmt: skip
        for solve in (heddle.solve, heddle.cg, lambda A, b: heddle.Solver(A).solve(b)):
            with pytest.raises(heddle.UsageError, match=call):
                solve(given, b)
    with pytest.raises(heddle.UsageError, match="operator"):
        heddle.Matrix(spla.aslinearoperator(A))


def test_a_matrix_that_is_not_square_names_lsmr():
    tall = sp.csr_array(A[:, :4])
    calls = [
        lambda: heddle.solve(tall, b), lambda: heddle.cg(tall, b), lambda: heddle.gmres(tall, b),
        lambda: heddle.Solver(tall, "cg", "jacobi"), lambda: heddle.Solver(tall, storage="hisparse"),
        lambda: heddle.Solver(tall, preconditioner=None), lambda: heddle.Solver(tall, ranks=2),
        lambda: heddle.Solver(heddle.Matrix(tall.T.tocsr()).H, "gmres"),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(heddle.SizeError, match=r"not one of 6 x 4: heddle.lsmr\(A, b\)") as error:
            call()
        assert "quaternion" not in str(error.value)
    assert heddle.lsmr(tall, b)[1] in (1, 2)


@pytest.mark.parametrize(("size", "entry"), [(4, "quaternion"), (8, "dual-quaternion")])
def test_a_matrix_of_components_names_the_entries_of_its_file(tmp_path, size, entry):
    components = np.arange(1.0, 2 * size + 1).reshape(2, size)
    scipy.io.mmwrite(tmp_path / "A.mtx", sp.block_diag([row[:, None] for row in components]))
    call = f"heddle.read(path, entry={entry!r})"
    with pytest.raises(heddle.SizeError, match=re.escape(call)):
        heddle.solve(heddle.read(tmp_path / "A.mtx"), np.ones(2 * size))
    B = eval(call, {"heddle": heddle, "path": tmp_path / "A.mtx"})
    assert B.shape == (2, 2)
    np.testing.assert_array_equal(B.data, components)


def test_methods_that_solver_does_not_take_name_those_that_it_does():
    for name in ("lsmr", "LSMR"):
        with pytest.raises(heddle.UsageError, match=r"heddle.lsmr\(A, b\)"):
            heddle.solve(A, b, method=name)
    for matrix in (A, spla.aslinearoperator(A), A[:, :4]):
        with pytest.raises(heddle.UsageError, match=r"named 'soap'; there are cg .* block-cg .* auto") as error:
            heddle.Solver(matrix, "soap")
    names = str(error.value).split("there are ")[1].split(";")[0].split()
    names.remove("lsmr")  # a function, as the message says
    for name in (*names, "AUTO", "Block-CG"):
        interval = (0.1, 4) if name in ("chebyshev", "richardson") else None
        heddle.Solver(A, name, interval=interval)
    with pytest.raises(heddle.UsageError, match="method=None"):
        heddle.Solver(A, None)


def test_an_operator_without_entries_names_methods():
    for given in (spla.aslinearoperator(A), heddle.Matrix(A).H):
        with pytest.raises(heddle.UsageError, match="method='cg'.* method='gmres'"):
            heddle.solve(given, b)
        for method in ("cg", "gmres"):
            np.testing.assert_allclose(heddle.solve(given, b, method=method).x, x, rtol=1e-8)


def test_a_sparse_right_hand_side_names_toarray():
    for given in (sp.csr_array(b[None]), sp.coo_matrix(b[:, None])):
        for call in (heddle.solve, heddle.cg, heddle.lsmr, lambda A, b: heddle.Solver(A).solve(b),
                     lambda A, b: heddle.Matrix(A) @ b):  # fmt: skip
            with pytest.raises(heddle.UnsupportedError, match=r"toarray\(\)"):
                call(A, given)


def test_what_is_no_preconditioner_names_the_call_that_makes_one():
    hierarchy = types.SimpleNamespace(
        aspreconditioner=lambda: spla.aslinearoperator(A), solve=None, levels=[])  # fmt: skip
    factors = spla.spilu(A.tocsc())
    for M, call in ((hierarchy, r"M.aspreconditioner\(\)"), (factors, "M.solve"),
                    (heddle.Solver(A), r"M.solve\(r\).x"), (5.0, "'float'"),
                    (types.SimpleNamespace(), "'SimpleNamespace'")):  # fmt: skip
        for solve in (
            lambda: heddle.cg(A, b, M=M), lambda: heddle.cg(A, b, x0="Mb", M=M),
            lambda: heddle.solve(A, b, preconditioner=M)):  # fmt: skip
            with pytest.raises(heddle.UsageError, match=call):
                solve()
    with pytest.raises(heddle.SizeError, match=r"M has the shape \(5, 5\), not \(6, 6\)"):
        heddle.cg(A, b, M=np.eye(5))
    # The calls that the messages name.
    assert heddle.cg(A, b, M=factors.solve)[1] == 0
    assert heddle.solve(A, b, preconditioner=factors.solve).converged
    inner = heddle.Solver(A, maxiter=3)
    outer = heddle.Solver(A, "fgmres", lambda r: inner.solve(r).x, varies=True)
    assert outer.solve(b).converged


def test_several_right_hand_sides_are_rows_or_columns():
    rng = np.random.default_rng()
    dirac = heddle.generate("dirac", 100)
    for matrix, shape in ((A, (6,)), (dirac, (dirac.shape[0], 4))):
        solver = heddle.Solver(matrix)
        rows = rng.standard_normal((3, *shape))
        expected = np.stack([result.x for result in solver.solve_all(rows)])
        columns = np.ascontiguousarray(rows.swapaxes(0, 1))
        for out in (None, np.zeros_like(columns), np.zeros_like(rows)):
            found = solver.solve_all(columns, out, x0=np.zeros_like(rows))
            np.testing.assert_array_equal(np.stack([result.x for result in found]), expected)
            if out is not None:
                whole = expected if out.shape == expected.shape else expected.swapaxes(0, 1)
                np.testing.assert_array_equal(out, whole)
        out = np.ascontiguousarray(expected.swapaxes(0, 1))
        assert max(one.iterations for one in solver.solve_all(columns, out, x0=out)) == 0
        for several in (rows, columns):
            with pytest.raises(heddle.SizeError, match="solve_all"):
                solver.solve(several)
            with pytest.raises(heddle.SizeError, match="solve_all"):
                heddle.solve(matrix, several)
    square = rng.standard_normal((6, 6))  # one system per row, as documented
    solver, X = heddle.Solver(A), np.linalg.solve(A.toarray(), square)
    np.testing.assert_allclose(solver.solve_all(square)[1].x, np.linalg.solve(A.toarray(), square[1]))
    for k, result in enumerate(solver.solve_all(square.T)):
        np.testing.assert_allclose(result.x, X[:, k], rtol=1e-7, atol=1e-9)


def test_null_spaces_are_rows_or_columns():
    graph = sp.block_diag([line(4), line(5)]).tolil()
    for i in (0, 3, 4, 8):
        graph[i, i] = 1
    kernel = np.zeros((9, 2))
    kernel[:4, 0] = kernel[4:, 1] = 1
    right = np.random.default_rng(1).standard_normal(9)
    found = [heddle.Solver(graph.tocsr(), null_space=of).solve(right) for of in (kernel, kernel.T.copy())]
    assert found[0].converged
    np.testing.assert_array_equal(found[0].x, found[1].x)


def test_candidates_are_rows_or_columns():
    E = heddle.generate("elasticity", 500)
    n = E.shape[0]
    right = np.random.default_rng(1).standard_normal((n, 3))
    rows = np.zeros((6, n, 3))
    for k in range(3):
        rows[k, :, k] = 1
    rows[3:] = np.random.default_rng(2).standard_normal((3, n, 3))
    flat = rows.reshape(6, -1)
    expected = heddle.Solver(E, "cg", "multigrid", candidates=rows).solve(right)
    for same in (flat, flat.T, flat.T.copy()):
        found = heddle.Solver(E, "cg", "multigrid", candidates=same).solve(right)
        np.testing.assert_array_equal(found.x, expected.x)
    with pytest.raises(heddle.SizeError, match=rf"not \(k, {n}, 3\), \(k, {3 * n}\) or \({3 * n}, k\)"):
        heddle.Solver(E, "cg", "multigrid", candidates=np.ones((n, 6)))
    P = heddle.generate("poisson", 500)
    m = P.shape[0]
    for wanted in (np.ones((1, m)), np.ones((m, 1)), np.ones(m)):
        assert heddle.Solver(P, "cg", "multigrid", candidates=wanted).solve(np.ones(m)).converged
    with pytest.raises(heddle.SizeError, match=rf"not \(k, {m}\) or \({m}, k\)"):
        heddle.Solver(P, "cg", "multigrid", candidates=np.ones((m - 1, 2)))


def test_coordinates_of_a_matrix_of_numbers_name_the_blocks():
    E = heddle.generate("elasticity", 300)
    n = E.shape[0]
    numbers = sp.bsr_array((E.data, E.indices, E.indptr)).tocsr()
    points = np.random.default_rng(1).standard_normal((n, 3))
    with pytest.raises(heddle.UsageError, match=r"A.tobsr\(\(3, 3\)\).*heddle.fold\(A, 'block3'\)"):
        heddle.Solver(numbers, "cg", "multigrid", coordinates=points)
    right = np.ones(3 * n)
    for blocks in (numbers.tobsr((3, 3)), heddle.fold(numbers, "block3")):
        assert heddle.Solver(blocks, "cg", "multigrid", coordinates=points).solve(right).converged
    with pytest.raises(heddle.SizeError, match="a point for each row"):
        heddle.Solver(E, "cg", "multigrid", coordinates=points[:-1])


def test_numbers_that_are_blocks_are_reported_where_that_takes_long():
    E = heddle.generate("elasticity", 2000)
    numbers = sp.bsr_array((E.data, E.indices, E.indptr)).tocsr()
    right = np.random.default_rng(1).standard_normal(numbers.shape[0])
    solver = heddle.Solver(numbers, "cg", None)
    result = solver.solve(right)
    assert result.iterations >= 100
    assert "rows come in threes" in result.detail and "block3" in result.detail
    assert heddle.Solver(E, "cg", None).solve(right).detail == ""
    assert heddle.Solver(numbers, "cg", None, maxiter=99).solve(right).detail == ""


def test_results_tell_why():
    result = heddle.solve(-1.0 * A, b, method="cg", preconditioner=None)
    assert result.status == "indefinite"
    assert result.detail == "p* A p is negative: the matrix is not positive definite"
    assert result.detail in repr(result) and result.detail in result._repr_html_()
    assert heddle.solve(A, b).detail == ""
    skew = np.array([[2.0, 1], [0, 2]])
    several = heddle.Solver(skew, "cg").solve_all(np.ones((2, 2)))
    assert [one.status for one in several] == ["not Hermitian"] * 2
    assert all("BiCGStab" in one.detail for one in several)
    on_ranks = heddle.Solver(skew, "cg", ranks=2).solve(np.ones(2))
    assert on_ranks.detail == several[0].detail


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_matrix_of_no_numbers_names_the_first(wrong):
    whole = A.toarray()
    whole[2, 3] = whole[4, 4] = wrong
    for options in ({}, {"method": "cg"}, {"preconditioner": None}, {"method": "gmres"}):
        result = heddle.solve(whole, b, **options)
        assert not result.converged, result
        if result.status == "not finite":
            assert "row 2, column 3" in result.detail
    assert heddle.solve(whole, b).status == "not finite"
    with pytest.raises(heddle.UsageError, match="row 0, column 0"):
        heddle.solve(np.full((2, 2), wrong), np.ones(2), preconditioner="jacobi")
    result = heddle.solve(A, np.full(6, wrong))
    assert result.detail == "the right-hand side is not finite"


def saddle_point(n=20, constraints=4, seed=1):
    """Symmetric and indefinite, with zeros on the diagonal that are stored, or not."""
    rng = np.random.default_rng(seed)
    C = sp.random_array((constraints, n), density=0.5, rng=rng).tocsr()
    return sp.block_array([[line(n), C.T], [C, None]]).tocsr()


def test_a_diagonal_with_zeros_and_holes_is_no_obstacle():
    K = saddle_point()
    rng = np.random.default_rng(2)
    right = rng.standard_normal(K.shape[0])
    stored = (K + 0 * sp.eye_array(K.shape[0])).tocsr()
    skewed = K.copy()
    skewed.data *= rng.uniform(0.9, 1.1, K.nnz)
    for matrix, method in ((K, "minres"), (stored, "minres"), (skewed, None)):
        solver = heddle.Solver(matrix, rtol=1e-8)
        assert solver.preconditioner == "jacobi"
        result = solver.solve(right)
        assert result.converged, result
        assert method is None or result.method == method
        assert np.linalg.norm(right - matrix @ result.x) <= 1.01e-8 * np.linalg.norm(right)
        assert all(one.converged for one in solver.solve_all([right, -right]))
        assert heddle.solve(matrix, right, rtol=1e-8, ranks=2).converged
    adjacency = sp.diags_array([np.ones(19), np.ones(19)], offsets=[-1, 1]).tocsr()
    solver = heddle.Solver(adjacency, rtol=1e-8)
    assert solver.preconditioner == "none"
    result = solver.solve(rng.standard_normal(20))
    assert result.converged and "no diagonal entry has an inverse" in result.detail
    assert heddle.Solver(A).preconditioner == "jacobi"


def test_another_method_takes_over_where_none_was_named():
    n = 30
    # Positive on the diagonal, and so close to definite that a brief check does not notice.
    values = np.linspace(1, 2, n)
    values[-1] = -1e-3
    rng = np.random.default_rng(3)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    hidden = Q * values @ Q.T
    hidden = (hidden + hidden.T) / 2
    right, guess = rng.standard_normal((2, n))
    for method in ("cg", "minres"):
        solver = heddle.Solver(hidden, preconditioner=None, rtol=1e-9)
        solver.method = method  # stands for an automatic choice
        solver._begin()
        out = guess.copy()
        result = solver.solve(right, out, x0=out)
        assert result.converged and result.x is out, result
        assert result.method == "minres"
        took_over = "minres took over: conjugate gradient found the matrix indefinite after"
        assert (took_over in result.detail) == (method == "cg")
    solver = heddle.Solver(hidden, "cg", None)
    assert solver.solve(right).status == "indefinite" and solver.method == "cg"
    solver = heddle.Solver(hidden, preconditioner=None, rtol=1e-9)
    solver.method = "cg"
    solver._begin()
    assert [one.converged for one in solver.solve_all([right, guess])] == [True, True]
    assert solver.method == "minres"
