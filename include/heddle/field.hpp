// Fields: one vector entry a row, owned or seen through a view.
#pragma once

#include <memory>
#include <string>
#include <type_traits>

#include "heddle/array.hpp"
#include "heddle/basis.hpp"
#include "heddle/entries/slots.hpp"
#include "heddle/error.hpp"
#include "heddle/plan.hpp"

namespace heddle {

/// A field as solvers see it: scalars of type S (const S for one that is only read), `components` a
/// row. Component k of row i is data[i * entry_stride + k * component_stride].
template <class S>
struct FieldView {
  S* data = nullptr;
  Index size = 0;  // rows
  int components = 1;
  Offset entry_stride = 1;                 // in scalars
  Offset component_stride = 1;             // in scalars
  std::shared_ptr<const Basis> basis;      // null: the user's order
  std::shared_ptr<const void> keep_alive;  // what must live as long as the view

  /// The rows of one AoS or SoA array in the user's order: `{b, n}` is n single numbers.
  FieldView() = default;
  FieldView(S* data, Index size, int components = 1, VectorLayout layout = VectorLayout::aos,
            std::shared_ptr<const Basis> basis = nullptr)
      : data(data),
        size(size),
        components(components),
        entry_stride(layout == VectorLayout::aos ? components : 1),
        component_stride(layout == VectorLayout::aos ? 1 : size),
        basis(std::move(basis)) {}

  operator FieldView<const S>() const
    requires(!std::is_const_v<S>)
  {
    FieldView<const S> view(data, size, components);
    view.entry_stride = entry_stride;
    view.component_stride = component_stride;
    view.basis = basis;
    view.keep_alive = keep_alive;
    return view;
  }

  Offset scalars() const { return Offset(size) * components; }
  S& at(Index row, int component) const {
    return data[row * entry_stride + component * component_stride];
  }

  bool is_aos() const { return component_stride == 1 && entry_stride == components; }
  bool is_soa() const { return entry_stride == 1 && (component_stride == size || components == 1); }
};

/// Throws `Error` (size_mismatch) that names `what`, unless rows and components agree.
template <class S, class U>
void check_same_shape(const FieldView<S>& a, const FieldView<U>& b, const char* what) {
  if (a.size != b.size || a.components != b.components) {
    throw Error(ErrorKind::size_mismatch,
                std::string(what) + ": a field of " + std::to_string(a.size) + " rows of " +
                    std::to_string(a.components) + " components meets one of " +
                    std::to_string(b.size) + " of " + std::to_string(b.components));
  }
}

/// A field that the vector entries of E fill: what an `Operator<E>` acts on. Zero when made.
template <class E>
class Field {
  static_assert(check_entry<E>());

 public:
  using entry = vector_entry_t<E>;
  using scalar = typename entry::scalar;

  Field() = default;
  explicit Field(Index rows, const Device& device = Device::cpu(),
                 VectorLayout layout = VectorLayout::aos,
                 std::shared_ptr<const Basis> basis = nullptr)
      : scalars_(static_cast<std::size_t>(rows) * entry::components, device),
        rows_(rows),
        layout_(layout),
        basis_(std::move(basis)) {
    if (basis_ && basis_->size() != rows) {
      throw Error(ErrorKind::size_mismatch, "a field of " + std::to_string(rows) +
                                                " rows in a basis of " +
                                                std::to_string(basis_->size()));
    }
  }

  Index size() const { return rows_; }
  VectorLayout layout() const { return layout_; }
  const std::shared_ptr<const Basis>& basis() const { return basis_; }
  Array<scalar>& scalars() { return scalars_; }
  const Array<scalar>& scalars() const { return scalars_; }

  entry operator[](Index row) const {
    const auto from = view();
    entry value;
    for (int k = 0; k < entry::components; ++k) value.component[k] = from.at(row, k);
    return value;
  }
  void set(Index row, const entry& value) {
    const auto to = view();
    for (int k = 0; k < entry::components; ++k) to.at(row, k) = value.component[k];
  }

  FieldView<scalar> view() { return {scalars_.data(), rows_, entry::components, layout_, basis_}; }
  FieldView<const scalar> view() const {
    return {scalars_.data(), rows_, entry::components, layout_, basis_};
  }
  operator FieldView<scalar>() { return view(); }
  operator FieldView<const scalar>() const { return view(); }

 private:
  Array<scalar> scalars_;
  Index rows_ = 0;
  VectorLayout layout_ = VectorLayout::aos;
  std::shared_ptr<const Basis> basis_;
};

}  // namespace heddle
