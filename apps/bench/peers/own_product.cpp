#include "own_product.hpp"

#include <memory>

#include "heddle/operator.hpp"

namespace heddle::bench {

namespace {

template <class E>
struct PreparedOperator {
  using S = vector_scalar_t<E>;

  Operator<E> matrix;
  Device device;
  Field<E> x;
  Field<E> y;

  PreparedOperator(const CsrMatrix<E>& given, const Plan& plan, const Device& on)
      : matrix(given, plan, on),
        device(on),
        x(matrix.columns(), on, matrix.vector_layout(), matrix.column_basis()),
        y(matrix.rows(), on, matrix.vector_layout(), matrix.row_basis()) {}

  void set_x(const std::vector<double>& values) {
    Field<E> user(matrix.columns());
    for (std::size_t i = 0; i < values.size(); ++i) {
      user.scalars()[i] = static_cast<S>(values[i]);
    }
    permute<S>(user, x, S(1), device.stream());
    device.synchronize();
  }
  std::vector<double> get_y() const {
    Field<E> user(matrix.rows());
    permute<S>(y, user, S(1), device.stream());
    device.synchronize();
    return {user.scalars().begin(), user.scalars().end()};
  }
};

}  // namespace

OwnProduct own_product(const Problem& problem, const Plan& plan, const Device& device) {
  return problem.matrix.visit([&]<class E>(const CsrMatrix<E>& given) {
    using S = vector_scalar_t<E>;
    auto prepared = std::make_shared<PreparedOperator<E>>(given, plan, device);
    prepared->set_x(problem.x);
    OwnProduct product;
    product.queue = [prepared](const Stream& stream) {
      prepared->matrix.apply(S(1), prepared->x, S(0), prepared->y, stream);
    };
    product.result = [prepared] { return prepared->get_y(); };
    product.memory_bytes = prepared->matrix.memory().product();
    return product;
  });
}

}  // namespace heddle::bench
