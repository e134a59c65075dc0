#include "sort_cuda.hpp"

#include <cstddef>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "cuda_call.hpp"
#include "device_value.hpp"
#include "unset_array.hpp"

namespace heddle::cuda {

namespace {

/// Without `work`, only returns the number of bytes that it needs.
std::size_t sort(void* work, std::size_t bytes, cub::DoubleBuffer<unsigned long long>& key,
                 cub::DoubleBuffer<Index>& value, Offset count, int key_bits,
                 const Stream& stream) {
  check(cub::DeviceRadixSort::SortPairs(work, bytes, key, value, static_cast<unsigned>(count), 0,
                                        key_bits, stream.queue),
        "cub::DeviceRadixSort::SortPairs");
  return bytes;
}

std::size_t sum(void* work, std::size_t bytes, Offset* values, Offset count, const Stream& stream) {
  check(cub::DeviceScan::ExclusiveSum(work, bytes, values, values, static_cast<unsigned>(count),
                                      stream.queue),
        "cub::DeviceScan::ExclusiveSum");
  return bytes;
}

struct LargerNumber {
  __device__ double operator()(double a, double b) const { return fmax(a, b); }
};

}  // namespace

void sort_by_key(SortBuffers& buffers, Offset count, int key_bits, const Device& device) {
  if (count == 0) return;
  const OnGpu here(device.stream());
  const int current = buffers.current;
  cub::DoubleBuffer<unsigned long long> key(buffers.key[current].data(),
                                            buffers.key[1 - current].data());
  cub::DoubleBuffer<Index> value(buffers.value[current].data(), buffers.value[1 - current].data());
  UnsetArray<std::byte> work(sort(nullptr, 0, key, value, count, key_bits, device.stream()),
                             device);
  sort(work.data(), work.size(), key, value, count, key_bits, device.stream());
  if (key.selector != 0) buffers.current = 1 - current;
}

long long sort_bytes(Offset count, const Stream& stream) {
  if (count == 0) return 0;
  const OnGpu here(stream);
  cub::DoubleBuffer<unsigned long long> key;
  cub::DoubleBuffer<Index> value;
  constexpr int all_bits = 64;
  const auto buffers = 2 * (sizeof(unsigned long long) + sizeof(Index));
  return count * static_cast<long long>(buffers) +
         static_cast<long long>(sort(nullptr, 0, key, value, count, all_bits, stream));
}

void exclusive_sum(Offset* values, Offset count, const Device& device) {
  if (count == 0) return;
  const OnGpu here(device.stream());
  UnsetArray<std::byte> work(sum(nullptr, 0, values, count, device.stream()), device);
  sum(work.data(), work.size(), values, count, device.stream());
}

double largest_of(const double* numbers, Offset count, const Device& device) {
  const OnGpu here(device.stream());
  UnsetArray<double> largest(1, device);
  std::size_t bytes = 0;
  const auto reduce = [&](void* work) {
    check(cub::DeviceReduce::Reduce(work, bytes, numbers, largest.data(), count, LargerNumber{},
                                    0.0, device.stream().queue),
          "cub::DeviceReduce::Reduce");
  };
  reduce(nullptr);
  UnsetArray<std::byte> work(bytes, device);
  reduce(work.data());
  return read_value(largest.data(), device);
}

}  // namespace heddle::cuda
