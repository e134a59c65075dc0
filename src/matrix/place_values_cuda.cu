#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "base/device_cuda.hpp"
#include "base/launch_cuda.cuh"
#include "base/profiler_range.hpp"
#include "heddle/detail/place_values.hpp"
#include "heddle/error.hpp"
#include "value_tiles.hpp"

namespace heddle {

namespace {

template <class Tiles>
__global__ void __launch_bounds__(detail::threads_of_tile, 8) turn_tiles(const Tiles tiles) {
  extern __shared__ Offset memory[];
  const auto shared = tiles.shared(memory);
  tiles.find(blockIdx.x, threadIdx.x, shared);
  __syncthreads();
  tiles.gather(blockIdx.x, threadIdx.x, shared);
  __syncthreads();
  tiles.store(blockIdx.x, threadIdx.x, shared);
}

template <class Scalar, class Map>
void place_apart(const detail::TransposedTiles<Scalar, Map>& tiles, const Stream& stream) {
  const cuda::OnGpu here(stream);
  turn_tiles<<<static_cast<unsigned>(tiles.tiles()), detail::threads_of_tile, tiles.shared_bytes(),
               stream.queue>>>(tiles);
  cuda::check(cudaGetLastError(), "the launch of a kernel");
}

template <class Unit, class Map>
void place_together(const detail::PackedTiles<Unit, Map>& tiles, const Stream& stream) {
  static_assert(detail::threads_of_tile == cuda::block_size);
  cuda::for_each_thread(stream, tiles.tiles(), [=] __device__(Offset tile, unsigned thread) {
    tiles.place(static_cast<unsigned>(tile), thread);
  });
}

bool is_aligned(const void* data, int bytes) {
  return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(bytes) == 0;
}

/// The most adjacent scalars of an entry that can move as one unit.
int scalars_of_unit(const EntryShape& shape, const void* from, const void* to) {
  int scalars = 16 / shape.scalar_bytes;
  const int together = shape.block_rows > 1 ? shape.scalars_of_element() : shape.components;
  while (scalars > 1 &&
         (together % scalars != 0 || !is_aligned(from, scalars * shape.scalar_bytes) ||
          !is_aligned(to, scalars * shape.scalar_bytes))) {
    scalars /= 2;
  }
  return scalars;
}

template <class Map>
void place_given(const SlicedPattern& pattern, InnerLayout inner, const EntryShape& shape,
                 const detail::GivenEntries<Map>& given, const void* from, void* to,
                 const Stream& stream) {
  const int K = shape.components;
  detail::UnitOrder order{shape.block_rows, shape.block_columns, shape.scalars_of_element()};
  const SlotRule rule = slot_rule(inner, K, pattern.C, pattern.slots, shape.scalar_bytes);
  if (K > 1 && (rule.planes || (rule.piece < K && rule.C > 1))) {
    const auto place = [&]<class Scalar>(Scalar /*one*/) {
      place_apart(detail::TransposedTiles<Scalar, Map>(given, order, rule, from, to), stream);
    };
    return shape.scalar_bytes == 8 ? place(0ULL) : place(0U);
  }
  const int scalars = scalars_of_unit(shape, from, to);
  order.units_of_element = std::max(1, order.units_of_element / scalars);
  const auto place = [&]<class Unit>(Unit /*one*/) {
    const auto units = static_cast<unsigned>(K / scalars);
    place_together(detail::PackedTiles<Unit, Map>(given, order, units, pattern.slots, from, to),
                   stream);
  };
  switch (scalars * shape.scalar_bytes) {
    case 16:
      return place(uint4{});
    case 8:
      return place(0ULL);
    default:
      return place(0U);
  }
}

/// Entries [first, first + count), whose values begin at `from`.
void place_from_gpu(const SlicedPattern& pattern, InnerLayout inner, const EntryShape& shape,
                    Offset first, Offset count, const void* from, void* to, const Stream& stream) {
  detail::visit_map(pattern.entry_of_slot, [&]<class Map>(const Map& map) {
    place_given(pattern, inner, shape, detail::GivenEntries<Map>{map, first, count}, from, to,
                stream);
  });
}

/// A buffer in which pieces of the host's values wait for a kernel: on the GPU, or in pinned memory
/// of the host if the GPU's is short. From there the kernel reads across the bus. That takes longer
/// than a copy, but its time does not grow as memory gets shorter.
class StagingBuffer {
 public:
  StagingBuffer(Offset bytes, const Device& device) {
    try {
      on_gpu_ = Array<unsigned char>(static_cast<std::size_t>(bytes), device);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::memory) throw;
      const cuda::OnGpu here(device.stream());
      void* data = nullptr;
      cuda::check(cudaHostAlloc(&data, static_cast<std::size_t>(bytes), cudaHostAllocMapped),
                  "cudaHostAlloc");
      on_host_.reset(data);
    }
  }
  void* data() { return on_host_ ? on_host_.get() : on_gpu_.data(); }

 private:
  struct Free {
    void operator()(void* data) const { cudaFreeHost(data); }
  };
  Array<unsigned char> on_gpu_;
  std::unique_ptr<void, Free> on_host_;
};

}  // namespace

void place_values_on_gpu(const SlicedPattern& pattern, InnerLayout inner, const EntryShape& shape,
                         std::span<const std::byte> from, std::span<std::byte> to,
                         const Stream& stream, Offset buffer_entries) {
  if ((shape.scalar_bytes != 4 && shape.scalar_bytes != 8) || shape.components > 65535) {
    throw Error(ErrorKind::unsupported, "values of " + std::to_string(shape.components) +
                                            " scalars of " + std::to_string(shape.scalar_bytes) +
                                            " bytes cannot be placed on a GPU; scalars have 4 or 8 "
                                            "bytes, entries at most 65535 scalars");
  }
  check_placed_bytes(pattern, shape, from.size(), to.size());
  if (pattern.entries == 0) return;
  const Range range("update values");
  if (cuda::is_device_memory(from.data(), stream)) {
    return place_from_gpu(pattern, inner, shape, 0, pattern.entries, from.data(), to.data(),
                          stream);
  }
  const Offset entry_bytes = Offset(shape.components) * shape.scalar_bytes;
  const Offset at_a_time = buffer_entries > 0
                               ? std::min(buffer_entries, pattern.entries)
                               : detail::entries_of_piece(pattern.entries, entry_bytes);
  StagingBuffer buffer(at_a_time * entry_bytes,
                       Device::cuda(stream.gpu, stream.queue, stream.memory));
  for (Offset first = 0; first < pattern.entries; first += at_a_time) {
    const Offset count = std::min(at_a_time, pattern.entries - first);
    detail::copy_bytes(buffer.data(), from.data() + first * entry_bytes,
                       static_cast<std::size_t>(count * entry_bytes), stream);
    place_from_gpu(pattern, inner, shape, first, count, buffer.data(), to.data(), stream);
    cuda::synchronize(stream);  // before the buffer is filled again or released
  }
}

}  // namespace heddle
