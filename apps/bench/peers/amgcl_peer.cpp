// AMGCL's builtin backend: blocks as its static matrices, complex numbers as std::complex.
#include "absent_peer.hpp"

#ifdef HEDDLE_BENCH_AMGCL
#include <omp.h>

#include <amgcl/backend/builtin.hpp>
#include <amgcl/preconditioner/dummy.hpp>
#include <amgcl/relaxation/as_preconditioner.hpp>
#include <amgcl/relaxation/damped_jacobi.hpp>
#include <amgcl/solver/bicgstab.hpp>
#include <amgcl/solver/bicgstabl.hpp>
#include <amgcl/solver/cg.hpp>
#include <amgcl/solver/fgmres.hpp>
#include <amgcl/solver/gmres.hpp>
#include <amgcl/value_type/complex.hpp>
#include <amgcl/value_type/static_matrix.hpp>
#include <complex>
#include <cstring>
#include <tuple>
#include <utility>

#include "heddle/report.hpp"
#include "stopwatch.hpp"
#include "vendor_formats.hpp"
#endif

namespace heddle::bench {

#ifdef HEDDLE_BENCH_AMGCL

namespace {

/// Sets the number of OpenMP threads while this object lives.
class Threads {
 public:
  explicit Threads(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() { omp_set_num_threads(before_); }

 private:
  int before_;
};

template <class T, int size>
struct ValueOf {
  using type = amgcl::static_matrix<T, size, size>;
};
template <class T>
struct ValueOf<T, 1> {
  using type = T;
};

/// AMGCL's type of an entry. Vectors of it are the user's scalars, one after the other.
template <class E>
struct Amgcl {
  using S = stored_scalar_t<E>;
  static constexpr bool complex = has_complex_representation<E>;
  using Number = std::conditional_t<complex, std::complex<S>, S>;
  static constexpr int size = tile_rows<E> / (complex ? 2 : 1);
  using Value = typename ValueOf<Number, size>::type;
  using Rhs = typename amgcl::math::rhs_of<Value>::type;
  using Backend = amgcl::backend::builtin<Value>;
  using Matrix = typename Backend::matrix;
  using Coefficient = typename amgcl::math::inner_product_impl<Rhs>::return_type;

  static BlockForm form() {
    if constexpr (complex) {
      return complex_form<E>();
    } else {
      return real_form<E>();
    }
  }
};

/// The same bytes as numbers of another type.
template <class To, class From>
std::vector<To> seen_as(const std::vector<From>& from) {
  std::vector<To> to(from.size() * sizeof(From) / sizeof(To));
  std::memcpy(static_cast<void*>(to.data()), static_cast<const void*>(from.data()),
              from.size() * sizeof(From));
  return to;
}

template <class E>
std::shared_ptr<typename Amgcl<E>::Matrix> amgcl_matrix(const CsrMatrix<E>& matrix) {
  using Types = Amgcl<E>;
  const EntriesView<typename Types::S> entries{matrix.view().pattern(), matrix.values().data(),
                                               E::components};
  const std::vector<std::ptrdiff_t> offsets(matrix.offsets().begin(), matrix.offsets().end());
  const std::vector<std::ptrdiff_t> columns(matrix.column().data(),
                                            matrix.column().data() + matrix.entries());
  const auto values = seen_as<typename Types::Value>(block_values(entries, Types::form(), false));
  return std::make_shared<typename Types::Matrix>(static_cast<std::size_t>(matrix.rows()),
                                                  static_cast<std::size_t>(matrix.columns()),
                                                  offsets, columns, values);
}

template <class E>
std::vector<typename Amgcl<E>::Rhs> amgcl_vector(const std::vector<double>& scalars) {
  using Types = Amgcl<E>;
  return seen_as<typename Types::Rhs>(with_signs<typename Types::S>(scalars, Types::form()));
}

template <class E>
std::vector<double> users_scalars(const std::vector<typename Amgcl<E>::Rhs>& vector) {
  using Types = Amgcl<E>;
  return without_signs(seen_as<typename Types::S>(vector), Types::form());
}

template <class E>
std::string format_of() {
  if (Amgcl<E>::size == 1) return Amgcl<E>::complex ? "CSR of complex numbers" : "CSR";
  return "CSR of " + Amgcl<E>::form().name() + " blocks";
}

template <class E>
PeerProduct product_of(const CsrMatrix<E>& matrix, const std::vector<double>& x, int threads) {
  using Types = Amgcl<E>;
  struct State {
    std::shared_ptr<typename Types::Matrix> A;
    std::vector<typename Types::Rhs> x, y;
  };
  const Threads in_use(threads);  // pages go where the threads that first touch them run
  auto state = std::make_shared<State>();
  state->A = amgcl_matrix(matrix);
  state->x = amgcl_vector<E>(x);
  state->y.resize(static_cast<std::size_t>(matrix.rows()));
  PeerProduct product;
  product.method = format_of<E>();
  product.memory_bytes = static_cast<long long>(amgcl::backend::bytes(*state->A));
  product.run = [state, threads] {
    const Threads in_use(threads);
    const cli::Stopwatch watch;
    amgcl::backend::spmv(amgcl::math::identity<typename Types::Coefficient>(), *state->A, state->x,
                         amgcl::math::zero<typename Types::Coefficient>(), state->y);
    return watch.seconds();
  };
  product.result = [state] { return users_scalars<E>(state->y); };
  return product;
}

/// `counted`: iterations that AMGCL counts for each of Heddle's.
template <class E, template <class> class Solver, class Preconditioner>
PeerSolver solver_of(std::string method, const CsrMatrix<E>& matrix, const std::vector<double>& b,
                     int threads, std::size_t counted) {
  using Rhs = typename Amgcl<E>::Rhs;
  using S = typename Amgcl<E>::S;
  using Krylov = Solver<typename Amgcl<E>::Backend>;
  struct State {
    std::shared_ptr<typename Amgcl<E>::Matrix> A;
    std::shared_ptr<Preconditioner> preconditioner;
    std::shared_ptr<Krylov> solver;
    std::vector<Rhs> b, x;
  };
  const Threads in_use(threads);
  auto state = std::make_shared<State>();
  state->A = amgcl_matrix(matrix);
  state->preconditioner = std::make_shared<Preconditioner>(state->A);
  state->solver = std::make_shared<Krylov>(static_cast<std::size_t>(matrix.rows()));
  state->b = amgcl_vector<E>(b);
  state->x.resize(state->b.size());
  PeerSolver peer;
  peer.method = std::move(method);
  peer.solve = [state, threads, counted](double tolerance, long long max_iterations) {
    const Threads in_use(threads);
    state->solver->prm.tol = static_cast<S>(tolerance);
    const std::size_t most = counted * static_cast<std::size_t>(max_iterations);
    state->solver->prm.maxiter = static_cast<decltype(state->solver->prm.maxiter)>(most);
    PeerSolve solve;
    const cli::Stopwatch watch;
    amgcl::backend::clear(state->x);
    const auto [iterations, residual] =
        (*state->solver)(*state->A, *state->preconditioner, state->b, state->x);
    solve.seconds = watch.seconds();
    solve.iterations = static_cast<long long>((iterations + counted - 1) / counted);
    solve.x = users_scalars<E>(state->x);
    solve.status = name(static_cast<double>(residual) <= tolerance ? Status::converged
                                                                   : Status::iteration_limit);
    return solve;
  };
  return peer;
}

template <class Backend>
using JacobiOf = amgcl::relaxation::as_preconditioner<Backend, amgcl::relaxation::damped_jacobi>;
template <class Backend>
using NoneOf = amgcl::preconditioner::dummy<Backend>;

// Templates of one parameter each, as `solver_of` takes them.
template <class Backend>
using ConjugateGradientOf = amgcl::solver::cg<Backend>;
template <class Backend>
using BicgstabOf = amgcl::solver::bicgstab<Backend>;
template <class Backend>
using BicgstabLOf = amgcl::solver::bicgstabl<Backend>;  // L is 2 by default
template <class Backend>
using GmresOf = amgcl::solver::gmres<Backend>;
template <class Backend>
using FgmresOf = amgcl::solver::fgmres<Backend>;

template <class E>
std::vector<PeerSolver> solvers_of(const CsrMatrix<E>& matrix, const std::vector<double>& b,
                                   const MethodInfo& method, bool jacobi, int threads) {
  using Backend = typename Amgcl<E>::Backend;
  const auto made = [&]<template <class> class Solver>(std::size_t counted = 1) {
    const std::string name = format_of<E>() + (jacobi ? ", damped_jacobi" : "");
    return std::vector<PeerSolver>{
        jacobi ? solver_of<E, Solver, JacobiOf<Backend>>(name, matrix, b, threads, counted)
               : solver_of<E, Solver, NoneOf<Backend>>(name, matrix, b, threads, counted)};
  };
  if (method.name == "cg") return made.template operator()<ConjugateGradientOf>();
  if (method.name == "bicgstab") return made.template operator()<BicgstabOf>();
  if (method.name == "bicgstab2") return made.template operator()<BicgstabLOf>(2);
  if (method.name == "gmres") return made.template operator()<GmresOf>();
  if (method.name == "fgmres") return made.template operator()<FgmresOf>();
  return {};
}

class AmgclPeer final : public Peer {
 public:
  PeerPresence presence() const override {
    return {"AMGCL", "unnumbered", "builtin backend, OpenMP", true};
  }
  std::vector<PeerProduct> products(const Problem& problem, const Device& device) override {
    if (device.on_gpu() || problem.matrix.is_defined()) return {};
    return problem.matrix.visit([&](const auto& matrix) {
      std::vector<PeerProduct> products;
      products.push_back(product_of(matrix, problem.x, device.threads()));
      return products;
    });
  }
  std::vector<PeerSolver> solvers(const Problem& problem, const MethodInfo& method,
                                  PreconditionerKind preconditioner,
                                  const Device& device) override {
    if (device.on_gpu() || problem.matrix.is_defined()) return {};
    return problem.matrix.visit([&](const auto& matrix) {
      return solvers_of(matrix, problem.x, method, preconditioner == PreconditionerKind::jacobi,
                        device.threads());
    });
  }
};

}  // namespace

std::unique_ptr<Peer> amgcl_peer() { return std::make_unique<AmgclPeer>(); }

#else

std::unique_ptr<Peer> amgcl_peer() {
  return std::make_unique<AbsentPeer>(
      "AMGCL", "this heddle was built without it (HEDDLE_AMGCL_INCLUDE_DIR names its headers)");
}

#endif

}  // namespace heddle::bench
