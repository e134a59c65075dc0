"""heddle.Matrix beside SciPy, and beside products of quaternions written out."""

import math
import pathlib
import threading

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import heddle


def random_sparse(n, dtype=np.float64, seed=1, columns=None):
    rng = np.random.default_rng(seed)
    A = sp.random(n, columns or n, 0.2, "csr", rng=rng).astype(dtype)
    if A.dtype.kind == "c":
        A.data += 1j * rng.random(A.nnz).astype(A.real.dtype)
    return A


def hamilton(a, b):
    """Quaternions w, x, y, z."""
    w, x, y, z = np.moveaxis(a, -1, 0)
    v, i, j, k = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            w * v - x * i - y * j - z * k,
            w * i + x * v + y * k - z * j,
            w * j - x * k + y * v + z * i,
            w * k + x * j - y * i + z * v,
        ],
        -1,
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dense"])
def test_takes_scipys_forms(dtype, form):
    A = random_sparse(23, dtype, columns=17)
    B = heddle.Matrix(A.toarray() if form == "dense" else A.asformat(form))
    assert B.shape == (23, 17) and B.dtype == dtype and B.nnz == A.nnz
    x = np.random.default_rng(2).random(17).astype(dtype)
    y = np.random.default_rng(3).random(23).astype(dtype)
    scale = 1e-5 if B.precision == "single" else 1e-13
    np.testing.assert_allclose(B @ x, A @ x, rtol=scale, atol=scale)
    np.testing.assert_allclose(B.H @ y, A.conj().T @ y, rtol=scale, atol=scale)
    assert (B @ x).dtype == dtype


@pytest.mark.parametrize("size", [2, 3, 4, 6])
def test_blocks_of_bsr_are_entries(size):
    A = sp.random(5 * size, 5 * size, 0.3, "csr", rng=np.random.default_rng(4)).tobsr((size, size))
    B = heddle.Matrix(A)
    assert B.entry == f"block{size}" and B.shape == (5, 5)
    x = np.random.default_rng(5).random(5 * size)
    np.testing.assert_allclose(B @ x, A @ x, rtol=1e-13)
    np.testing.assert_allclose(B @ x.reshape(5, size), (A @ x).reshape(5, size), rtol=1e-13)
    np.testing.assert_array_equal(B.data, A.data)


def test_other_blocks_are_taken_apart():
    A = sp.random(10, 10, 0.5, "csr", rng=np.random.default_rng(6)).tobsr((5, 5))
    assert heddle.Matrix(A).entry == "real"
    complex_blocks = sp.bsr_array(A.toarray() + 1j, blocksize=(2, 2))
    assert heddle.Matrix(complex_blocks).entry == "complex"


def test_quaternions_multiply_as_hamilton_says():
    rng = np.random.default_rng(7)
    data, x = rng.standard_normal((6, 4)), rng.standard_normal((3, 4))
    row, column = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 2, 0, 2])
    A = heddle.Matrix((data, (row, column)), shape=(3, 3))
    assert A.entry == "quaternion"
    expected = np.zeros((3, 4))
    np.add.at(expected, row, hamilton(data, x[column]))
    np.testing.assert_allclose(A @ x, expected, rtol=1e-14, atol=1e-15)
    adjoint = np.zeros((3, 4))
    np.add.at(adjoint, column, hamilton(data * [1, -1, -1, -1], x[row]))
    np.testing.assert_allclose(A.H @ x, adjoint, rtol=1e-14, atol=1e-15)


def test_takes_quaternions_of_numpy_quaternion():
    quaternion = pytest.importorskip("quaternion")
    rng = np.random.default_rng(9)
    data, x = rng.standard_normal((5, 4)), rng.standard_normal((5, 4))
    places, shape = (np.arange(5), np.arange(5)), (5, 5)
    A = heddle.Matrix((quaternion.as_quat_array(data), places), shape)
    product = quaternion.as_quat_array(data) * quaternion.as_quat_array(x)
    expected = quaternion.as_float_array(product)
    np.testing.assert_allclose(A @ quaternion.as_quat_array(x), expected, rtol=1e-14, atol=1e-15)
    result = heddle.solve(A, product, method="bicgstab")
    np.testing.assert_allclose(result.x, x, rtol=1e-8)


def test_takes_rotations_of_scipy():
    rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    q = rotation.from_rotvec([[0, 0, np.pi / 2], [np.pi, 0, 0]])
    A = heddle.Matrix((q, ([0, 1], [0, 1])), (2, 2))  # x, y, z, w there
    np.testing.assert_allclose(A.data[0], [np.sqrt(0.5), 0, 0, np.sqrt(0.5)], atol=1e-15)
    np.testing.assert_allclose(np.roll(A.data, -1, axis=-1), q.as_quat())
    np.testing.assert_allclose(heddle.solve(A, q, method="bicgstab").x, [[1, 0, 0, 0]] * 2, atol=1e-9)


def test_numbers_of_one_place_are_added_and_order_is_free():
    A = sp.coo_array(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    B = heddle.Matrix(A)
    np.testing.assert_array_equal(B @ np.array([1.0, 10.0]), [30.0, 4.0])
    not_canonical = sp.csr_array(([1.0, 2.0, 4.0], [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    np.testing.assert_array_equal(heddle.Matrix(not_canonical) @ np.ones(2), [3.0, 4.0])
    assert not_canonical.nnz == 3  # the caller's matrix is unchanged


def test_arrays_are_views_that_keep_the_matrix():
    A = heddle.generate("dirac", 100)
    data, indices = A.data, A.indices
    assert data.shape == (A.nnz, 4) and data.base is not None
    with pytest.raises(ValueError):
        data[0, 0] = 1
    rebuilt = heddle.Matrix((data, indices, A.indptr), shape=A.shape)
    del A
    x = np.random.default_rng(8).random((rebuilt.shape[1], 4))
    np.testing.assert_array_equal(rebuilt @ x, heddle.generate("dirac", 100) @ x)
    np.testing.assert_array_equal(data, rebuilt.data)


@pytest.mark.parametrize("problem", ["poisson", "elasticity", "helmholtz", "dirac"])
@pytest.mark.parametrize("end", [".npz", ".mtx.gz"])
def test_files_keep_the_bits(tmp_path, problem, end):
    A = heddle.generate(problem, 60)
    heddle.write(tmp_path / f"A{end}", A)
    B = heddle.read(tmp_path / f"A{end}", A.entry)
    np.testing.assert_array_equal(A.data, B.data)
    assert heddle.read(tmp_path / f"A{end}", A.entry, precision="single").precision == "single"


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia", "bsr"])
@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "<i2", ">u2", "<i8", ">f4", "<f8", ">c8", "<c16"])
def test_scipys_files_are_read(tmp_path, form, dtype):
    rng = np.random.default_rng(9)
    A = sp.random(12, 10, 0.3, "csr", rng=rng)
    A.data = np.ceil(9 * A.data)
    A = sp.csr_array(A.astype(np.dtype(dtype).newbyteorder("=")))
    stored = A.asformat(form)
    stored.data = stored.data.astype(dtype)
    sp.save_npz(tmp_path / "A.npz", stored, compressed=dtype != "?")
    B = heddle.read(tmp_path / "A.npz")
    assert B.entry == ("complex" if "c" in dtype else "real")
    np.testing.assert_array_equal(B @ np.eye(10)[:, 0], A.astype(B.dtype).toarray()[:, 0])


def test_matrix_market_as_scipy_writes_it(tmp_path):
    rng = np.random.default_rng(10)
    general = rng.random((4, 4))
    hermitian = general + 1j * rng.random((4, 4))
    for dense in (general, general + general.T, general - general.T, hermitian + hermitian.conj().T,
                  np.ones((1, 1)), np.arange(16, dtype=np.uint32).reshape(4, 4)):
        for A in (dense, sp.coo_array(dense)):
            scipy.io.mmwrite(tmp_path / "A.mtx", A)
            B = heddle.read(tmp_path / "A.mtx")
            for k in range(dense.shape[1]):
                e = np.eye(dense.shape[1])[k].astype(B.dtype)
                np.testing.assert_allclose(B @ e, dense[:, k], rtol=1e-14)


def test_damaged_files_are_refused(tmp_path):
    heddle.write(tmp_path / "A.npz", heddle.generate("poisson", 30))
    whole = bytearray((tmp_path / "A.npz").read_bytes())
    whole[whole.index(b"data.npy") + 8 + 128 + 7] ^= 0x80
    (tmp_path / "B.npz").write_bytes(whole)
    with pytest.raises(heddle.FileError, match="is damaged"):
        heddle.read(tmp_path / "B.npz")


def test_tall_matrices_of_entries_come_back(tmp_path):
    data = np.random.default_rng(11).random((40, 4))
    rows, columns = np.divmod(np.arange(40), 2)
    A = heddle.Matrix((data, (rows, columns)), shape=(20, 5))
    heddle.write(tmp_path / "A.mtx", A)
    B = heddle.read(tmp_path / "A.mtx", "quaternion")
    assert B.shape == (20, 5)
    np.testing.assert_array_equal(B.data, A.data)


def test_new_values_reach_products_and_adjoints():
    A = heddle.Matrix(np.diag([1.0, 2.0]))
    adjoint = A.H
    A @ np.ones(2)
    A.update_values(np.array([3.0, 5.0]))
    np.testing.assert_array_equal(A @ np.ones(2), [3.0, 5.0])
    np.testing.assert_array_equal(adjoint @ np.ones(2), [3.0, 5.0])
    np.testing.assert_array_equal(A.data, [3.0, 5.0])
    with pytest.raises(heddle.SizeError):
        A.update_values(np.ones(3))


def test_unsorted_rows_keep_the_callers_order():
    A = random_sparse(40)
    B = (A.T @ A).tocsr()
    for i in range(40):  # each row backwards
        row = slice(B.indptr[i], B.indptr[i + 1])
        B.indices[row], B.data[row] = B.indices[row][::-1].copy(), B.data[row][::-1].copy()
    B.has_sorted_indices = B.has_canonical_format = False
    C = heddle.Matrix(B)
    np.testing.assert_array_equal(C.data, B.data)
    x = np.random.default_rng(1).random(40)
    np.testing.assert_allclose(C @ x, B @ x, rtol=1e-13)


def test_arrays_of_other_kinds_are_converted():
    A = random_sparse(12)
    swapped = heddle.Matrix((A.data.astype(">f8"), A.indices, A.indptr.astype(np.uint64)), A.shape)
    np.testing.assert_array_equal(swapped.data, A.data)
    assert heddle.Matrix(([], ([], [])), shape=(2, 2)).nnz == 0
    x = np.frombuffer(b"." + np.arange(12.0).tobytes(), np.uint8)[1:].view(np.float64)
    assert not x.flags.aligned
    np.testing.assert_array_equal(swapped @ x, swapped @ np.arange(12.0))
    with pytest.raises(TypeError, match="integer"):
        heddle.Matrix(([1.0], ([0], [0])), shape=(2.0, 2))
    single = heddle.Matrix(np.eye(2, dtype=np.float32))
    with pytest.raises(heddle.UnsupportedError, match="int64"):  # 2^24 + 1 is no float
        single @ np.array([2**24 + 1, 0])


def test_only_shapes_of_a_vector_are_taken():
    A = heddle.generate("dirac", 100)
    n = A.shape[0]
    x = np.random.default_rng(1).random((n, 4))
    y = A @ x
    np.testing.assert_array_equal(A @ x.reshape(-1), y.reshape(-1))
    for wrong in (x.T, x.reshape(-1, 1)[1:], x.reshape(n, 2, 2), x[None], x[:-1]):
        with pytest.raises(heddle.SizeError, match="x has the shape"):
            A @ wrong
    B = heddle.Matrix(np.ones((3, 4)))
    assert (B @ np.ones(4)).shape == (3,) and (B @ np.ones((4, 1))).shape == (3, 1)
    with pytest.raises(heddle.SizeError):
        B @ np.ones((2, 2))
    C = heddle.Matrix((np.ones((6, 4)), (np.arange(6), np.arange(6))), shape=(6, 6))
    C.update_values(np.zeros(24))
    with pytest.raises(heddle.SizeError, match="data has the shape"):
        C.update_values(np.ones((4, 6)))
    assert not C.data.any()


def test_new_values_miss_no_operator_of_another_thread():
    A = heddle.Matrix(np.diag([1.0, 2.0]))
    errors = []

    def make(first):
        try:
            for threads in range(first, 200, 2):
                A.operator(threads=threads % 50 + 1)
        except Exception as error:
            errors.append(error)

    makers = [threading.Thread(target=make, args=(k,)) for k in range(2)]
    for thread in makers:
        thread.start()
    for k in range(200):
        A.update_values([1.0 + k, 2.0])
    for thread in makers:
        thread.join()
    assert not errors
    A.update_values([5.0, 7.0])
    assert len(A._operators) == 50
    for operator in A._operators.values():
        y = np.empty(2)
        operator.apply(np.ones(2), y)
        np.testing.assert_array_equal(y, [5.0, 7.0])


def test_profiles_come_along():
    folder = pathlib.Path(heddle.__file__).parent / "share" / "heddle" / "profiles"
    assert list(folder.glob("*.json"))


def test_info_tells_features():
    info = heddle.generate("dirac", 200).info()
    assert info["symmetric_pattern"] and info["hermitian_defect"] == 0
    assert info["longest_row"] == 7 and info["entry"] == "quaternion"


@pytest.mark.parametrize(
    ("source", "shape", "error"),
    [
        ((np.ones((2, 5)), ([0, 1], [0, 1])), (2, 2), heddle.UsageError),
        ((np.ones(2), ([0, 1], [0, 1])), None, heddle.UsageError),
        ((np.ones(2), ([0, 2], [0, 1])), (2, 2), heddle.SizeError),
        ((np.ones(2), ([0, -1], [0, 1])), (2, 2), heddle.SizeError),
        ((np.ones(3), ([0, 1], [0, 1])), (2, 2), heddle.SizeError),
        ((np.ones(2), [0, 1], [0, 1]), (2, 2), heddle.SizeError),
        ((np.ones(2), [0, 1], [0, 1, 3]), (2, 2), heddle.SizeError),
        ((np.ones(2), [0, 1], [1, 0, 2]), (2, 2), heddle.UsageError),
        ((np.ones(2, np.longdouble), ([0, 1], [0, 1])), (2, 2), heddle.UnsupportedError),
        ((np.array(["a", "b"]), ([0, 1], [0, 1])), (2, 2), heddle.UnsupportedError),
        ((np.ones(2), ([0.5, 1], [0, 1])), (2, 2), TypeError),
        (np.ones(3), None, heddle.UsageError),
    ],
)
def test_refuses_what_is_no_matrix(source, shape, error):
    with pytest.raises(error):
        heddle.Matrix(source, shape)


def spoiled(form, dtype, spoil):
    A = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(6, 6)).tocsr().astype(dtype)
    blocks = {"bsr": (2, 2), "rows": (1, 6)}
    given = A.tobsr(blocks[form]) if form in blocks else A.asformat(form)
    spoil(given)
    return given


def put(name, place, number):
    def spoil(A):
        getattr(A, name)[place] = number

    return spoil


def shorten(name):
    return lambda A: setattr(A, name, getattr(A, name)[:-2])


@pytest.mark.parametrize("dtype", [np.float64, np.int32])  # the second one is converted by SciPy
@pytest.mark.parametrize(
    ("form", "spoil", "words"),
    [
        ("csr", put("indptr", 3, 10**6), r"indptr\[3\] is 1000000, but there are 16 entries"),
        ("csr", put("indptr", 2, 1), r"indptr\[2\] is 1, less than indptr\[1\], 2|decrease at row 1"),
        ("csr", put("indptr", 0, -3), "begin.* with -3 instead of 0"),
        ("csr", put("indptr", -1, 10**6), "1000000, but there are 16 entries"),
        ("csr", put("indices", 2, -5), "row 1 names column -5, but there are 6 columns"),
        ("csr", put("indices", 7, 6), "row 2 names column 6, but there are 6 columns"),
        ("csr", shorten("indptr"), "indptr has 5 numbers, but the matrix 6 rows"),
        ("csr", shorten("data"), "there are 1[46] "),
        ("csr", shorten("indices"), "there are 14 "),
        ("csc", put("indptr", 3, 10**6), r"indptr\[3\] is 1000000, but there are 16 entries"),
        ("csc", put("indptr", 2, 1), r"indptr\[2\] is 1, less than indptr\[1\], 2"),
        ("csc", put("indices", 2, -5), "column 1 names row -5, but there are 6 rows"),
        ("csc", put("indices", -1, 6), "column 5 names row 6, but there are 6 rows"),
        ("csc", shorten("data"), r"indptr\[6\] is 16, but there are 14 entries"),
        ("bsr", put("indptr", 1, 10**6), r"indptr\[1\] is 1000000, but there are 7 entries"),
        ("bsr", put("indices", 1, 3), "row 0 names column 3, but there are 3 columns"),
        ("rows", put("indices", 4, -1), "row 4 names column -1, but there are 1 columns"),
        ("rows", put("indptr", 2, 10**6), r"indptr\[2\] is 1000000, but there are 6 entries"),
        ("coo", put("row", 2, -5), "entry 2 names row -5, but there are 6 rows"),
        ("coo", put("col", 4, 6), "entry 4 names column 6, but there are 6 columns"),
        ("coo", shorten("data"), r"data has the shape \(14,\), but the rows \(16,\)"),
        ("dia", shorten("offsets"), "data has 3 diagonals, but offsets 1"),
    ],
)
def test_places_that_would_end_the_process_are_named(form, dtype, spoil, words):
    calls = [heddle.Matrix, lambda A: heddle.cg(A, np.ones(6)), lambda A: heddle.solve(A, np.ones(6)),
             lambda A: heddle.lsmr(A, np.ones(6)), lambda A: heddle.fold(A, "block2")]  # fmt: skip
    for call in calls:
        with pytest.raises((heddle.SizeError, heddle.UsageError), match=words):
            call(spoiled(form, dtype, spoil))


def test_entries_after_the_last_row_are_none():
    A = random_sparse(9).tocsc()
    expected = heddle.Matrix(A)
    A.indices, A.data = np.append(A.indices, [-7, 10**6]), np.append(A.data, [1.0, 2.0])
    np.testing.assert_array_equal(heddle.Matrix(A).data, expected.data)
    with pytest.raises(heddle.UsageError, match="two dimensions, not 1"):
        heddle.Matrix(sp.coo_array(np.ones(3)))


def test_refuses_files_and_names(tmp_path):
    with pytest.raises(FileNotFoundError, match="No such file") as absent:
        heddle.read(tmp_path / "absent.mtx")
    assert isinstance(absent.value, heddle.FileError)
    (tmp_path / "broken.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1 1\n")
    with pytest.raises(heddle.FileError, match="broken.mtx:2"):
        heddle.read(tmp_path / "broken.mtx")
    with pytest.raises(heddle.UsageError, match="there are: real, complex"):
        heddle.read(tmp_path / "broken.mtx", "octonion")
    with pytest.raises(heddle.UsageError, match="not quaternion"):
        heddle.Matrix(np.eye(2), entry="quaternion")
    with pytest.raises(heddle.SizeError):
        heddle.Matrix(np.eye(2)) @ np.ones(3)
    with pytest.raises(heddle.UnsupportedError, match="complex128"):
        heddle.Matrix(np.eye(2)) @ np.ones(2, complex)
    with pytest.raises(heddle.UnsupportedError, match="no adjoint"):
        heddle.Matrix((np.ones((1, 8)), ([0], [0])), shape=(1, 1)).H  # noqa: B018


def test_a_product_of_matrices_names_what_makes_one():
    for problem in ("poisson", "helmholtz", "elasticity", "dirac"):
        A = heddle.generate(problem, 60)
        for left, right in ((A, A), (A.H, A), (A, A.H), (A.H, A.H)):
            with pytest.raises(heddle.UnsupportedError, match=r"A\.tocsr\(\) is a matrix of SciPy"):
                left @ right
        x = np.random.default_rng(1).random(A.tocsr().shape[1]).astype(A.dtype)
        product = A.tocsr() @ A.tocsr()
        np.testing.assert_allclose(product @ x, A @ (A @ x), rtol=1e-9, atol=1e-9)


def edits_of(rng, taken, n, entry):
    """Places of a matrix and beside it: values and places to set and to add, places to remove."""
    there = rng.permutation(np.argwhere(taken))
    free = rng.permutation(np.argwhere(~taken))
    set_at, add_at = np.vstack([there[:5], free[:4]]).T, np.vstack([there[5:9], free[4:9]]).T
    return set_at, add_at, there[9:15].T, rng.standard_normal((9, *entry)), rng.standard_normal(
        (9, *entry)
    )


@pytest.mark.parametrize("entry", [(), (4,), (3, 3)])
def test_edits_are_those_of_a_dense_array(entry):
    rng = np.random.default_rng()
    n, columns = 13, 17
    dense = rng.standard_normal((n, columns, *entry))
    taken = rng.random((n, columns)) < 0.3
    row, column = np.nonzero(taken)
    mixed = rng.permutation(len(row))  # rows of a matrix need not be in the order of columns
    row, column = row[mixed], column[mixed]
    A = heddle.Matrix((dense[row, column], (row, column)), shape=(n, columns))
    set_at, add_at, gone, to_set, to_add = edits_of(rng, taken, n, entry)
    B = A.edited(set=(to_set, tuple(set_at)), add=(to_add, tuple(add_at)), remove=tuple(gone))

    dense[~taken] = 0
    before = dense.copy()
    dense[tuple(set_at)] = to_set
    dense[tuple(add_at)] += to_add
    dense[tuple(gone)] = 0
    taken[tuple(set_at)] = taken[tuple(add_at)] = True
    taken[tuple(gone)] = False
    for matrix, expected in ((A, before), (B, dense)):
        at = np.repeat(np.arange(n), np.diff(matrix.indptr)), matrix.indices
        again = np.zeros_like(dense)
        again[at] = matrix.data
        assert (again == expected).all()
    assert B.nnz == taken.sum() and B.entry == A.entry and B.dtype == A.dtype


def test_edited_matrix_solves_in_a_tree():
    A = heddle.generate("poisson", 400)
    n = A.shape[0]
    every = np.arange(n)
    B = A.edited(add=(np.ones(n), (every, every)))
    b = np.ones(n)
    x = heddle.Solver(B, "cg", storage="hisparse", rtol=1e-12).solve(b).x
    assert np.linalg.norm(A @ x + x - b) <= 1e-11 * np.linalg.norm(b)


def test_bad_edits_are_refused():
    A = heddle.Matrix(np.diag([1.0, 2.0]))
    one = np.ones(1)
    for edits, error, message in (
        ({"remove": ([0], [1])}, heddle.UsageError, "no entry at row 0, column 1"),
        ({"remove": ([0], [2])}, heddle.SizeError, "column 2 is beyond"),
        ({"set": (one, ([-1], [0]))}, heddle.SizeError, "row -1"),
        ({"set": (one, ([0], [0])), "remove": ([0], [0])}, heddle.UsageError, "edited twice"),
        ({"add": (one, ([0, 1], [0, 1]))}, heddle.SizeError, "shape"),
        ({"add": (one * 1j, ([0], [0]))}, heddle.UnsupportedError, "complex128"),
        ({"add": one}, heddle.UsageError, "edits must be"),
    ):
        with pytest.raises(error, match=message):
            A.edited(**edits)
    assert A.edited().nnz == 2
    assert heddle.Matrix(np.ones((1, 1), np.float32)).edited(remove=([0], [0])).precision == "single"


def test_memory_is_reported():
    A = heddle.generate("elasticity", 300)
    slack = 256 * 4  # columns after the last entry
    csr = A.nnz * (9 * 8 + 4) + slack + (A.shape[0] + 1) * 8
    assert A.memory("CSR") == (csr, csr)
    assert A.memory("ELL")[0] >= A.nnz * (9 * 8 + 4)
    product, total = A.memory(storage="hisparse", node=16)
    assert A.nnz * 9 * 8 < product < total
    assert A.memory(storage="hisparse", node=16, dense=1)[0] > product
    assert A.memory(storage="hisparse", node=16, dense="bytes") == (product, total)
    for bad in ({"plan": "nonsense"}, {"storage": "heap"}, {"plan": "CSR", "storage": "hisparse"}):
        with pytest.raises(heddle.UsageError):
            A.memory(**bad)
    wide = heddle.Matrix(np.ones((2, 3)))
    assert wide.memory("CSR") == (6 * 12 + slack + 3 * 8,) * 2


@pytest.mark.parametrize("kind", list(heddle._arrays._entry_shapes))
def test_expansions_are_folded(kind):
    rng = np.random.default_rng(7)
    row, column = np.array([0, 0, 1, 2]), np.array([0, 2, 1, 2])
    shape = heddle._arrays._entry_shapes[kind]
    data = rng.standard_normal((4, *shape))
    if "complex" in kind:
        data = data + 1j * rng.standard_normal((4, *shape))
    A = heddle.Matrix((data, (row, column)), (3, 3))
    assert A.entry == kind
    scalars = A.dtype.kind == "c" and 2 or 1
    size = scalars * math.prod(heddle._arrays._row_shapes[kind])
    units = np.eye(3 * size)
    images = [A @ (unit.view(complex) if scalars == 2 else unit) for unit in units]
    dense = np.stack([np.ascontiguousarray(image).view(float).ravel() for image in images], axis=1)
    for whole in (dense, sp.csr_array(dense), sp.coo_array(dense.astype(np.float32))):
        folded = heddle.fold(whole, kind)
        assert folded.entry == kind and folded.shape == (3, 3) and folded.nnz == 4
        np.testing.assert_allclose(folded.data, data, rtol=1e-6)
    if shape not in ((), *((n, n) for n in (2, 3, 4, 6))) or kind == "complex":
        dense[0, 1 if kind == "complex" else 3] += 1
        with pytest.raises(heddle.UnsupportedError, match=f"row 0, column 0 is not a {kind} entry"):
            heddle.fold(dense, kind)
    with pytest.raises(heddle.SizeError if size > 1 else heddle.UsageError):
        heddle.fold(dense[1:], kind if size > 1 else "number")
