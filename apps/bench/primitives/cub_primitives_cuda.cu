#include "cub_primitives_cuda.hpp"

#include <thrust/iterator/counting_iterator.h>

#include <cstddef>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>
#include <memory>

#include "base/device_value.hpp"
#include "base/unset_array.hpp"
#include "hierarchical/pools/side_by_side_cuda.cuh"

namespace heddle::bench {

namespace {

using cuda::block_size;

struct Larger {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

template <class S>
struct ProductAt {
  const S *x, *y;
  __device__ double operator()(Offset i) const { return double(x[i]) * y[i]; }
};
template <class S>
struct MagnitudeAt {
  const S* x;
  __device__ double operator()(Offset i) const { return fabs(double(x[i])); }
};
struct LengthAt {
  const Offset* offsets;
  __device__ Index operator()(Index row) const {
    return static_cast<Index>(offsets[row + 1] - offsets[row]);
  }
};
struct IsListed {
  const int* value;
  int least;
  __device__ bool operator()(int i) const { return value[i] >= least; }
};

/// `call(work, bytes, queue)` is a call of CUB, which finds out `bytes` if `work` is null.
template <class Call>
QueuedWork with_work(const char* name, const Device& device, const Call& call) {
  std::size_t bytes = 0;
  const cuda::OnGpu here(device.stream());
  cuda::check(call(nullptr, bytes, device.stream().queue), name);
  const auto work = std::make_shared<UnsetArray<std::byte>>(bytes, device);
  return [=](const Stream& stream) {
    std::size_t size = bytes;
    const cuda::OnGpu on(stream);
    cuda::check(call(work->data(), size, stream.queue), name);
  };
}

template <class At, class Join, class T>
QueuedWork reduced(Offset count, const At& at, const Join& join, T* result, const Device& device) {
  return with_work("cub::DeviceReduce::TransformReduce", device,
                   [=](void* work, std::size_t& bytes, cudaStream_t queue) {
                     return cub::DeviceReduce::TransformReduce(work, bytes,
                                                               thrust::counting_iterator<Offset>(0),
                                                               result, count, join, at, T{}, queue);
                   });
}

__device__ Offset scanned(Offset value) {
  using Scan = cub::BlockScan<Offset, block_size>;
  __shared__ typename Scan::TempStorage work;
  Offset before = 0;
  Scan(work).ExclusiveSum(value, before);
  return before;
}

}  // namespace

template <class S>
QueuedWork cub_dot(const S* x, const S* y, Offset count, double* result, const Device& device) {
  return reduced(count, ProductAt<S>{x, y}, ::cuda::std::plus<>(), result, device);
}
template QueuedWork cub_dot(const float*, const float*, Offset, double*, const Device&);
template QueuedWork cub_dot(const double*, const double*, Offset, double*, const Device&);

template <class S>
QueuedWork cub_largest_magnitude(const S* x, Offset count, double* result, const Device& device) {
  return reduced(count, MagnitudeAt<S>{x}, Larger(), result, device);
}
template QueuedWork cub_largest_magnitude(const float*, Offset, double*, const Device&);
template QueuedWork cub_largest_magnitude(const double*, Offset, double*, const Device&);

Index cub_longest_row(const Offset* offsets, Index rows, const Device& device) {
  UnsetArray<Index> longest(1, device);
  reduced(rows, LengthAt{offsets}, Larger(), longest.data(), device)(device.stream());
  return read_value(longest.data(), device);
}

QueuedWork cub_counts(const int* number, Offset count, int* counts, int numbers,
                      const Device& device) {
  return with_work("cub::DeviceHistogram::HistogramEven", device,
                   [=](void* work, std::size_t& bytes, cudaStream_t queue) {
                     return cub::DeviceHistogram::HistogramEven(work, bytes, number, counts,
                                                                numbers + 1, 0, numbers,
                                                                static_cast<int>(count), queue);
                   });
}

QueuedWork own_counts(const int* number, Offset count, int* counts, int numbers) {
  return [=](const Stream& stream) {
    heddle::detail::fill_bytes(counts, 0, static_cast<std::size_t>(numbers) * sizeof(int), stream);
    cuda::for_each_index(stream, count, [=] __device__(Offset i) {
      cuda::take_number(counts + number[i], static_cast<unsigned>(number[i]));
    });
  };
}

QueuedWork cub_list(const int* value, int least, Offset count, int* list, int* listed,
                    const Device& device) {
  return with_work(
      "cub::DeviceSelect::If", device, [=](void* work, std::size_t& bytes, cudaStream_t queue) {
        return cub::DeviceSelect::If(work, bytes, thrust::counting_iterator<int>(0), list, listed,
                                     count, IsListed{value, least}, queue);
      });
}

QueuedWork own_list(const int* value, int least, Offset count, int* list, int* listed) {
  return [=](const Stream& stream) {
    heddle::detail::fill_bytes(listed, 0, sizeof *listed, stream);
    cuda::for_each_index(stream, count, [=] __device__(Offset i) {
      if (value[i] >= least) list[cuda::take_number(listed, 0)] = static_cast<int>(i);
    });
  };
}

QueuedWork cub_sums_of_blocks(const Offset* value, Offset blocks, Offset* before) {
  return [=](const Stream& stream) {
    cuda::for_each_thread(stream, blocks, [=] __device__(Offset block, unsigned thread) {
      const Offset i = block * block_size + thread;
      before[i] = scanned(value[i]);
    });
  };
}

QueuedWork own_sums_of_blocks(const Offset* value, Offset blocks, Offset* before) {
  return [=](const Stream& stream) {
    cuda::for_each_thread(stream, blocks, [=] __device__(Offset block, unsigned thread) {
      const Offset i = block * block_size + thread;
      before[i] = cuda::sums_of_block(value[i]).before;
    });
  };
}

}  // namespace heddle::bench
