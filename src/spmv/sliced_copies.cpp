// The narrower copies of a matrix in sliced storage that iterations read.
#include <string>
#include <vector>

#include "base/long_double.hpp"
#include "base/memory_limits.hpp"
#include "heddle/detail/narrow_values.hpp"
#include "heddle/detail/sliced_operator.hpp"
#include "matrix/exact_encoding.hpp"

namespace heddle::detail {

namespace {

/// The plan of the copy that a plan asks for.
Plan plan_of_copy(Plan plan) {
  plan.layout.stored = StoredScalar::own;
  return plan;
}

}  // namespace

template <class S>
void SlicedOperator<S>::make_narrow() {
  const StoredScalar kept = plan().layout.stored;
  if (kept == StoredScalar::own || (kept == StoredScalar::single && entry().holds_floats)) return;
  const auto& table = entry().copy(kept);
  if (!table && is_exact(kept)) {
    throw Error(ErrorKind::bad_plan,
                "plan: iteration-precision=" + std::string(name(kept)) +
                    (kept == StoredScalar::unit ? " is for quaternions of floats or doubles"
                                                : " is for entries of floats or doubles") +
                    "; leave it out");
  }
  if (!table) {
    throw Error(ErrorKind::bad_plan, "plan: iteration-precision=" + std::string(name(kept)) +
                                         " needs an entry that holds the numbers it computes with, "
                                         "but this one is encoded; leave it out");
  }
  schedule().narrow = std::make_shared<SlicedOperator>(table, state().pattern, order(),
                                                       plan_of_copy(plan()), device_);
}

template <class S>
std::shared_ptr<const LinearOperator<S>> SlicedOperator<S>::iterated_in_floats() const {
  Schedule& own = schedule();
  if (!own.narrow || !own.narrow->entry().is_encoded || !entry().narrow) return nullptr;
  if (is_exact(plan().layout.stored)) return nullptr;  // the matrix itself gets no further
  const std::lock_guard lock(own.making_floats);
  if (!own.in_floats) {
    const long long bytes = pattern().slots * entry().narrow->bytes();
    if (bytes > available_memory_for(bytes, device_)) return nullptr;
    own.in_floats = std::make_shared<SlicedOperator>(entry().narrow, state().pattern, order(),
                                                     plan_of_copy(plan()), device_);
  }
  if (own.generation_of_floats != generation()) {
    try {
      narrow_values_into(*own.in_floats);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::bad_plan) throw;
      return nullptr;  // beyond the range of floats
    }
    own.generation_of_floats = generation();
  }
  return own.in_floats;
}

template <class S>
void SlicedOperator<S>::narrow_own_values() {
  if (!schedule().narrow) return;
  narrow_values_into(*schedule().narrow);
  state().is_refused = false;
}

template <class S>
void SlicedOperator<S>::narrow_values_into(const SlicedOperator& copy) const {
  const InnerLayout inner = plan().layout.inner;
  const int K = entry().sizes.components;
  void* const to = copy.stored_values().data();
  const auto narrow = [&]<class T>(const T* from) {
    if (copy.entry().is_encoded && is_exact(plan().layout.stored)) {
      if constexpr (!std::is_same_v<T, long double>) {
        encode_exactly(pattern(), inner, K, plan().layout.stored, from, copy.stored_values(),
                       device_.stream());
      }
    } else if (copy.entry().is_encoded) {
      encode_values(pattern(), inner, K, plan().layout.stored, from, static_cast<CodeWord*>(to),
                    device_.stream());
    } else if constexpr (!std::is_same_v<T, float>) {
      narrow_values(pattern(), inner, K, from, static_cast<float*>(to), device_.stream());
    }
  };
  const void* const values = state().values.data();
  switch (entry().sizes.stored_bytes) {
    case sizeof(float):
      return narrow(static_cast<const float*>(values));
    case sizeof(double):
      return narrow(static_cast<const double*>(values));
    default:
      return narrow(static_cast<const long double*>(values));
  }
}

template <class S>
void SlicedOperator<S>::place_listed_values(std::span<const std::byte> values,
                                            ComponentOrder order) {
  const std::span<std::byte> own = stored_values();
  const Stream& stream = device_.stream();
  std::vector<std::byte> before;
  if (generation() > 0 && !own.empty()) {
    before.resize(own.size());
    copy_bytes(before.data(), own.data(), own.size(), stream);
  }
  place_values(values, order, stream);
  try {
    narrow_own_values();
  } catch (...) {
    if (!before.empty()) copy_bytes(own.data(), before.data(), before.size(), stream);
    throw;
  }
}

#define HEDDLE_SLICED_COPIES(S)                                                                    \
  template void SlicedOperator<S>::make_narrow();                                                  \
  template std::shared_ptr<const LinearOperator<S>> SlicedOperator<S>::iterated_in_floats() const; \
  template void SlicedOperator<S>::narrow_own_values();                                            \
  template void SlicedOperator<S>::place_listed_values(std::span<const std::byte>,                 \
                                                       ComponentOrder);                            \
  template void SlicedOperator<S>::narrow_values_into(const SlicedOperator<S>& copy) const;
HEDDLE_SLICED_COPIES(float)
HEDDLE_SLICED_COPIES(double)
HEDDLE_IN_LONG_DOUBLE(HEDDLE_SLICED_COPIES(long double))
#undef HEDDLE_SLICED_COPIES

}  // namespace heddle::detail
