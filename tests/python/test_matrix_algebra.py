"""Matrices made from matrices, and their forms in SciPy, next to dense arrays."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import heddle

data_shapes = {
    "real": (), "complex": (), "quaternion": (4,), "dual-quaternion": (8,), "block2": (2, 2),
    "block3": (3, 3), "block4": (4, 4), "block6": (6, 6), "complex-block3": (3, 3)}  # fmt: skip
every_entry = pytest.mark.parametrize("entry", data_shapes)
scale = {"single": 2e-5, "double": 1e-12}


def random_matrix(entry, rng, precision="double", rows=7, columns=5):
    shape = data_shapes[entry]
    places = rng.permutation(np.argwhere(rng.random((rows, columns)) < 0.4)).T
    data = rng.standard_normal((places.shape[1], *shape))
    if "complex" in entry:
        data = data + 1j * rng.standard_normal(data.shape)
    if precision == "single":
        data = data.astype(np.complex64 if "complex" in entry else np.float32)
    A = heddle.Matrix((data, tuple(places)), (rows, columns))
    assert (A.entry, A.precision) == (entry, precision)
    return A


def dense(A):
    """The matrix of the numbers of A's vectors, by products with unit vectors."""
    size = A.tocsr().shape[1]
    return np.stack([A @ e for e in np.eye(size, dtype=A.dtype)], 1)


@every_entry
@pytest.mark.parametrize("precision", ["single", "double"])
def test_scipys_forms_act_like_the_entries(entry, precision):
    A = random_matrix(entry, np.random.default_rng(), precision)
    for form in (A.tocsr(), A.tobsr()):
        assert form.dtype == A.dtype
        np.testing.assert_allclose(form.toarray(), dense(A), atol=scale[precision])
    np.testing.assert_array_equal(A.toarray(), A.tobsr().toarray())
    form = A.tobsr()
    size = form.blocksize[0]
    assert A.tocsr().nnz == A.nnz * size**2 and form.shape == (7 * size, 5 * size)
    form.data[...] = 0  # a copy
    assert np.abs(A.data).max() > 0


@every_entry
def test_entries_come_back_from_scipy(entry):
    A = random_matrix(entry, np.random.default_rng())
    if entry == "complex-block3":
        B = heddle.Matrix(A.tobsr())
    elif entry == "complex":
        B = heddle.Matrix(A.tocsr())
    else:
        B = heddle.fold(A.tocsr(), entry)
        assert (heddle.fold(heddle.Matrix(A.tocsr()), entry).data == B.data).all()
    assert B.entry == entry
    np.testing.assert_allclose(B.data, A.data, atol=1e-13)
    np.testing.assert_array_equal(B.indices, A.indices)


@every_entry
def test_sums_and_multiples(entry):
    rng = np.random.default_rng()
    A, B = random_matrix(entry, rng), random_matrix(entry, rng)
    same = heddle.Matrix((B.data[:1] * np.ones_like(A.data), A.indices, A.indptr), A.shape)
    for other in (B, same):
        np.testing.assert_allclose(dense(A + other), dense(A) + dense(other), atol=1e-13)
        np.testing.assert_allclose(dense(A - other), dense(A) - dense(other), atol=1e-13)
    places = {(i, j) for one in (A, B) for i, j in zip(*sp.csr_array(
        (np.ones(one.nnz), one.indices, one.indptr), one.shape).nonzero())}  # fmt: skip
    assert (A + B).nnz == len(places) and (A + B).entry == entry
    for factor in (3, -0.5, np.float64(2), np.array(2.0), True):
        np.testing.assert_array_equal((factor * A).data, A.data * factor)
        np.testing.assert_array_equal((A * factor).data, A.data * factor)
        np.testing.assert_array_equal((A / factor).data, A.data / factor)
    np.testing.assert_array_equal((-A).data, -A.data)
    single = random_matrix(entry, rng, "single")
    assert (2 * single).precision == "single" and (single + A).precision == "double"


def test_sums_with_scipys_matrices_and_other_numbers():
    rng = np.random.default_rng()
    for entry in ("real", "complex", "block3", "complex-block3"):
        A = random_matrix(entry, rng)
        S = sp.random_array(A.tocsr().shape, density=0.3, rng=rng)
        for form in ("csr", "csc", "coo", "bsr"):
            B = S.asformat(form)
            np.testing.assert_allclose((A + B).toarray(), A.toarray() + S.toarray())
            np.testing.assert_allclose((B + A).toarray(), A.toarray() + S.toarray())
            np.testing.assert_allclose((A - B).toarray(), A.toarray() - S.toarray())
            np.testing.assert_allclose((B - A).toarray(), S.toarray() - A.toarray())
            assert (A + B).entry == entry
    A = random_matrix("real", rng)
    assert (1j * A).entry == "complex" and (A + 1j * A).entry == "complex"
    np.testing.assert_allclose(dense(A + 1j * A), (1 + 1j) * dense(A))
    with pytest.raises(heddle.UnsupportedError, match="real entries, the other block3"):
        A + random_matrix("block3", rng)
    with pytest.raises(heddle.SizeError, match="7 x 5, the other 5 x 7"):
        A + A.T
    for wrong in (lambda: A + 1, lambda: A + np.ones((7, 5)), lambda: A * A, lambda: "2" * A,
                  lambda: A * np.ones(5), lambda: A / None, lambda: 1 / A):  # fmt: skip
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(heddle.UsageError, match="no entry has the shape"):
        1j * random_matrix("quaternion", rng)


@every_entry
def test_transposed(entry):
    A = random_matrix(entry, np.random.default_rng())
    if "quaternion" in entry:
        with pytest.raises(heddle.UnsupportedError, match=f"of {entry} entries has no transposed"):
            A.T  # noqa: B018
        return
    np.testing.assert_array_equal(A.T.toarray(), A.toarray().T)
    assert A.T.entry == entry and A.T.shape == (5, 7)
    np.testing.assert_array_equal(A.T.T.data, A.data)


@every_entry
def test_diagonal(entry):
    rng = np.random.default_rng()
    for rows, columns in ((6, 6), (7, 4), (4, 7), (0, 3)):
        A = random_matrix(entry, rng, rows=rows, columns=columns)
        expected = np.zeros((min(rows, columns), *A.data.shape[1:]), A.dtype)
        for row in range(len(expected)):
            for at in range(A.indptr[row], A.indptr[row + 1]):
                if A.indices[at] == row:
                    expected[row] = A.data[at]
        np.testing.assert_array_equal(A.diagonal(), expected)


@every_entry
@pytest.mark.parametrize("of_adjoint", [False, True])
def test_products_with_columns(entry, of_adjoint):
    rng = np.random.default_rng()
    if of_adjoint and entry == "dual-quaternion":
        return
    A = random_matrix(entry, rng)
    own = A.H if of_adjoint else A
    rows, columns = own.shape
    row = (A @ np.zeros(A.tocsr().shape[1], A.dtype)).size // 7
    for k in (0, 1, 2, 5, 7):
        X = rng.standard_normal((columns * row, k)).astype(A.dtype)
        Y = own @ X
        assert Y.shape == (rows * row, k) and Y.flags.c_contiguous
        for j in range(k):
            np.testing.assert_array_equal(Y[:, j], own @ X[:, j])
        if row > 1:  # entries in rows of their own: (n, k, row)
            apart = np.asfortranarray(X.reshape(columns, row, k).swapaxes(1, 2))
            image = Y.reshape(rows, row, k).swapaxes(1, 2)
            np.testing.assert_array_equal(own @ apart, image)
            one = X[:, :1].reshape(columns, row) if k else None
            if k:  # (n, row) is one vector
                assert (own @ one).shape == (rows, row)
    for wrong in ((columns + 1, 2), (columns, 2, row + 1), (2, columns, 3, row)):
        with pytest.raises(heddle.SizeError, match="for k columns"):
            own @ np.zeros(wrong, A.dtype)


@every_entry
@pytest.mark.parametrize("precision", ["single", "double"])
def test_copies_and_pickles(entry, precision):
    A = random_matrix(entry, np.random.default_rng(), precision)
    A @ np.zeros(A.tocsr().shape[1], A.dtype)
    made = [A.copy(), copy.copy(A), copy.deepcopy(A)]
    made += [pickle.loads(pickle.dumps(A, protocol)) for protocol in (2, 4, 5)]
    for B in made:
        assert (B.entry, B.precision, B.shape) == (A.entry, A.precision, A.shape)
        for name in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(B, name), getattr(A, name))
    before = A.data.copy()
    A.update_values(2 * A.data)
    for B in made:
        np.testing.assert_array_equal(B.data, before)
    empty = pickle.loads(pickle.dumps(random_matrix(entry, np.random.default_rng(), rows=0)))
    assert empty.entry == entry and empty.shape == (0, 5)


@every_entry
def test_a_linear_operator(entry):
    rng = np.random.default_rng()
    A = random_matrix(entry, rng)
    L = A.aslinearoperator()
    X = rng.standard_normal((L.shape[1], 3)).astype(np.float32)
    np.testing.assert_allclose(L @ X, A.toarray() @ X, atol=1e-12)
    np.testing.assert_allclose(L.matvec(X[:, 0]), A.toarray() @ X[:, 0], atol=1e-12)
    if entry != "dual-quaternion":
        Y = rng.standard_normal((L.shape[0], 2))
        np.testing.assert_allclose(L.H @ Y, A.toarray().conj().T @ Y, atol=1e-12)
        np.testing.assert_allclose(L.rmatvec(Y[:, 0]), (L.H @ Y)[:, 0], atol=1e-12)
    before = L @ X
    A.update_values(2 * A.data)
    np.testing.assert_allclose(L @ X, 2 * before)


@pytest.mark.parametrize("entry", ["real", "complex", "block3", "complex-block3"])
def test_values_come_from_matrices_of_the_same_pattern(entry):
    rng = np.random.default_rng()
    A = random_matrix(entry, rng, rows=5)
    solver = heddle.Solver(A + 20 * heddle.Matrix(sp.eye_array(A.tocsr().shape[0]).tobsr(
        (3, 3) if "block" in entry else (1, 1))), "bicgstab", rtol=1e-12)  # fmt: skip
    B = solver.A
    for form in ("csr", "csc", "coo", "bsr", "own"):
        new = heddle.Matrix(((1 + rng.random()) * B.data, B.indices, B.indptr), B.shape)
        given = new if form == "own" else new.tocsr().asformat(form)
        B.update_values(given)
        np.testing.assert_allclose(B.data, new.data)
        x = rng.standard_normal(B.tocsr().shape[0]).astype(B.dtype)
        np.testing.assert_allclose(solver.solve(new @ x).x, x, rtol=1e-9, atol=1e-9)
    backwards = [np.concatenate([array[b:e][::-1] for b, e in zip(B.indptr, B.indptr[1:])])
                 for array in (B.data, B.indices)]  # fmt: skip
    other = heddle.Matrix((3 * backwards[0], backwards[1], B.indptr), B.shape)
    assert not np.array_equal(other.indices, B.indices)
    expected = 3 * B.data
    B.update_values(other)
    np.testing.assert_array_equal(B.data, expected)


def test_values_of_another_pattern_are_refused():
    A = heddle.Matrix(np.array([[1.0, 2], [0, 3]]))
    with pytest.raises(heddle.UsageError, match="has an entry at row 1, column 0, but A has none"):
        A.update_values(sp.csr_array(np.ones((2, 2))))
    with pytest.raises(heddle.UsageError, match="has no entry at row 0, column 1, but A has one"):
        A.update_values(sp.csr_array(np.eye(2)))
    with pytest.raises(heddle.SizeError, match="2 x 2, the other 3 x 3"):
        A.update_values(sp.csr_array(np.eye(3)))
    with pytest.raises(heddle.UnsupportedError, match="complex128"):
        A.update_values(1j * A)
    broken = sp.csr_array(np.array([[1.0, 2], [0, 3]]))
    broken.indices[1] = 7
    with pytest.raises(heddle.SizeError, match="column 7"):
        A.update_values(broken)
    assert (A.data == [1, 2, 3]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [2, 3])
def test_rigid_body_modes_are_rigid_motions(d, dtype):
    rng = np.random.default_rng()
    points = (100 + rng.standard_normal((9, d)) * rng.random(d)).astype(dtype)
    modes = heddle.rigid_body_modes(points)
    count = d * (d + 1) // 2
    assert modes.shape == (count, 9, d) and modes.dtype == dtype
    close = 1e-4 if dtype == np.float32 else 1e-11
    apart = (points[:, None] - points).astype(np.float64)
    moved = modes[:, :, None] - modes[:, None]
    np.testing.assert_allclose((moved * apart).sum(-1), 0, atol=close)  # distances stay
    assert np.linalg.matrix_rank(modes.reshape(count, -1).astype(np.float64)) == count
    np.testing.assert_array_equal(modes[:d], np.eye(d)[:, None].repeat(9, 1))
    np.testing.assert_allclose(modes[d:].mean(axis=1), 0, atol=close)
    # In space each coordinate of a point takes part in two of the three rotations.
    squares = (modes[d:].astype(np.float64) ** 2).sum(axis=(0, 2))
    np.testing.assert_allclose(squares.max(), (1 if d == 2 else 2), rtol=1e-3)


def test_rigid_body_modes_are_those_of_coordinates():
    A = heddle.generate("elasticity", 2000)
    points = np.random.default_rng(3).random((A.shape[0], 3))
    b = np.ones((A.shape[0], 3))
    settings = {"method": "cg", "preconditioner": "multigrid", "rtol": 1e-8}
    modes = heddle.rigid_body_modes(points)
    results = [heddle.solve(A, b, **settings, **arrays)
               for arrays in ({"coordinates": points}, {"candidates": modes})]  # fmt: skip
    plain = heddle.solve(A, b, **settings)
    assert results[0].iterations == results[1].iterations != plain.iterations
    np.testing.assert_allclose(results[0].history, results[1].history, rtol=1e-5)


def test_rigid_body_modes_of_few_points_and_wrong_ones():
    assert heddle.rigid_body_modes(np.zeros((0, 3))).shape == (6, 0, 3)
    assert (heddle.rigid_body_modes([[5, 5, 5]])[3:] == 0).all()
    far = heddle.rigid_body_modes(np.array([[1e300, 0], [-1e300, 0]]))
    np.testing.assert_allclose(far[2], [[0, 1], [0, -1]], atol=1e-12)
    for wrong in (np.zeros(3), np.zeros((2, 4)), np.zeros((2, 3), complex)):
        with pytest.raises(heddle.SizeError, match="not real ones"):
            heddle.rigid_body_modes(wrong)
