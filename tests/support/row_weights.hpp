// A preconditioner as a user may write one: a real weight a row.
#pragma once

#include <vector>

#include "heddle/preconditioner.hpp"

namespace heddle::test {

template <class S>
class RowWeights final : public Preconditioner<S> {
 public:
  explicit RowWeights(std::vector<S> of_user_row) : weight_(std::move(of_user_row)) {}

  void apply(const FieldView<const S>& r, const FieldView<S>& z, const Stream&) const override {
    for (Index row = 0; row < r.size; ++row) {
      const Index user_row = r.basis ? r.basis->user_row(row) : row;
      for (int k = 0; k < r.components; ++k) {
        z.at(row, k) = weight_[static_cast<std::size_t>(user_row)] * r.at(row, k);
      }
    }
  }

 private:
  std::vector<S> weight_;
};

}  // namespace heddle::test
