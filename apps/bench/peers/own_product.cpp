#include "own_product.hpp"

#include <memory>

#include "heddle/operator.hpp"

namespace heddle::bench {

OwnProduct own_product(const Problem& problem, const Plan& plan, const Device& device) {
  return problem.matrix.visit([&]<class E>(const CsrMatrix<E>& given) {
    const auto matrix = std::make_shared<const Operator<E>>(given, plan, device);
    OwnProduct product = product_by<E>(matrix, problem.x);
    product.memory_bytes = matrix->memory().product();
    return product;
  });
}

}  // namespace heddle::bench
