// Table 1 of Kreutzer et al. (2012): products of ELLPACK-R, pJDS and compressed rows, in both
// precisions.
#include <utility>

#include "suite.hpp"

namespace heddle::bench {

namespace {

Problem in_single(const Problem& problem) {
  AnyMatrix matrix = problem.matrix.visit([]<class E>(const CsrMatrix<E>& given) {
    using F = typename E::template with_scalar<float>;
    Array<float> values(given.values().size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(given.values()[i]);
    }
    return AnyMatrix(CsrMatrix<F>(given.rows(), given.columns(), given.offsets(), given.column(),
                                  std::move(values)));
  });
  return {.name = problem.name, .matrix = std::move(matrix), .plans = {}, .x = problem.x};
}

}  // namespace

void pjds_suite(Session& session, const Problem& problem) {
  const auto measure = [&](const Problem& of) {
    measure_products(session, of, record_of("pjds", of, "product"), false, {"ELL", "pJDS"});
  };
  measure(problem);
  if (problem.matrix.precision() == Precision::double_precision) measure(in_single(problem));
}

}  // namespace heddle::bench
