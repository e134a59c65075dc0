// Fields: one vector entry per row, owned or viewed.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "heddle/array.hpp"
#include "heddle/basis.hpp"
#include "heddle/detail/assert.hpp"
#include "heddle/detail/index.hpp"
#include "heddle/entries/slots.hpp"
#include "heddle/error.hpp"
#include "heddle/export.hpp"
#include "heddle/plan.hpp"

namespace heddle {

namespace detail {

/// Throws `Error` (size_mismatch) for impossible sizes, or sizes that differ from the basis's.
HEDDLE_EXPORT void check_sizes(Index size, int components, const Basis* basis);
[[noreturn]] HEDDLE_EXPORT void refuse_null(Index size, int components);

/// The memory range of a view's scalars, in bytes.
struct Footprint {
  std::uintptr_t data;
  Offset scalar;
  Offset size;
  Offset components;
  Offset entry_stride;
  Offset component_stride;
};
HEDDLE_EXPORT bool overlap(const Footprint& a, const Footprint& b);
[[noreturn]] HEDDLE_EXPORT void refuse_overlap(const char* a, const char* b);

/// Converts foreign arrays to fields: `view<S>(array)` is a FieldView<S>. The conversions for Eigen
/// are in heddle/eigen.hpp, those for arrays that std::span takes are here.
template <class A>
struct array_as_field;

/// Contiguous arrays, as std::span sees them, except classes that say how they evaluate (Eigen's).
template <class A>
concept spannable = requires(A& array) { std::span(array); } &&
                    !requires { typename std::remove_cvref_t<A>::PlainObject; };

}  // namespace detail

/// A field as solvers see it: scalars of type S (const S for read only), `components` per row.
/// Component k of row i is data[i * entry_stride + k * component_stride].
template <class S>
struct HEDDLE_EXPORT FieldView {
  S* data = nullptr;
  Index size = 0;  // rows
  int components = 1;
  Offset entry_stride = 1;                 // in scalars
  Offset component_stride = 1;             // in scalars
  std::shared_ptr<const Basis> basis;      // null: the user's order
  std::shared_ptr<const void> keep_alive;  // must live as long as the view

  /// The rows of one AoS or SoA array: `{b, n}` is n single numbers, counted by any integral type.
  /// Without a basis they are in the user's order. Throws `Error`: size_mismatch for sizes below 0,
  /// beyond an Index or different from the basis's, usage for a null pointer with a nonzero number
  /// of scalars.
  FieldView() = default;
  template <std::integral N>
  FieldView(S* data, N rows, int components = 1, VectorLayout layout = VectorLayout::aos,
            std::shared_ptr<const Basis> basis = nullptr)
      : FieldView(unallocated(checked_index(rows), components, layout)) {
    this->data = data;
    this->basis = std::move(basis);
    check();
  }

  /// The layout of such a field, without its memory.
  static FieldView unallocated(Index size, int components, VectorLayout layout) {
    FieldView shape;
    shape.size = size;
    shape.components = components;
    shape.entry_stride = layout == VectorLayout::aos ? components : 1;
    shape.component_stride = layout == VectorLayout::aos ? 1 : size;
    return shape;
  }

  /// Complex numbers, of two components each.
  template <class T, std::integral N>
    requires std::same_as<std::remove_const_t<T>, std::complex<std::remove_const_t<S>>> &&
             (std::is_const_v<S> || !std::is_const_v<T>)
  FieldView(T* numbers, N rows) : FieldView(reinterpret_cast<S*>(numbers), rows, 2) {}

  /// A contiguous array of numbers or of std::complex (a vector, an array, a span), or with
  /// heddle/eigen.hpp an Eigen vector: one row per number. Use `field_view<E>` for rows of E.
  template <class A>
    requires requires(A& array) {
      detail::array_as_field<std::remove_cvref_t<A>>::template view<S>(array);
    }
  FieldView(A&& array)
      : FieldView(detail::array_as_field<std::remove_cvref_t<A>>::template view<S>(array)) {}

  /// A writable field is also readable.
  template <class U>
    requires(std::is_const_v<S> && std::is_same_v<const U, S>)
  FieldView(const FieldView<U>& view)
      : data(view.data),
        size(view.size),
        components(view.components),
        entry_stride(view.entry_stride),
        component_stride(view.component_stride),
        basis(view.basis),
        keep_alive(view.keep_alive) {}

  Offset scalars() const { return Offset(size) * components; }
  S& at(Index row, int component) const {
    HEDDLE_ASSERT(row >= 0 && row < size);
    HEDDLE_ASSERT(component >= 0 && component < components);
    return data[row * entry_stride + component * component_stride];
  }

  bool is_aos() const { return component_stride == 1 && entry_stride == components; }
  bool is_soa() const { return entry_stride == 1 && (component_stride == size || components == 1); }

  /// Throws like the constructor, for members that were set one by one.
  void check() const {
    detail::check_sizes(size, components, basis.get());
    if (data == nullptr && scalars() > 0) detail::refuse_null(size, components);
  }
  detail::Footprint footprint() const {
    constexpr Offset scalar = sizeof(S);
    return {reinterpret_cast<std::uintptr_t>(data),
            scalar,
            size,
            components,
            entry_stride * scalar,
            component_stride * scalar};
  }
};

template <class A>
  requires detail::spannable<A>
struct detail::array_as_field<A> {
  template <class S, class Array>
    requires std::constructible_from<
        FieldView<S>, typename decltype(std::span(std::declval<Array&>()))::pointer, std::size_t>
  static FieldView<S> view(Array& array) {
    const std::span numbers(array);
    return {numbers.data(), numbers.size()};
  }
};

/// True if two views share memory; views with different strides count as overlapping if their
/// ranges overlap.
template <class S, class U>
bool overlap(const FieldView<S>& a, const FieldView<U>& b) {
  return detail::overlap(a.footprint(), b.footprint());
}

/// Throws `Error` (usage) that names both if they overlap.
template <class S, class U>
void check_apart(const FieldView<S>& a, const FieldView<U>& b, const char* name_of_a,
                 const char* name_of_b) {
  if (overlap(a, b)) detail::refuse_overlap(name_of_a, name_of_b);
}

/// Throws `Error` (size_mismatch) that names `what`, unless rows and components agree; throws like
/// the constructor for an invalid view.
template <class S, class U>
void check_same_shape(const FieldView<S>& a, const FieldView<U>& b, const char* what) {
  a.check();
  b.check();
  if (a.size != b.size || a.components != b.components) {
    throw Error(ErrorKind::size_mismatch,
                std::string(what) + ": a field of " + std::to_string(a.size) + " rows of " +
                    std::to_string(a.components) + " components is used with one of " +
                    std::to_string(b.size) + " of " + std::to_string(b.components));
  }
}

namespace detail {

/// Prefetch distance of the arrays of a pass, in bytes. A core alone keeps too few lines of its
/// streams in flight. But short vectors stay in the caches, and a prefetch beyond the end of a
/// thread's share would fetch from another thread's. See docs/inside/tried.md.
template <class S>
Offset prefetch_distance(const FieldView<S>& field) {
  constexpr Offset shortest = Offset(128) * 1024;
  return field.scalars() * Offset(sizeof(S)) < shortest ? 0 : 4096;
}

}  // namespace detail

/// A field of E's vector entries, on which an `Operator<E>` acts. It is zero when made, and without
/// rows after being moved from.
template <class E>
class HEDDLE_EXPORT Field {
  static_assert(check_entry<E>());

 public:
  using entry = vector_entry_t<E>;
  using scalar = typename entry::scalar;

  Field() = default;
  template <std::integral N>
  explicit Field(N rows, const Device& device = Device::cpu(),
                 VectorLayout layout = VectorLayout::aos,
                 std::shared_ptr<const Basis> basis = nullptr)
      : layout_(layout), basis_(std::move(basis)) {
    const Index size = checked_index(rows);
    detail::check_sizes(size, entry::components, basis_.get());
    scalars_ = Array<scalar>(static_cast<std::size_t>(size) * entry::components, device);
  }

  Index size() const { return static_cast<Index>(scalars_.size() / entry::components); }
  VectorLayout layout() const { return layout_; }
  const std::shared_ptr<const Basis>& basis() const { return basis_; }
  Array<scalar>& scalars() { return scalars_; }
  const Array<scalar>& scalars() const { return scalars_; }

  /// One row; on a GPU each call is a copy to or from the host: only for tests and a few rows.
  entry operator[](Index row) const {
    const auto from = view();
    entry value;
    for (int k = 0; k < entry::components; ++k) {
      move_scalar(&value.component[k], &from.at(row, k));
    }
    return value;
  }
  void set(Index row, const entry& value) {
    const auto to = view();
    for (int k = 0; k < entry::components; ++k) {
      move_scalar(&to.at(row, k), &value.component[k]);
    }
  }
  /// The same field, layout and basis in the host's memory.
  Field to_host() const {
    Field copied(size(), Device::cpu(), layout_, basis_);
    detail::copy_bytes(copied.scalars_.data(), scalars_.data(), scalars_.size() * sizeof(scalar),
                       stream());
    return copied;
  }

  const Device& device() const { return scalars_.device(); }
  const Stream& stream() const { return device().stream(); }

  FieldView<scalar> view() { return {scalars_.data(), size(), entry::components, layout_, basis_}; }
  FieldView<const scalar> view() const {
    return {scalars_.data(), size(), entry::components, layout_, basis_};
  }
  operator FieldView<scalar>() { return view(); }
  operator FieldView<const scalar>() const { return view(); }

 private:
  void move_scalar(scalar* to, const scalar* from) const {
    if (device().on_gpu()) {
      detail::copy_bytes(to, from, sizeof(scalar), stream());
    } else {
      *to = *from;
    }
  }

  Array<scalar> scalars_;
  VectorLayout layout_ = VectorLayout::aos;
  std::shared_ptr<const Basis> basis_;
};

/// The scalars of an array that FieldView accepts, as consecutive rows of E's vector entries:
/// `field_view<block<double, 3, 3>>(b)` of 3n numbers has n rows. Throws `Error` (size_mismatch)
/// unless the scalars fill whole rows.
template <class E, class A>
auto field_view(A&& array) {
  using S = typename vector_entry_t<E>::scalar;
  constexpr int components = vector_entry_t<E>::components;
  const auto rows_of = [](auto flat) {
    if (flat.components == components) return flat;
    if (!flat.is_aos() || flat.scalars() % components != 0) {
      throw Error(ErrorKind::size_mismatch, "an array of " + std::to_string(flat.scalars()) +
                                                " scalars is not a field of rows of " +
                                                std::to_string(components) +
                                                ", one after the other");
    }
    flat.size = static_cast<Index>(flat.scalars() / components);
    flat.components = components;
    flat.entry_stride = components;
    flat.component_stride = 1;
    return flat;
  };
  if constexpr (std::constructible_from<FieldView<S>, A&>) {
    return rows_of(FieldView<S>(array));
  } else {
    return rows_of(FieldView<const S>(array));
  }
}

}  // namespace heddle
