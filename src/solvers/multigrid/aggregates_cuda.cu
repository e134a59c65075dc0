#include "aggregates_cuda.hpp"

#include <algorithm>

#include "base/cuda_handles.hpp"
#include "base/launch_cuda.cuh"
#include "base/sort_cuda.hpp"
#include "base/stream_order_cuda.hpp"
#include "base/temporary_memory_cuda.hpp"
#include "setup_rows.hpp"

namespace heddle::cuda {

namespace aggregates {

/// Lists of rows, each after its length, that reach the host part by part: a part is read while the
/// next one is on its way.
class ArrivingRows {
 public:
  /// `longest`: at least as long as any list.
  ArrivingRows(std::span<const Index> listed, Offset longest, PinnedBuffer& buffer,
               const Stream& stream)
      : listed_(listed), stream_(stream) {
    constexpr Offset least = Offset(1) << 14, most = Offset(1) << 18, wanted = 32;
    of_part_ = std::clamp(static_cast<Offset>(listed.size()) / wanted, least, most);
    const Offset ahead = longest, stride = ahead + of_part_;
    const OnGpu here(stream_);
    Index* const begin = buffer.words(parts * stride, stream_);
    for (Offset k = 0; k < parts; ++k) {
      parts_[k] = {begin + k * stride + ahead, 0, make_event()};
      ask(parts_[k]);
    }
  }
  ArrivingRows(const ArrivingRows&) = delete;
  ArrivingRows& operator=(const ArrivingRows&) = delete;

  /// List of a row after the last one that was asked for. Valid until the next call.
  std::span<const Index> operator[](Index row) {
    for (; row_ < row; ++row_) at_ += length_of_next() + 1;
    ++row_;
    const Index length = length_of_next();
    const std::span<const Index> list(at_ + 1, static_cast<std::size_t>(length));
    at_ += length + 1;
    return list;
  }

 private:
  static constexpr int parts = 2;
  struct Part {
    Index* begin = nullptr;
    Offset words = 0;
    Event has_come;
  };

  void ask(Part& part) {
    part.words = std::min(of_part_, static_cast<Offset>(listed_.size()) - asked_);
    if (part.words <= 0) return;
    check(cudaMemcpyAsync(part.begin, listed_.data() + asked_,
                          static_cast<std::size_t>(part.words) * sizeof(Index),
                          cudaMemcpyDeviceToHost, stream_.queue),
          "cudaMemcpyAsync");
    check(cudaEventRecord(part.has_come.get(), stream_.queue), "cudaEventRecord");
    asked_ += part.words;
  }
  /// Length of the next list, once all of that list has arrived.
  Index length_of_next() {
    while (end_ == at_ || end_ - at_ <= *at_) take_part();
    return *at_;
  }
  /// Takes the next part, and puts the rest of the last one in front of it.
  void take_part() {
    const OnGpu here(stream_);
    Part& part = parts_[next_];
    check(cudaEventSynchronize(part.has_come.get()), "cudaEventSynchronize");
    Index* const begin = part.begin - (end_ - at_);
    std::copy(at_, end_, begin);
    if (at_ != nullptr) ask(parts_[1 - next_]);
    at_ = begin;
    end_ = part.begin + part.words;
    next_ = 1 - next_;
  }

  std::span<const Index> listed_;
  Offset of_part_ = 0, asked_ = 0;
  Stream stream_;
  Part parts_[parts];
  int next_ = 0;
  Index row_ = 0;
  const Index *at_ = nullptr, *end_ = nullptr;
};

}  // namespace aggregates

Index* PinnedBuffer::words(Offset count, const Stream& stream) {
  if (count_ < count) {
    data_ = {};
    data_ = pinned_memory(static_cast<std::size_t>(count) * sizeof(Index), stream);
    count_ = count;
  }
  return static_cast<Index*>(data_.get());
}

heddle::detail::Aggregates aggregate(const DevicePattern& a, const DeviceNorms& norms,
                                     double strength, PinnedBuffer& buffer, const Device& device) {
  using aggregates::ArrivingRows;
  using heddle::detail::Aggregates;
  const Stream& stream = device.stream();
  const TemporaryMemory temporary(device);
  const auto rows = static_cast<std::size_t>(a.rows);
  const device::StrongRows strong{a.view(), norms.squared.data(), norms.diagonal.data(),
                                  std::max(strength * strength, heddle::detail::min_squared)};
  // Each row's strong columns, after their number.
  UnsetArray<Offset> begins(rows + 1, temporary.device());
  for_each_index(stream, Offset(a.rows) + 1,
                 [=, to = begins.data(), count = a.rows] __device__(Offset row) {
                   to[row] = row < count ? strong.count(static_cast<Index>(row)) + 1 : 0;
                 });
  exclusive_sum(begins.data(), Offset(a.rows) + 1, temporary.device());
  Offset words = 0;
  heddle::detail::copy_bytes(&words, begins.data() + rows, sizeof words, stream);
  UnsetArray<Index> listed(static_cast<std::size_t>(words), temporary.device());
  for_each_index(stream, a.rows,
                 [=, begin = begins.data(), to = listed.data()] __device__(Offset row) {
                   Index* const own = to + begin[row];
                   *own = static_cast<Index>(begin[row + 1] - begin[row] - 1);
                   strong.list(static_cast<Index>(row), own + 1);
                 });
  Array<Index> roots(rows, Device::cpu(), 0xff);
  Aggregates result;
  ArrivingRows arriving(listed.span(), a.longest, buffer, stream);
  result.count =
      heddle::detail::take_roots(a.rows, [&](Index row) { return arriving[row]; }, roots.data());
  // Rows join only what the roots took.
  const Array<Index> taken(roots.span(), temporary.device());
  result.of = Array<Index>(rows, device);
  Array<int> left(1, temporary.device());
  for_each_index(stream, a.rows,
                 [=, taken = taken.data(), of = result.of.data(), left = left.data(),
                  is_coupled = norms.is_coupled.data()] __device__(Offset at) {
                   const auto row = static_cast<Index>(at);
                   of[row] = strong.aggregate(row, taken, heddle::detail::likeness_of_norms);
                   if (of[row] < 0 && is_coupled[row] != 0) atomicAdd(left, 1);
                 });
  result.left = left.to_host()[0];
  return result;
}

DevicePattern tentative_pattern(const heddle::detail::Aggregates& aggregates,
                                const Device& device) {
  DevicePattern t;
  t.rows = static_cast<Index>(aggregates.of.size());
  t.columns = aggregates.count;
  t.longest = 1;
  t.offsets = Array<Offset>(aggregates.of.size() + 1, device);
  const Index* const of = aggregates.of.data();
  const Stream& stream = device.stream();
  for_each_index(stream, t.rows, [=, to = t.offsets.data()] __device__(Offset row) {
    to[row] = of[row] >= 0 ? 1 : 0;
  });
  const TemporaryMemory temporary(device);
  exclusive_sum(t.offsets.data(), Offset(t.rows) + 1, temporary.device());
  Offset entries = 0;
  heddle::detail::copy_bytes(&entries, t.offsets.data() + t.rows, sizeof entries, stream);
  t.column = Array<Index>(static_cast<std::size_t>(entries), device);
  for_each_index(stream, t.rows,
                 [=, begin = t.offsets.data(), to = t.column.data()] __device__(Offset row) {
                   if (of[row] >= 0) to[begin[row]] = of[row];
                 });
  return t;
}

}  // namespace heddle::cuda
