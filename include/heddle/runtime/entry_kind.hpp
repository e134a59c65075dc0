// Entries and precisions by their run-time names, and the one place where names become types.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <tuple>

#include "heddle/entries.hpp"
#include "heddle/error.hpp"
#include "heddle/export.hpp"

namespace heddle {

enum class EntryKind {
  real,
  complex,
  quaternion,
  dual_quaternion,
  block2,
  block3,
  block4,
  block6,
  complex_block3
};
enum class Precision { single_precision, double_precision };

inline constexpr std::array<std::string_view, 9> entry_kind_names = {
    "real",   "complex", "quaternion", "dual-quaternion", "block2",
    "block3", "block4",  "block6",     "complex-block3"};
inline constexpr std::array<std::string_view, 2> precision_names = {"single", "double"};

inline std::string_view name(EntryKind kind) {
  return entry_kind_names[static_cast<std::size_t>(kind)];
}
inline std::string_view name(Precision precision) {
  return precision_names[static_cast<std::size_t>(precision)];
}

/// Throws `Error` that lists the names.
HEDDLE_EXPORT EntryKind parse_entry_kind(std::string_view text);
HEDDLE_EXPORT Precision parse_precision(std::string_view text);

/// The entry types of scalar S, in the order of their kinds.
template <class S>
using EntryTypes =
    std::tuple<real<S>, complex<S>, quaternion<S>, dual_quaternion<S>, block<S, 2, 2>,
               block<S, 3, 3>, block<S, 4, 4>, block<S, 6, 6>, block<complex<S>, 3, 3>>;

/// Calls `f.template operator()<E>()` with the entry type that `kind` and scalar S name, among
/// those from `first` on.
template <class S, std::size_t first = 0, class F>
decltype(auto) visit_entry(EntryKind kind, F&& f) {
  using Types = EntryTypes<S>;
  if (kind == static_cast<EntryKind>(first)) {
    return f.template operator()<std::tuple_element_t<first, Types>>();
  }
  if constexpr (first + 1 < std::tuple_size_v<Types>) return visit_entry<S, first + 1>(kind, f);
  throw Error(ErrorKind::internal, "an entry kind without a type");
}

template <class F>
decltype(auto) visit_entry(EntryKind kind, Precision precision, F&& f) {
  return precision == Precision::double_precision ? visit_entry<double>(kind, f)
                                                  : visit_entry<float>(kind, f);
}

}  // namespace heddle

/// Expands `M(E)` for every built-in entry type of scalar S: explicit instantiations.
#define HEDDLE_FOR_EACH_ENTRY(M, S) \
  M(heddle::dual_quaternion<S>)     \
  HEDDLE_FOR_EACH_ENTRY_WITH_ADJOINT(M, S)
#define HEDDLE_FOR_EACH_ENTRY_WITH_ADJOINT(M, S) \
  M(heddle::real<S>)                             \
  M(heddle::complex<S>)                          \
  M(heddle::quaternion<S>)                       \
  M(HEDDLE_BLOCK(S, 2))                          \
  M(HEDDLE_BLOCK(S, 3))                          \
  M(HEDDLE_BLOCK(S, 4)) M(HEDDLE_BLOCK(S, 6)) M(HEDDLE_BLOCK(heddle::complex<S>, 3))
#define HEDDLE_BLOCK(T, N) heddle::block<T, N, N>
