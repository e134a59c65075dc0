#include "heddle/multiply.hpp"

#include <string>

#include "base/long_double.hpp"
#include "fields/fits_in_place.hpp"
#include "heddle/vector_operations.hpp"

namespace heddle {

namespace {

/// A field in the operator's form that stands in for one of the caller's.
template <class S>
struct StandIn {
  StandIn(Index rows, int components, const LinearOperator<S>& A,
          const std::shared_ptr<const Basis>& basis)
      : storage(static_cast<std::size_t>(rows) * static_cast<std::size_t>(components), A.device()),
        view(storage.data(), rows, components, A.vector_layout(), basis) {}

  Array<S> storage;
  FieldView<S> view;
};

void check_shape(Index size, int components, Index expected_size, int expected_components,
                 const char* name) {
  if (size == expected_size && components == expected_components) return;
  throw Error(ErrorKind::size_mismatch,
              std::string("multiply: ") + name + " has " + std::to_string(size) + " rows of " +
                  std::to_string(components) + " components, the matrix asks for " +
                  std::to_string(expected_size) + " of " + std::to_string(expected_components));
}

template <class S>
void multiply_into(const LinearOperator<S>& A, const FieldView<const S>& x, const FieldView<S>& y,
                   S alpha, S beta, const Device& device) {
  const Stream& stream = device.stream();
  if (detail::fits_in_place<S>(y, A.vector_layout(), A.row_basis(), stream)) {
    return A.apply(alpha, x, beta, y, stream);
  }
  const StandIn<S> result(A.rows(), A.row_components(), A, A.row_basis());
  if (beta != S(0)) permute<S>(y, result.view, S(1), stream);
  A.apply(alpha, x, beta, result.view, stream);
  permute<S>(result.view, y, S(1), stream);
  device.synchronize();  // before the memory of `result` is released
}

}  // namespace

template <class S>
void multiply(const LinearOperator<S>& A, const std::type_identity_t<FieldView<const S>>& x,
              const std::type_identity_t<FieldView<S>>& y, std::type_identity_t<S> alpha,
              std::type_identity_t<S> beta) {
  check_shape(x.size, x.components, A.columns(), A.column_components(), "x");
  check_shape(y.size, y.components, A.rows(), A.row_components(), "y");
  const Device device = A.device();
  const Stream& stream = device.stream();
  if (detail::fits_in_place<S>(x, A.vector_layout(), A.column_basis(), stream)) {
    multiply_into<S>(A, x, y, alpha, beta, device);
  } else {
    const StandIn<S> argument(A.columns(), A.column_components(), A, A.column_basis());
    permute<S>(x, argument.view, S(1), stream);
    multiply_into<S>(A, argument.view, y, alpha, beta, device);
    device.synchronize();  // before the memory of `argument` is released
  }
}

template void multiply<float>(const LinearOperator<float>&, const FieldView<const float>&,
                              const FieldView<float>&, float, float);
template void multiply<double>(const LinearOperator<double>&, const FieldView<const double>&,
                               const FieldView<double>&, double, double);
HEDDLE_IN_LONG_DOUBLE(template void multiply<long double>(const LinearOperator<long double>&,
                                                          const FieldView<const long double>&,
                                                          const FieldView<long double>&,
                                                          long double, long double);)

}  // namespace heddle
