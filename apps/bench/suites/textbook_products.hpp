// The loops over compressed rows that anyone would write: A x by rows, and A* x without a second
// matrix, where each row adds to y at its columns.
#pragma once

#include <algorithm>
#include <vector>

#include "heddle/expansion.hpp"
#include "heddle/field.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::bench {

template <class E>
class TextbookProduct {
  using V = vector_entry_t<E>;
  using S = vector_scalar_t<E>;

 public:
  /// Keeps a reference to the matrix. x has the scalars of A's columns, or where `transposes` its
  /// rows.
  TextbookProduct(const CsrMatrix<E>& A, bool transposes, const std::vector<double>& x)
      : A_(A),
        transposes_(transposes),
        x_(x.size() / V::components),
        y_(transposes ? A.columns() : A.rows()) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x_[i / V::components].component[i % V::components] = static_cast<S>(x[i]);
    }
  }

  void run(const Stream& stream) {
    if (!transposes_) {
      parallel_for(team_size(stream, A_.entries()), A_.rows(), [&](Index row) {
        V sum{};
        for_each_entry(row, [&](Index column, const E& a) {
          multiply_add(sum, load(a), x_[static_cast<std::size_t>(column)]);
        });
        y_[static_cast<std::size_t>(row)] = sum;
      });
      return;
    }
    std::fill(y_.begin(), y_.end(), V{});
    for (Index row = 0; row < A_.rows(); ++row) {
      const V from = x_[static_cast<std::size_t>(row)];
      for_each_entry(row, [&](Index column, const E& a) {
        multiply_add(y_[static_cast<std::size_t>(column)], adjoint(load(a)), from);
      });
    }
  }
  std::vector<double> result() const {
    std::vector<double> scalars;
    for (const V& entry : y_) {
      scalars.insert(scalars.end(), entry.component, entry.component + V::components);
    }
    return scalars;
  }

 private:
  template <class Body>
  void for_each_entry(Index row, const Body& body) const {
    const Offset end = A_.offsets()[static_cast<std::size_t>(row) + 1];
    const PackedValues<E> values{A_.values().data()};
    for (Offset i = A_.offsets()[static_cast<std::size_t>(row)]; i < end; ++i) {
      body(A_.column()[static_cast<std::size_t>(i)], values(i, 0));
    }
  }

  const CsrMatrix<E>& A_;
  bool transposes_;
  std::vector<V> x_, y_;
};

}  // namespace heddle::bench
