#include "heddle/lobpcg.hpp"

#include <algorithm>
#include <string>

#include "base/long_double.hpp"
#include "lobpcg_loop.hpp"
#include "solvers/blocks/field_block_cuda.hpp"
#include "solvers/operators/operator_checks.hpp"

namespace heddle {

namespace {

/// The smaller ring: its coefficients commute with both operators.
template <class S>
Ring ring_of(const detail::EigenSystem<S>& system) {
  const Ring ring = system.matrix->ring();
  return system.mass ? std::min(ring, (*system.mass)->ring()) : ring;
}

template <class S>
void check_operators(const detail::EigenSystem<S>& system) {
  const LinearOperator<S>& matrix = *system.matrix;
  detail::check_square(matrix, "LOBPCG");
  const auto check_adjoint = [](const LinearOperator<S>& by) {
    if (by.has_adjoint()) return;
    throw Error(ErrorKind::unsupported,
                "LOBPCG needs a Hermitian matrix, and these entries have no adjoint");
  };
  check_adjoint(matrix);
  if (matrix.row_components() % ring_size(ring_of(system)) != 0) {
    throw Error(ErrorKind::size_mismatch, "rows of " + std::to_string(matrix.row_components()) +
                                              " components are not whole elements of the ring");
  }
  if (system.mass) {
    const LinearOperator<S>& mass = **system.mass;
    detail::check_square(mass, "LOBPCG");
    check_adjoint(mass);
    if (mass.rows() != matrix.rows() || mass.row_components() != matrix.row_components()) {
      throw Error(ErrorKind::size_mismatch,
                  "the mass has " + std::to_string(mass.rows()) + " rows of " +
                      std::to_string(mass.row_components()) + " components, the matrix " +
                      std::to_string(matrix.rows()) + " of " +
                      std::to_string(matrix.row_components()));
    }
    if (!detail::in_basis(mass.row_basis(), matrix.row_basis()) ||
        mass.vector_layout() != matrix.vector_layout()) {
      throw Error(
          ErrorKind::size_mismatch,
          "the mass has a different basis or vector layout than the matrix; make it with the "
          "matrix's");
    }
    if (mass.device().stream().gpu != matrix.device().stream().gpu) {
      throw Error(ErrorKind::usage, "the mass is on a different device than the matrix");
    }
  }
  if (system.preconditioner) {
    detail::check_fits(*system.preconditioner, matrix);
    if (!system.preconditioner->is_hermitian()) {
      throw Error(ErrorKind::unsupported,
                  "LOBPCG needs a Hermitian preconditioner, and this one says that it is not");
    }
  }
}

/// Throws `Error` (usage), or replaces every `by_...` in the options.
template <class S>
void resolve(EigenOptions& options, const LinearOperator<S>& matrix, Ring ring) {
  constexpr int most = EigenOptions::max_pairs;
  const auto refuse = [](const std::string& why) {
    throw Error(ErrorKind::usage, "options for eigenpairs: " + why);
  };
  if (options.count < 1 || options.count > most) {
    refuse("the count is 1 to " + std::to_string(most) + ", not " + std::to_string(options.count));
  }
  detail::resolve_limits<S>(options, "options for eigenpairs");
  if (options.guard != EigenOptions::by_count && (options.guard < 0 || options.guard > most)) {
    refuse("the number of guard vectors is 0 to " + std::to_string(most));
  }
  const Offset dimensions =
      all_rows(matrix.rows(), matrix.device().stream()) * matrix.row_components() / ring_size(ring);
  if (options.count > dimensions) {
    refuse("a space of " + std::to_string(dimensions) + " dimensions has no " +
           std::to_string(options.count) + " eigenpairs");
  }
  if (options.guard == EigenOptions::by_count) options.guard = (options.count + 3) / 4;
  options.guard = static_cast<int>(std::min<Offset>(options.guard, dimensions - options.count));
}

/// Bytes that a loop allocates. Throws `Error` (memory) if they are not available.
template <class S>
long long check_memory(const detail::EigenSystem<S>& system) {
  const LinearOperator<S>& matrix = *system.matrix;
  const long long field = detail::bytes_of_field(matrix);
  static_assert(6 * EigenOptions::max_pairs <= cuda::max_fields, "X, W and P, with guards");
  const long long sums = detail::BlockOperations<Ring::quaternion, S>::bytes(
      3 * system.vectors(), matrix.rows(), matrix.device().stream());
  long long needed = system.fields() * field + sums;
  const long long own = needed;
  if (system.preconditioner) {
    const Workspace later = system.preconditioner->workspace();
    needed += later.fields * field + later.bytes;
  }
  detail::check_available(matrix,
                          "LOBPCG of " + std::to_string(system.vectors()) + " vectors needs",
                          system.fields(), needed);
  return own;
}

template <class S>
std::unique_ptr<detail::EigenLoop<S>> make_loop(detail::EigenSystem<S> system) {
  check_operators(system);
  const Ring ring = ring_of(system);
  resolve(system.options, *system.matrix, ring);
  const long long memory = check_memory(system);
  std::unique_ptr<detail::EigenLoop<S>> loop;
  switch (ring) {
    case Ring::real:
      loop = std::make_unique<detail::LobpcgLoop<Ring::real, S>>(std::move(system));
      break;
    case Ring::complex:
      loop = std::make_unique<detail::LobpcgLoop<Ring::complex, S>>(std::move(system));
      break;
    case Ring::quaternion:
      loop = std::make_unique<detail::LobpcgLoop<Ring::quaternion, S>>(std::move(system));
      break;
  }
  loop->memory = memory;
  return loop;
}

}  // namespace

template <class S>
Lobpcg<S>::Lobpcg(OperatorReference<S> matrix, std::optional<OperatorReference<S>> mass,
                  std::shared_ptr<Preconditioner<S>> preconditioner, EigenOptions options)
    : loop_(make_loop<S>(
          {std::move(matrix), std::move(mass), std::move(preconditioner), std::move(options)})) {}

template <class S>
Lobpcg<S>::~Lobpcg() = default;

template <class S>
EigenReport Lobpcg<S>::solve(std::span<const FieldView<S>> x) {
  const detail::EigenSystem<S>& system = loop_->system();
  const LinearOperator<S>& matrix = *system.matrix;
  if (static_cast<int>(x.size()) != system.options.count) {
    throw Error(ErrorKind::size_mismatch, std::to_string(x.size()) + " fields for " +
                                              std::to_string(system.options.count) +
                                              " eigenvectors");
  }
  const auto shape =
      FieldView<S>::unallocated(matrix.rows(), matrix.row_components(), matrix.vector_layout());
  for (std::size_t k = 0; k < x.size(); ++k) {
    x[k].check();
    if (x[k].size != shape.size || x[k].components != shape.components) {
      throw Error(ErrorKind::size_mismatch,
                  "an eigenvector has " + std::to_string(shape.size) + " rows of " +
                      std::to_string(shape.components) + " components, its field " +
                      std::to_string(x[k].size) + " of " + std::to_string(x[k].components));
    }
    for (std::size_t j = 0; j < k; ++j) check_apart(x[j], x[k], "one eigenvector", "another");
  }
  return loop_->solve(x);
}

template <class S>
long long Lobpcg<S>::memory() const {
  return loop_->memory;
}

template class Lobpcg<float>;
template class Lobpcg<double>;
HEDDLE_IN_LONG_DOUBLE(template class Lobpcg<long double>;)

}  // namespace heddle
