#include "base/device_cuda.hpp"
#include "gpu_pattern.hpp"

namespace heddle::cuda {

namespace {

const void* start(const OffsetsView& offsets) {
  return offsets.wide() != nullptr ? static_cast<const void*>(offsets.wide()) : offsets.narrow();
}

template <class T>
Offset last_offset(const T* offsets, Index rows, const Stream& stream) {
  T last{};
  heddle::detail::copy_bytes(&last, offsets + rows, sizeof last, stream);
  return last;
}

template <class T>
void to_host(std::vector<T>& values, const T* from, std::size_t count, const Stream& stream) {
  values.resize(count);
  heddle::detail::copy_bytes(values.data(), from, count * sizeof(T), stream);
}

}  // namespace

Offset entries_of(const PatternView& pattern, const Stream& stream) {
  if (pattern.rows == 0) return 0;
  return pattern.offsets.wide() != nullptr
             ? last_offset(pattern.offsets.wide(), pattern.rows, stream)
             : last_offset(pattern.offsets.narrow(), pattern.rows, stream);
}

bool is_on_gpu(const PatternView& pattern) {
  return is_device_memory(start(pattern.offsets)) || is_device_memory(pattern.column);
}

HostPattern::HostPattern(const PatternView& pattern, const Stream& stream, bool with_columns)
    : view_(pattern) {
  const auto offsets = static_cast<std::size_t>(pattern.rows) + 1;
  if (is_device_memory(pattern.offsets.wide())) {
    to_host(wide_, pattern.offsets.wide(), offsets, stream);
    view_.offsets = OffsetsView(wide_.data());
  } else if (is_device_memory(pattern.offsets.narrow())) {
    to_host(narrow_, pattern.offsets.narrow(), offsets, stream);
    view_.offsets = OffsetsView(narrow_.data());
  }
  if (!with_columns) {
    view_.column = nullptr;
  } else if (is_device_memory(pattern.column)) {
    to_host(column_, pattern.column, static_cast<std::size_t>(view_.entries()), stream);
    view_.column = column_.data();
  }
}

StagedPattern::StagedPattern(const PatternView& pattern, const Device& device)
    : device_(device), view_(pattern), entries_(entries_of(pattern, device.stream())) {
  if (pattern.rows == 0 || is_device_memory(start(pattern.offsets), device.stream())) return;
  const auto offsets = static_cast<std::size_t>(pattern.rows) + 1;
  if (pattern.offsets.wide() != nullptr) {
    wide_ = Array<Offset>(std::span(pattern.offsets.wide(), offsets), device);
    view_.offsets = OffsetsView(wide_.data());
  } else {
    narrow_ = Array<Index>(std::span(pattern.offsets.narrow(), offsets), device);
    view_.offsets = OffsetsView(narrow_.data());
  }
}

void StagedPattern::stage_columns() {
  if (entries_ == 0 || is_device_memory(view_.column, device_.stream())) return;
  column_ = Array<Index>(std::span(view_.column, static_cast<std::size_t>(entries_)), device_);
  view_.column = column_.data();
}

long long StagedPattern::bytes_of_offsets(const PatternView& pattern) {
  if (pattern.rows == 0 || is_device_memory(start(pattern.offsets))) return 0;
  const auto offset_bytes =
      static_cast<long long>(pattern.offsets.wide() != nullptr ? sizeof(Offset) : sizeof(Index));
  return (pattern.rows + 1LL) * offset_bytes;
}

long long StagedPattern::bytes(const PatternView& pattern, Offset entries) {
  if (pattern.rows == 0) return 0;
  return bytes_of_offsets(pattern) +
         (is_device_memory(pattern.column) ? 0 : entries * static_cast<long long>(sizeof(Index)));
}

}  // namespace heddle::cuda
