#include "heddle/detail/narrow_values.hpp"

#include <algorithm>
#include <string>

#include "encoding.hpp"
#include "heddle/config.hpp"
#include "heddle/tools/team.hpp"
#include "narrowing.hpp"

namespace heddle {

namespace {

using detail::Narrowed;
using detail::Narrowing;

template <class T>
Narrowed narrow_on_host(const Narrowing<T>& narrowing, Offset scalars, const Stream& stream) {
  const auto narrow = [&](Offset i, Narrowed& narrowed) {
    const auto outcome = narrowing.narrow(i);
    if (outcome == Narrowing<T>::normal) narrowed.any_normal = true;
    if (outcome == Narrowing<T>::overflow)
      narrowed.first_overflow = std::min(narrowed.first_overflow, i);
    if (outcome == Narrowing<T>::underflow)
      narrowed.first_underflow = std::min(narrowed.first_underflow, i);
  };
  const auto join = [](Narrowed& narrowed, const Narrowed& other) {
    narrowed = {std::min(narrowed.first_overflow, other.first_overflow),
                std::min(narrowed.first_underflow, other.first_underflow),
                narrowed.any_normal || other.any_normal};
  };
  return parallel_reduce(team_size(stream, scalars), scalars, Narrowed{}, narrow, join);
}

/// One element, wherever the array lies.
template <class T>
T element(const Array<T>& array, Offset i, const Stream& stream) {
  T value;
  detail::copy_bytes(&value, array.data() + i, sizeof value, stream);
  return value;
}

}  // namespace

std::string detail::entry_on(Offset slot, const SlicedPattern& A, const Stream& stream) {
  Index slice = 0;
  for (Index end = A.slices(); end - slice > 1;) {
    const Index middle = slice + (end - slice) / 2;
    (element(A.offset, middle, stream) <= slot ? slice : end) = middle;
  }
  const auto lane = static_cast<Index>((slot - element(A.offset, slice, stream)) % A.C);
  const int T = A.threads.empty() ? A.T : element(A.threads, slice, stream);
  const Index first = A.first_row.empty() ? static_cast<Index>(Offset(slice) * (A.C / T))
                                          : element(A.first_row, slice, stream);
  const Index stored = std::min(first + lane / T, A.rows - 1);  // padding has no row
  const Index row = A.target.empty() ? stored : element(A.target, stored, stream);
  return "the entry of row " + std::to_string(A.row_basis->user_row(row)) + ", column " +
         std::to_string(A.column_basis->user_row(element(A.column, slot, stream)));
}

namespace {

void check(const Narrowed& narrowed, const SlotRule& rule, const SlicedPattern& A,
           const Stream& stream) {
  const bool overflows = narrowed.first_overflow != Narrowed::none;
  const bool vanishes = !narrowed.any_normal && narrowed.first_underflow != Narrowed::none;
  if (!overflows && !vanishes) return;
  const Offset at = overflows ? narrowed.first_overflow : narrowed.first_underflow;
  const detail::ScalarPlace place = detail::place_of(rule, at);
  throw Error(
      ErrorKind::bad_plan,
      "plan: iteration-precision=single: " + detail::entry_on(place.step + place.lane, A, stream) +
          " (counted from 0) is beyond the range of a float" +
          (overflows ? "" : ": all entries are too small") +
          "; scale the matrix, or leave iteration-precision=single out");
}

}  // namespace

template <class T>
void narrow_values(const SlicedPattern& pattern, InnerLayout inner, int K, const T* from, float* to,
                   const Stream& stream) {
  const auto narrowing = detail::narrowing<T>(pattern, inner, K, from, to);
  const Offset scalars = pattern.slots * K;
  if constexpr (has_cuda && std::is_same_v<T, double>) {
    if (stream.on_gpu()) {
      return check(cuda::narrow_values(narrowing, scalars,
                                       Device::cuda(stream.gpu, stream.queue, stream.memory)),
                   narrowing.rule, pattern, stream);
    }
  }
  check(narrow_on_host(narrowing, scalars, stream), narrowing.rule, pattern, stream);
}
template void narrow_values(const SlicedPattern&, InnerLayout, int, const double*, float*,
                            const Stream&);
template void narrow_values(const SlicedPattern&, InnerLayout, int, const long double*, float*,
                            const Stream&);

template <class T>
void encode_values(const SlicedPattern& pattern, InnerLayout inner, int K, StoredScalar kept,
                   const T* from, CodeWord* to, const Stream& stream) {
  auto encoding = detail::encoding<T>(pattern, inner, K, kept, from, to);
  if constexpr (has_cuda && !std::is_same_v<T, long double>) {
    if (stream.on_gpu()) {
      return cuda::encode_values(encoding, pattern.slots,
                                 Device::cuda(stream.gpu, stream.queue, stream.memory));
    }
  }
  const Offset scalars = pattern.slots * K;
  const int threads = team_size(stream, scalars);
  const auto look = [&](Offset slot, int& largest) {
    largest = std::max(largest, encoding.exponent(slot));
  };
  const auto join = [](int& largest, int other) { largest = std::max(largest, other); };
  const int largest =
      parallel_reduce(threads, pattern.slots, int{detail::Encoding<T>::no_exponent}, look, join);
  to[scalars] = static_cast<CodeWord>(encoding.choose_scale(largest));
  parallel_for(threads, pattern.slots, encoding);
}
template void encode_values(const SlicedPattern&, InnerLayout, int, StoredScalar, const float*,
                            CodeWord*, const Stream&);
template void encode_values(const SlicedPattern&, InnerLayout, int, StoredScalar, const double*,
                            CodeWord*, const Stream&);
template void encode_values(const SlicedPattern&, InnerLayout, int, StoredScalar,
                            const long double*, CodeWord*, const Stream&);

void check_can_narrow(const Stream& stream) {
  if constexpr (has_cuda) {
    if (stream.on_gpu()) cuda::check_not_captured(stream);
  }
}

}  // namespace heddle
