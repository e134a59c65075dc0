// A user-style preconditioner: one real weight per row.
#pragma once

#include <string>
#include <vector>

#include "heddle/entry_text.hpp"
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

/// The same on a GPU, as a type `Weights` for rows of vectors of `entry`.
inline EntryText row_weights_text(const EntryText& entry, bool is_soa) {
  return {"Weights",
          {"weights.hpp"},
          {{"weights.hpp", "#pragma once\n#include \"" + entry.headers[0] +
                               "\"\n#include \"heddle/entries/slots.hpp\"\n"
                               "struct Weights {\n"
                               "  using vector = heddle::vector_entry_t<" +
                               entry.type +
                               ">;\n"
                               "  using Own = double;\n"
                               "  static constexpr bool soa = " +
                               (is_soa ? "true" : "false") + R"(;
  __device__ static Own load(const void* data, heddle::Index, heddle::Offset row) {
    return static_cast<const double*>(data)[row];
  }
  __device__ static vector apply(const Own& weight, const vector& r) {
    vector z;
    for (int k = 0; k < vector::components; ++k) z.component[k] = weight * r.component[k];
    return z;
  }
};
)"}}};
}

}  // namespace heddle::test
