// A method as its loop on a CPU calls it (src/solvers/krylov/host_loop.cpp): a table of functions,
// two or three for each step of its listing. The loop itself is compiled once for all methods.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "heddle/detail/loop_parts.hpp"
#include "heddle/detail/method_program.hpp"
#include "heddle/method_info.hpp"
#include "heddle/methods/judge.hpp"

namespace heddle::detail {

/// Maps the places at which a function of the table looks for vectors to vectors of the method.
using VectorMap = std::array<signed char, methods::max_vectors>;
inline constexpr VectorMap own_vectors = [] {
  VectorMap map{};
  for (std::size_t k = 0; k < map.size(); ++k) map[k] = static_cast<signed char>(k);
  return map;
}();

/// A step on the elements of one group of rows of the vectors `data`. `c`: the coefficients, each
/// with the components of the method's ring. `distance`: the prefetch distance in bytes; 0 for
/// none. Leaves the step's sums in `sums`.
template <class S>
using VisitGroup = void (*)(const FieldView<S>& x, Index group, S* const* data, const S* c,
                            Offset distance, sum_t<S>* sums);

template <class S>
struct HostStep {
  using T = sum_t<S>;
  int numbers = 0;                  // in the step's sums
  VisitGroup<S> update = nullptr;   // the step's changes, then its sums
  VisitGroup<S> sums = nullptr;     // the sums alone; null if there are none to form
  bool is_dot_of_product = false;   // the only sum is Re <v_in, v_out>, which a product forms
  VectorMap vectors = own_vectors;  // that `update` and `sums` take
  /// `sums`: `count` of them, each with the components of the method's ring.
  void (*decide)(T* c, const T* sums, int count, methods::Judge<T>& judge) = nullptr;
  /// The decision of `Orthogonalize`. `basis`: a methods::Basis of the method's ring.
  void (*decide_by_basis)(T* c, void* basis, methods::Judge<T>& judge) = nullptr;
};

template <class S>
struct HostMethod {
  int scalars = 0;  // coefficients of the method or of its preconditioned form, whichever has more
  const HostStep<S>* start = nullptr;
  const HostStep<S>* iteration = nullptr;
  /// The decision of `FormSolution`; null without a basis.
  void (*finish)(sum_t<S>* c, void* basis) = nullptr;
};

/// A method over fields of S without its listing's type: what a solver is made from
/// (method_over.hpp).
template <class S>
struct MethodOver {
  MethodInfo info;
  MethodProgram program;
  const HostMethod<S>* host = nullptr;
};

/// `program` and `method` belong to one listing, and outlive the loop.
template <class S>
std::unique_ptr<MethodLoop<S>> make_host_loop(const MethodProgram& program,
                                              const HostMethod<S>& method, LoopParts<S> parts);

}  // namespace heddle::detail
