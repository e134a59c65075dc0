"""heddle.eigsh next to dense eigenvalues."""

import numpy as np
import pytest
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import heddle


def hermitian(entry, rng, n=18, precision="double"):
    """A positive definite matrix of the entry, dense in numbers and as a ``Matrix``."""
    size = {"real": 1, "complex": 1, "quaternion": 4, "block3": 3, "complex-block3": 3}[entry]
    if entry == "quaternion":
        places = np.argwhere(np.ones((n, n)))
        data = rng.standard_normal((n * n, 4))
        A = heddle.Matrix((data, tuple(places.T)), (n, n))
        numbers = A.toarray() @ A.toarray().T / n + np.diag(np.repeat(np.arange(n), 4))
        return numbers, heddle.fold(numbers, "quaternion")
    numbers = rng.standard_normal((size * n, size * n))
    if "complex" in entry:
        numbers = numbers + 1j * rng.standard_normal(numbers.shape)
    numbers = numbers @ numbers.conj().T / n + np.diag(np.arange(size * n))
    if size > 1:
        return numbers, heddle.Matrix(sp.bsr_array(numbers, blocksize=(size, size)))
    return numbers, heddle.Matrix(numbers)


@pytest.mark.parametrize("entry", ["real", "complex", "quaternion", "block3", "complex-block3"])
@pytest.mark.parametrize("has_mass", [False, True])
def test_pairs_are_the_smallest(entry, has_mass):
    rng = np.random.default_rng()
    numbers, A = hermitian(entry, rng)
    of_mass, M = hermitian(entry, rng)
    expected = la.eigvalsh(numbers, of_mass if has_mass else None)
    if entry == "quaternion":
        expected = expected[::4]
    for k in (1, 4):
        w, v = heddle.eigsh(A, k, M if has_mass else None, tol=1e-11, maxiter=3000)
        np.testing.assert_allclose(w, expected[:k], rtol=1e-7)
        assert v.shape[:2] == (A.shape[0], k)
        x, image, mass = (np.moveaxis(fields, 1, 0).reshape(k, -1)
                          for fields in (v, A @ v, M @ v if has_mass else v))  # fmt: skip
        np.testing.assert_allclose(image, w[:, None] * mass, atol=1e-6)
        np.testing.assert_allclose(x.conj() @ mass.T, np.eye(k), atol=1e-8)


def test_it_takes_scipys_matrices_and_arguments():
    A = heddle.generate("poisson", 1000).tocsr()
    w, v = heddle.eigsh(A, k=3, which="SA")
    expected = np.sort(spla.eigsh(A, k=3, sigma=0)[0])
    np.testing.assert_allclose(w, expected, rtol=1e-7)
    assert len(heddle.eigsh(A)[0]) == 6
    np.testing.assert_allclose(heddle.eigsh(A, 3, return_eigenvectors=False), w, rtol=1e-7)
    for preconditioner in (None, "multigrid", lambda r: r / 4, spla.aslinearoperator(A / 16)):
        again = heddle.eigsh(A, 3, preconditioner=preconditioner, plan="CSR")[0]
        np.testing.assert_allclose(again, expected, rtol=1e-7)
    operator = heddle.eigsh(spla.aslinearoperator(A), 3, sp.eye_array(1000) * 2.0)
    np.testing.assert_allclose(operator[0], expected / 2, rtol=1e-7)
    np.testing.assert_allclose(operator[1].T @ operator[1], np.eye(3) / 2, atol=1e-9)
    blocks = heddle.generate("elasticity", 300)
    plain = heddle.eigsh(blocks, 2, sp.eye_array(3 * blocks.shape[0], format="csr") * 2.0)
    np.testing.assert_allclose(plain[0], heddle.eigsh(blocks, 2)[0] / 2, rtol=1e-6)
    complex_one = heddle.eigsh(A.astype(complex), 2, sp.eye_array(1000), seed=3)
    np.testing.assert_allclose(complex_one[0], expected[:2], rtol=1e-7)
    single = heddle.eigsh(A.astype(np.float32), 2)
    assert single[1].dtype == np.float32
    np.testing.assert_allclose(single[0], expected[:2], rtol=1e-3)


def test_guesses_shorten_the_search():
    A = heddle.generate("elasticity", 500)
    first, second = [], []
    w, v = heddle.eigsh(A, 4, callback=lambda *now: first.append(now))
    w, v = heddle.eigsh(A, 4, v0=v, callback=lambda *now: second.append(now))
    assert len(second) < len(first) / 3
    one = heddle.eigsh(A, 4, v0=v[:, 0])
    np.testing.assert_allclose(one[0], w, rtol=1e-6)


def test_what_it_refuses_and_ends():
    A = heddle.Matrix(2 * sp.eye_array(400) - sp.eye_array(400, k=1) - sp.eye_array(400, k=-1))
    with pytest.raises(heddle.NotConvergedError, match="iteration limit") as error:
        heddle.eigsh(A, 2, maxiter=2)
    assert error.value.eigenvalues.shape == (2,) and error.value.eigenvectors.shape == (400, 2)
    assert isinstance(error.value, RuntimeError)
    with pytest.raises(heddle.NotConvergedError, match="not Hermitian"):
        heddle.eigsh(A.tocsr() + sp.diags_array(np.ones(399), offsets=1, shape=(400, 400)))
    for call, kind, match in (
        (lambda: heddle.eigsh(A, 17), heddle.UsageError, "1 to 16"),
        (lambda: heddle.eigsh(A, 0), heddle.UsageError, "1 to 16"),
        (lambda: heddle.eigsh(A, which="LM"), heddle.UsageError, r"eigsh\(-A\)"),
        (lambda: heddle.eigsh(np.ones((3, 2))), heddle.SizeError, "square"),
        (lambda: heddle.eigsh(A, 2, np.eye(3)), heddle.SizeError, "the other 3 x 3"),
        (lambda: heddle.eigsh(A, 2, v0=np.ones((400, 3))), heddle.SizeError, "up to 2"),
        (lambda: heddle.eigsh(A, 2, count=3), heddle.UsageError, "count"),
        (lambda: heddle.eigsh(A, 2, cycle="W", preconditioner="jacobi"), heddle.UsageError, "cycle"),
        (lambda: heddle.eigsh(A, 2, cycle="W", preconditioner=None), heddle.UsageError, "cycle"),
        (lambda: heddle.eigsh(A, 2, spla.aslinearoperator(A.tocsr())), heddle.UnsupportedError, "M is an"),
        (lambda: heddle.eigsh(A, callback=lambda *_: 1 / 0), ZeroDivisionError, "division"),
    ):  # fmt: skip
        with pytest.raises(kind, match=match):
            call()
