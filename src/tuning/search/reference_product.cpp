// Optimised in full.
#include "reference_product.hpp"

#include <cmath>
#include "heddle/tools/team.hpp"

namespace heddle {

namespace {

/// Calls `visit(view)` with the field in its own scalar.
template <class Visit>
decltype(auto) visit_scalars(const AnyField& field, const Visit& visit) {
  return field.precision() == Precision::single_precision ? visit(field.view<float>())
                                                          : visit(field.view<double>());
}

template <class E>
void add_row(const CsrMatrix<E>& A, const AnyField& x, Index row, double* y) {
  using D = typename E::template with_scalar<double>;
  visit_scalars(x, [&](const auto& from) {
    result_entry_t<D> sum = zero_vector<result_entry_t<D>>();
    const auto r = static_cast<std::size_t>(row);
    for (Offset i = A.offsets()[r]; i < A.offsets()[r + 1]; ++i) {
      const E stored = A.entry(i);
      D entry;
      for (int k = 0; k < D::components; ++k) entry.component[k] = stored.component[k];
      vector_entry_t<D> of_x;
      const Index column = A.column()[static_cast<std::size_t>(i)];
      for (int k = 0; k < of_x.components; ++k) of_x.component[k] = from.at(column, k);
      multiply_add(sum, entry, of_x);
    }
    for (int k = 0; k < sum.components; ++k) y[k] = sum.component[k];
  });
}

template <class S>
void add_row(const DefinedMatrix<S>& A, const AnyField& x, Index row, double* y) {
  visit_scalars(x, [&](const auto& from) {
    const auto r = static_cast<std::size_t>(row);
    for (Offset i = A.offsets()[r]; i < A.offsets()[r + 1]; ++i) {
      const S* const entry = A.entry(i);
      const Index column = A.column()[static_cast<std::size_t>(i)];
      for (const ProductTerm& term : A.definition()->product) {
        y[term.result] += term.coefficient * static_cast<double>(entry[term.left]) *
                          static_cast<double>(from.at(column, term.right));
      }
    }
  });
}

template <class Matrix>
std::vector<double> product_of(const Matrix& A, const AnyField& x, int components) {
  std::vector<double> y(static_cast<std::size_t>(Offset(A.rows()) * components));
  parallel_for(default_threads(), A.rows(),
               [&](Index row) { add_row(A, x, row, y.data() + Offset(row) * components); });
  return y;
}

}  // namespace

std::vector<double> reference_product(const AnyMatrix& matrix, const AnyField& x) {
  if (matrix.is_defined()) {
    return matrix.visit_defined([&]<class S>(const DefinedMatrix<S>& A) {
      return product_of(A, x, A.definition()->vector_size());
    });
  }
  return matrix.visit([&]<class E>(const CsrMatrix<E>& A) {
    return product_of(A, x, result_entry_t<E>::components);
  });
}

std::vector<double> numbers_of(const AnyField& field) {
  return visit_scalars(field, [&](const auto& view) {
    const Offset scalars = Offset(field.rows()) * field.components();
    return std::vector<double>(view.data, view.data + scalars);
  });
}

double relative_difference(const AnyField& y, const std::vector<double>& reference) {
  return visit_scalars(y, [&](const auto& view) {
    if (reference.size() != static_cast<std::size_t>(Offset(y.rows()) * y.components())) {
      throw Error(ErrorKind::internal, "a result is compared with one of a different size");
    }
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
      const double d = static_cast<double>(view.data[i]) - reference[i];
      difference += d * d;
      size += reference[i] * reference[i];
    }
    return std::sqrt(size > 0 ? difference / size : difference);
  });
}

}  // namespace heddle
