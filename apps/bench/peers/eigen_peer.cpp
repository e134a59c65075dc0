// Eigen: row-major sparse matrices, whose products run on all OpenMP threads, and its own Krylov
// solvers with their own stopping rule.
#include "peer.hpp"

#ifdef HEDDLE_BENCH_EIGEN

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/Sparse>
#include <array>
#include <complex>
#include <span>
#include <string>
#include <type_traits>
#include <unsupported/Eigen/IterativeSolvers>
#include <utility>

#include "hamilton_terms.hpp"
#include "heddle/error.hpp"
#include "heddle/expansion.hpp"
#include "stopwatch.hpp"

namespace heddle::bench {

namespace {

template <class T>
using EigenMatrix = Eigen::SparseMatrix<T, Eigen::RowMajor, int>;
template <class T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// A matrix with this pattern, whose values are to be set.
template <class T, class X>
EigenMatrix<T> eigen_pattern(const CsrMatrix<X>& numbers) {
  constexpr Offset most = std::numeric_limits<int>::max();
  if (numbers.entries() > most) {
    throw Error(ErrorKind::unsupported, "more numbers than an index of 32 bits can count");
  }
  EigenMatrix<T> A(numbers.rows(), numbers.columns());
  A.resizeNonZeros(static_cast<int>(numbers.entries()));
  for (Index row = 0; row <= numbers.rows(); ++row) {
    A.outerIndexPtr()[row] = static_cast<int>(numbers.offsets()[static_cast<std::size_t>(row)]);
  }
  std::copy_n(numbers.column().data(), numbers.entries(), A.innerIndexPtr());
  return A;
}

/// The entries of a matrix of numbers, real or complex, as Eigen holds them.
template <class T, class X>
EigenMatrix<T> eigen_matrix(const CsrMatrix<X>& numbers) {
  EigenMatrix<T> A = eigen_pattern<T>(numbers);
  const auto* const values = reinterpret_cast<const T*>(numbers.values().data());
  std::copy_n(values, numbers.entries(), A.valuePtr());
  return A;
}

template <class T>
Vector<T> eigen_vector(const std::vector<double>& scalars) {
  using S = typename Eigen::NumTraits<T>::Real;
  constexpr std::size_t parts = Eigen::NumTraits<T>::IsComplex ? 2 : 1;
  Vector<T> x(static_cast<Eigen::Index>(scalars.size() / parts));
  S* const to = reinterpret_cast<S*>(x.data());
  for (std::size_t i = 0; i < scalars.size(); ++i) to[i] = static_cast<S>(scalars[i]);
  return x;
}

template <class T>
std::vector<double> scalars_of(const Vector<T>& x) {
  using S = typename Eigen::NumTraits<T>::Real;
  constexpr std::size_t parts = Eigen::NumTraits<T>::IsComplex ? 2 : 1;
  const S* const from = reinterpret_cast<const S*>(x.data());
  return {from, from + static_cast<std::size_t>(x.size()) * parts};
}

template <class T>
long long bytes_of(const EigenMatrix<T>& A) {
  return static_cast<long long>(A.nonZeros()) * static_cast<long long>(sizeof(T) + sizeof(int)) +
         (A.outerSize() + 1LL) * static_cast<long long>(sizeof(int));
}

/// A product with the stored matrix, or with its adjoint where `transposes`.
template <class T>
PeerProduct product_of(const std::string& method, EigenMatrix<T> matrix,
                       const std::vector<double>& x, bool transposes = false) {
  struct State {
    EigenMatrix<T> A;
    Vector<T> x, y;
  };
  auto state = std::make_shared<State>();
  state->A = std::move(matrix);
  state->x = eigen_vector<T>(x);
  state->y = Vector<T>::Zero(transposes ? state->A.cols() : state->A.rows());
  PeerProduct product;
  product.method = method;
  product.memory_bytes = bytes_of(state->A);
  product.run = [state, transposes] {
    const cli::Stopwatch watch;
    if (transposes) {
      state->y.noalias() = state->A.adjoint() * state->x;
    } else {
      state->y.noalias() = state->A * state->x;
    }
    return watch.seconds();
  };
  product.result = [state] { return scalars_of(state->y); };
  return product;
}

/// The components of quaternions as four matrices with one pattern, and of vectors as planes.
template <class S>
struct HamiltonProduct {
  EigenMatrix<S> pattern;
  std::array<std::vector<S>, 4> values;
  std::array<Vector<S>, 4> x, y;

  HamiltonProduct(const CsrMatrix<quaternion<S>>& matrix, const std::vector<double>& of_x)
      : pattern(eigen_pattern<S>(matrix)) {
    const auto entries = static_cast<std::size_t>(matrix.entries());
    for (int k = 0; k < 4; ++k) {
      const auto at = static_cast<std::size_t>(k);
      values[at] =
          component_of_quaternions<S>(std::span<const S>(matrix.values().data(), 4 * entries), k);
      x[at] = eigen_vector<S>(component_of_quaternions<double>(std::span<const double>(of_x), k));
      y[at] = Vector<S>::Zero(pattern.rows());
    }
  }

  void run() {
    for (const HamiltonTerm& term : hamilton_terms) {
      const Eigen::Map<const EigenMatrix<S>> A(
          pattern.rows(), pattern.cols(), pattern.nonZeros(), pattern.outerIndexPtr(),
          pattern.innerIndexPtr(), values[static_cast<std::size_t>(term.matrix)].data());
      const Vector<S>& from = x[static_cast<std::size_t>(term.vector)];
      Vector<S>& to = y[static_cast<std::size_t>(term.result)];
      if (term.matrix == 0) {
        to.noalias() = A * from;
      } else if (term.sign > 0) {
        to.noalias() += A * from;
      } else {
        to.noalias() -= A * from;
      }
    }
  }
};

template <class S>
PeerProduct hamilton_product(const CsrMatrix<quaternion<S>>& matrix, const std::vector<double>& x) {
  auto state = std::make_shared<HamiltonProduct<S>>(matrix, x);
  PeerProduct product;
  product.method = "four real matrices, CSR";
  product.memory_bytes =
      bytes_of(state->pattern) + static_cast<long long>(3 * sizeof(S)) * state->pattern.nonZeros();
  product.run = [state] {
    const cli::Stopwatch watch;
    state->run();
    return watch.seconds();
  };
  product.result = [state] { return quaternions_of(state->y); };
  return product;
}

CsrMatrix<real<double>> as_csr(const EigenMatrix<double>& A) {
  const auto entries = static_cast<std::size_t>(A.nonZeros());
  Array<Offset> offsets(static_cast<std::size_t>(A.rows()) + 1);
  std::copy_n(A.outerIndexPtr(), offsets.size(), offsets.data());
  return {static_cast<Index>(A.rows()), static_cast<Index>(A.cols()), std::move(offsets),
          Array<Index>(std::span<const Index>(A.innerIndexPtr(), entries)),
          Array<double>(std::span<const double>(A.valuePtr(), entries))};
}

/// Sums with B, or where `transposes` with B*: once converted for each sum, once made beforehand.
template <class T>
std::vector<PeerSum> sums_of(EigenMatrix<T> a, EigenMatrix<T> b, bool transposes) {
  struct State {
    EigenMatrix<T> A, B, sum;
  };
  auto state = std::make_shared<State>();
  state->A = std::move(a);
  state->B = std::move(b);
  const auto result = [state] { return as_csr(state->sum.template cast<double>()); };
  if (!transposes) return {{"A + B", [state] { state->sum = state->A + state->B; }, result}};
  auto adjoint = std::make_shared<EigenMatrix<T>>(state->B.adjoint());
  return {{"conversion and A + B*",
           [state] { state->sum = state->A + EigenMatrix<T>(state->B.adjoint()); }, result},
          {"A + B* without conversion", [state, adjoint] { state->sum = state->A + *adjoint; },
           result}};
}

template <class Solver, class T>
PeerSolver solver_of(const std::string& method, std::shared_ptr<const EigenMatrix<T>> A,
                     const std::vector<double>& right_hand_side) {
  struct State {
    std::shared_ptr<const EigenMatrix<T>> A;
    Vector<T> b;
    Solver solver;
  };
  auto state = std::make_shared<State>();
  state->A = std::move(A);
  state->b = eigen_vector<T>(right_hand_side);
  state->solver.compute(*state->A);
  PeerSolver peer;
  peer.method = method;
  peer.solve = [state](double tolerance, long long max_iterations) {
    state->solver.setTolerance(static_cast<typename Eigen::NumTraits<T>::Real>(tolerance));
    state->solver.setMaxIterations(static_cast<Eigen::Index>(max_iterations));
    PeerSolve solve;
    const cli::Stopwatch watch;
    const Vector<T> x = state->solver.solve(state->b);
    solve.seconds = watch.seconds();
    solve.iterations = static_cast<long long>(state->solver.iterations());
    solve.x = scalars_of<T>(x);
    switch (state->solver.info()) {
      case Eigen::Success:
        solve.status = "converged";
        break;
      case Eigen::NoConvergence:
        solve.status = "iteration limit";
        break;
      default:
        solve.status = "numerical issue";
    }
    return solve;
  };
  return peer;
}

/// Eigen's conjugate gradient multiplies on all threads only where it may use both triangles.
template <class Preconditioner, class T>
std::vector<PeerSolver> solvers_of(const std::string& name,
                                   const std::shared_ptr<const EigenMatrix<T>>& A,
                                   const std::vector<double>& b, const MethodInfo& method) {
  constexpr int both = Eigen::Lower | Eigen::Upper;
  if (method.name == "cg") {
    return {solver_of<Eigen::ConjugateGradient<EigenMatrix<T>, both, Preconditioner>>(name, A, b)};
  }
  if (method.name == "bicgstab") {
    return {solver_of<Eigen::BiCGSTAB<EigenMatrix<T>, Preconditioner>>(name, A, b)};
  }
  if (method.name == "gmres") {  // 30 iterations a cycle, preconditioned on the left
    return {solver_of<Eigen::GMRES<EigenMatrix<T>, Preconditioner>>(name, A, b)};
  }
  if constexpr (!Eigen::NumTraits<T>::IsComplex) {
    if (method.name == "minres") {
      return {solver_of<Eigen::MINRES<EigenMatrix<T>, both, Preconditioner>>(name, A, b)};
    }
  }
  return {};
}

/// Calls `take(name, matrix)` with the matrix in every form that fits: real numbers, and complex
/// ones where the entries are complex.
template <class F>
void for_each_form(const Problem& problem, F&& take) {
  problem.matrix.visit([&]<class E>(const CsrMatrix<E>& given) {
    using S = vector_scalar_t<E>;
    take("CSR of real numbers", eigen_matrix<S>(expand(given)));
    if constexpr (std::is_same_v<E, complex<S>>) {
      take("CSR of complex numbers", eigen_matrix<std::complex<S>>(given));
    }
  });
}

#ifdef _OPENMP
constexpr const char* parallelism = "OpenMP";
#else
constexpr const char* parallelism = "one thread";
#endif

class EigenPeer final : public Peer {
 public:
  PeerPresence presence() const override {
    return {"Eigen",
            std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
                std::to_string(EIGEN_MINOR_VERSION),
            std::string("SparseMatrix, row-major, ") + parallelism + "; compiled for " +
                Eigen::SimdInstructionSetsInUse(),
            true};
  }

  std::vector<PeerProduct> products(const Problem& problem, const Device& device) override {
    Eigen::setNbThreads(device.threads());
    std::vector<PeerProduct> products;
    for_each_form(problem, [&]<class T>(const std::string& form, EigenMatrix<T> A) {
      products.push_back(product_of<T>(form, std::move(A), problem.x));
    });
    problem.matrix.visit([&]<class E>(const CsrMatrix<E>& matrix) {
      if constexpr (std::is_same_v<E, quaternion<vector_scalar_t<E>>>) {
        products.push_back(hamilton_product(matrix, problem.x));
      }
    });
    return products;
  }

  std::vector<PeerProduct> products_of_either(const Problem& problem, bool transposes,
                                              const std::vector<double>& x,
                                              const Device& device) override {
    Eigen::setNbThreads(device.threads());
    std::vector<PeerProduct> products;
    for_each_form(problem, [&]<class T>(const std::string& form, EigenMatrix<T> A) {
      products.push_back(product_of<T>(form, std::move(A), x, transposes));
    });
    return products;
  }

  std::vector<PeerSum> sums(const Problem& A, const Problem& B, bool transposes,
                            const Device& device) override {
    Eigen::setNbThreads(device.threads());
    return A.matrix.visit([&]<class E>(const CsrMatrix<E>& a) {
      return B.matrix.visit([&]<class F>(const CsrMatrix<F>& b) -> std::vector<PeerSum> {
        using S = vector_scalar_t<E>;
        if constexpr (std::is_same_v<E, F>) {
          return sums_of<S>(eigen_matrix<S>(expand(a)), eigen_matrix<S>(expand(b)), transposes);
        } else {
          throw Error(ErrorKind::usage, "cannot add entries of two kinds");
        }
      });
    });
  }

  std::vector<PeerSolver> solvers(const Problem& problem, const MethodInfo& method,
                                  PreconditionerKind preconditioner,
                                  const Device& device) override {
    Eigen::setNbThreads(device.threads());
    std::vector<PeerSolver> solvers;
    for_each_form(problem, [&]<class T>(const std::string& form, EigenMatrix<T> A) {
      const auto held = std::make_shared<const EigenMatrix<T>>(std::move(A));
      using Diagonal = Eigen::DiagonalPreconditioner<T>;
      for (PeerSolver& solver :
           preconditioner == PreconditionerKind::jacobi
               ? solvers_of<Diagonal>(form + ", scalar diagonal", held, problem.x, method)
               : solvers_of<Eigen::IdentityPreconditioner>(form, held, problem.x, method)) {
        solvers.push_back(std::move(solver));
      }
    });
    return solvers;
  }
};

}  // namespace

std::unique_ptr<Peer> eigen_peer() { return std::make_unique<EigenPeer>(); }

}  // namespace heddle::bench

#else

#include "absent_peer.hpp"

namespace heddle::bench {

std::unique_ptr<Peer> eigen_peer() {
  return std::make_unique<AbsentPeer>("Eigen", "it was not found when heddle was built");
}

}  // namespace heddle::bench

#endif
