#include "tile_patterns_cuda.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/launch_cuda.cuh"
#include "base/sort_cuda.hpp"
#include "base/temporary_memory_cuda.hpp"
#include "pattern_rows.hpp"

namespace heddle::cuda {

namespace tile_patterns {

using device::PatternRows, device::TermSearch;

/// Lanes of a warp, or a block, that find a row of a product together.
template <int size>
struct FindingTeam {
  static constexpr int lanes = size;
  int lane;

  template <class F>
  __device__ __forceinline__ void each(const F& f) const {
    f(lane);
    meet();
  }
  __device__ __forceinline__ void meet() const {
    if constexpr (lanes > 32) {
      __syncthreads();
    } else {
      const int first = static_cast<int>(threadIdx.x) % 32 / lanes * lanes;
      __syncwarp(lanes == 32 ? 0xffffffffu : ((1u << lanes % 32) - 1) << first);
    }
  }
  /// What was there; a column takes the place of none.
  __device__ __forceinline__ Index take(Index* place, Index none, Index column) const {
    const Index before = *static_cast<volatile Index*>(place);
    return before == none ? atomicCAS(place, none, column) : before;
  }
  __device__ __forceinline__ int add(int* sum, int value) const { return atomicAdd(sum, value); }
  __device__ __forceinline__ void mark(unsigned* word, unsigned bit) const {
    if ((*static_cast<volatile unsigned*>(word) & bit) == 0) atomicOr(word, bit);
  }
  __device__ __forceinline__ void lower(int* least, int value) const { atomicMin(least, value); }
  __device__ __forceinline__ void raise(int* most, int value) const { atomicMax(most, value); }
};

/// Rows that are left to a larger team, in the order in which they come.
struct RowList {
  Index* row = nullptr;  // null: the first `count`
  unsigned* count = nullptr;
  Offset all = 0;

  __device__ __forceinline__ Offset size() const { return row == nullptr ? all : *count; }
  __device__ __forceinline__ Index operator[](Offset k) const {
    return row == nullptr ? static_cast<Index>(k) : row[k];
  }
  __device__ __forceinline__ void append(Index added) const { row[atomicAdd(count, 1u)] = added; }
};

/// Teams by the length of rows: lanes, columns that have room, terms that they take.
template <int lanes_, int columns_, int most_terms_>
struct Team {
  static constexpr int lanes = lanes_, columns = columns_, most_terms = most_terms_;
  static constexpr int threads = lanes > 128 ? lanes : 128, teams = threads / lanes;
};
using FewColumns = Team<8, 64, 256>;
using SomeColumns = Team<32, 256, 4096>;
using ManyColumns = Team<256, 2048, std::numeric_limits<int>::max()>;
constexpr int teams_by_length = 3;
constexpr int threads_of_long_row = 512;

template <class T>
__global__ void __launch_bounds__(T::threads)
    find_rows(const PatternRows rows, const RowList from, const RowList next) {
  __shared__ Index meeting[T::teams][3 * T::columns];
  __shared__ int counts[T::teams][2];
  const int number = static_cast<int>(threadIdx.x) / T::lanes;
  const FindingTeam<T::lanes> team{static_cast<int>(threadIdx.x) % T::lanes};
  const device::MeetingRoom room{meeting[number],    meeting[number] + 2 * T::columns,
                                 &counts[number][0], &counts[number][1],
                                 T::columns,         T::most_terms};
  const Offset stride = Offset(gridDim.x) * T::teams;
  for (Offset k = Offset(blockIdx.x) * T::teams + number; k < from.size(); k += stride) {
    const Index row = from[k];
    const bool found = device::find_row(team, rows, row, room);
    if (!found && rows.column == nullptr && team.lane == 0) next.append(row);
    team.meet();
  }
}

__global__ void __launch_bounds__(threads_of_long_row)
    find_long_rows(const PatternRows rows, const RowList from, unsigned* bits, Offset words) {
  __shared__ int counts[threads_of_long_row], bounds[2];
  const FindingTeam<threads_of_long_row> team{static_cast<int>(threadIdx.x)};
  const device::MarkedColumns marked{bits + blockIdx.x * words, &bounds[0], &bounds[1], counts};
  for (Offset k = blockIdx.x; k < from.size(); k += gridDim.x) {
    device::find_long_row(team, rows, from[k], marked);
    team.meet();
  }
}

int processors(const Stream& stream) {
  int count = 0;
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, stream.gpu),
        "cudaDeviceGetAttribute");
  return count;
}

/// Finds rows of a product by teams; those that each leaves are the next one's.
class RowFinder {
 public:
  RowFinder(const PatternRows& rows, Index columns, const Device& device)
      : rows_(rows),
        words_(columns / 32 + 1),
        stream_(device.stream()),
        device_(device),
        left_(static_cast<std::size_t>(rows.a.rows) * teams_by_length, device),
        counts_(teams_by_length, device),
        most_blocks_(processors(stream_) * 16) {}

  void count() {
    find();
    long_rows_ = counts_.to_host()[teams_by_length - 1];
    if (long_rows_ == 0) return;
    constexpr Offset most_bytes = Offset(64) << 20;
    const Offset most = std::max<Offset>(most_bytes / (words_ * Offset(sizeof(unsigned))), 1);
    blocks_of_long_rows_ = std::min({Offset(long_rows_), most, Offset(processors(stream_)) * 2});
    bits_ = Array<unsigned>(static_cast<std::size_t>(blocks_of_long_rows_ * words_), device_);
    find_long();
  }
  void put(Index* column) {
    rows_.column = column;
    find();
    if (long_rows_ > 0) find_long();
  }

 private:
  RowList left(int team) {
    return {left_.data() + Offset(rows_.a.rows) * team, counts_.data() + team, 0};
  }
  void find() {
    const OnGpu here(stream_);
    find_by<FewColumns>({nullptr, nullptr, rows_.a.rows}, left(0));
    find_by<SomeColumns>(left(0), left(1));
    find_by<ManyColumns>(left(1), left(2));
  }
  template <class T>
  void find_by(const RowList& from, const RowList& next) {
    const Offset blocks = (Offset(rows_.a.rows) + T::teams - 1) / T::teams;
    if (blocks == 0) return;
    find_rows<T><<<static_cast<unsigned>(std::min<Offset>(blocks, most_blocks_)), T::threads, 0,
                   stream_.queue>>>(rows_, from, next);
    check(cudaGetLastError(), "the launch of a kernel");
  }
  void find_long() {
    const OnGpu here(stream_);
    find_long_rows<<<static_cast<unsigned>(blocks_of_long_rows_), threads_of_long_row, 0,
                     stream_.queue>>>(rows_, left(teams_by_length - 1), bits_.data(), words_);
    check(cudaGetLastError(), "the launch of a kernel");
  }

  PatternRows rows_;
  Offset words_;
  Stream stream_;
  Device device_;
  UnsetArray<Index> left_;
  Array<unsigned> counts_;
  int most_blocks_;
  Offset long_rows_ = 0, blocks_of_long_rows_ = 0;
  Array<unsigned> bits_;
};

/// The largest power of two of lanes that rows of such a mean length keep at work.
int lanes_for(double length) {
  int lanes = 1;
  while (lanes < 32 && 2 * lanes <= length) lanes *= 2;
  return lanes;
}

Offset longest_row(const Array<Offset>& offsets, Index rows, const Device& device) {
  Array<Offset> longest(1, device);
  for_each_index(device.stream(), rows,
                 [at = offsets.data(), most = longest.data()] __device__(Offset row) {
                   const Offset length = at[row + 1] - at[row];
                   if (length > *most) atomicMax(most, length);
                 });
  return longest.to_host()[0];
}

/// The row of each entry.
UnsetArray<Index> rows_of_entries(const DevicePattern& a, const Device& device) {
  UnsetArray<Index> row(a.column.size(), device);
  for_each_index(
      device.stream(), a.entries(), [rows = a.view(), to = row.data()] __device__(Offset entry) {
        to[entry] = static_cast<Index>(
            TermSearch::first_at_least(rows.offsets, 0, Offset(rows.rows) + 1, entry + 1) - 1);
      });
  return row;
}

/// Of each entry of a symmetric pattern; empty for another.
Array<Offset> mirror_of(const DevicePattern& c, const Device& temporary, const Device& device) {
  const UnsetArray<Index> row = rows_of_entries(c, temporary);
  Array<Offset> mirror(c.column.size(), device);
  Array<int> misses(1, temporary);
  for_each_index(
      device.stream(), c.entries(),
      [pattern = c.view(), row = row.data(), to = mirror.data(),
       misses = misses.data()] __device__(Offset entry) {
        const Index column = pattern.column[entry];
        const Offset other = TermSearch::from(pattern, column, row[entry]);
        to[entry] = other;
        if (other == pattern.offsets[column + 1] || pattern.column[other] != row[entry]) {
          *misses = 1;
        }
      });
  return misses.to_host()[0] == 0 ? std::move(mirror) : Array<Offset>();
}

template <class Place>
void put_places(const TermSearch& search, Offset entries, Offset terms, unsigned char* places,
                const Stream& stream) {
  for_each_index(stream, terms, [=, to = reinterpret_cast<Place*>(places)] __device__(Offset term) {
    to[term] = static_cast<Place>(search.place_of(term, entries));
  });
}

}  // namespace tile_patterns

DevicePattern product_pattern(const DevicePattern& a, const DevicePattern& b,
                              const Device& device) {
  using namespace tile_patterns;
  DevicePattern c;
  c.rows = a.rows;
  c.columns = b.columns;
  c.offsets = Array<Offset>(static_cast<std::size_t>(a.rows) + 1, device);
  const TemporaryMemory temporary(device);
  PatternRows rows{a.view(), b.view(), lanes_for(b.mean_length()), c.offsets.data(), nullptr};
  RowFinder finder(rows, b.columns, temporary.device());
  finder.count();
  exclusive_sum(c.offsets.data(), Offset(a.rows) + 1, temporary.device());
  Offset entries = 0;
  heddle::detail::copy_bytes(&entries, c.offsets.data() + a.rows, sizeof entries, device.stream());
  c.column = Array<Index>(static_cast<std::size_t>(entries), device);
  if (entries > 0) finder.put(c.column.data());
  c.longest = longest_row(c.offsets, c.rows, temporary.device());
  return c;
}

DevicePlaces product_places(const DevicePattern& a, const DevicePattern& b, const DevicePattern& c,
                            bool is_hermitian, const Device& device) {
  using namespace tile_patterns;
  const Stream& stream = device.stream();
  const TemporaryMemory temporary(device);
  DevicePlaces places;
  if (is_hermitian && c.rows == c.columns) {
    places.mirror = mirror_of(c, temporary.device(), device);
  }
  const Offset entries = a.entries();
  const UnsetArray<Index> row = rows_of_entries(a, temporary.device());
  Array<Offset> first(static_cast<std::size_t>(entries) + 1, temporary.device());
  TermSearch search{a.view(), b.view(), c.view(), row.data(), first.data(), !places.mirror.empty()};
  for_each_index(stream, entries, [=, to = first.data()] __device__(Offset entry) {
    to[entry] = search.terms_of(entry);
  });
  exclusive_sum(first.data(), entries + 1, temporary.device());
  places.first = Array<Offset>(static_cast<std::size_t>(a.rows) + 1, device);
  for_each_index(stream, Offset(a.rows) + 1, [=, to = places.first.data()] __device__(Offset at_row) {
    to[at_row] = search.first[search.a.offsets[at_row]];
  });
  Offset terms = 0;
  heddle::detail::copy_bytes(&terms, first.data() + entries, sizeof terms, stream);
  const auto put = [&]<class Place>() {
    places.bytes = sizeof(Place);
    places.of_terms = Array<unsigned char>(static_cast<std::size_t>(terms) * sizeof(Place), device);
    put_places<Place>(search, entries, terms, places.of_terms.data(), stream);
  };
  if (c.longest <= std::numeric_limits<std::uint8_t>::max()) {
    put.operator()<std::uint8_t>();
  } else if (c.longest <= std::numeric_limits<std::uint16_t>::max()) {
    put.operator()<std::uint16_t>();
  } else {
    put.operator()<std::uint32_t>();
  }
  device.synchronize();
  return places;
}

DevicePattern adjoint_pattern(const DevicePattern& a, Array<Offset>& place, const Device& device) {
  using namespace tile_patterns;
  const Stream& stream = device.stream();
  const Offset entries = a.entries();
  if (entries > std::numeric_limits<Index>::max()) {
    throw Error(ErrorKind::unsupported, "the adjoint of 2^31 entries and more, on a GPU");
  }
  DevicePattern turned;
  turned.rows = a.columns;
  turned.columns = a.rows;
  turned.offsets = Array<Offset>(static_cast<std::size_t>(a.columns) + 1, device);
  turned.column = Array<Index>(a.column.size(), device);
  place = Array<Offset>(a.column.size(), device);
  const TemporaryMemory temporary(device);
  const UnsetArray<Index> row = rows_of_entries(a, temporary.device());
  SortBuffers sorted(a.column.size(), temporary.device());
  for_each_index(stream, entries,
                 [column = a.column.data(), key = sorted.key[0].data(),
                  entry = sorted.value[0].data()] __device__(Offset i) {
                   key[i] = static_cast<unsigned>(column[i]);
                   entry[i] = static_cast<Index>(i);
                 });
  sort_by_key(sorted, entries, std::bit_width(static_cast<unsigned>(a.columns)),
              temporary.device());
  for_each_index(stream, entries,
                 [entry = sorted.value[sorted.current].data(), row = row.data(),
                  column = turned.column.data(), place = place.data()] __device__(Offset k) {
                   column[k] = row[entry[k]];
                   place[entry[k]] = k;
                 });
  for_each_index(stream, Offset(a.columns) + 1,
                 [key = sorted.key[sorted.current].data(), entries,
                  offset = turned.offsets.data()] __device__(Offset column) {
                   offset[column] = TermSearch::first_at_least(
                       key, 0, entries, static_cast<unsigned long long>(column));
                 });
  turned.longest = longest_row(turned.offsets, turned.rows, temporary.device());
  return turned;
}

Array<Offset> diagonal_entries(const DevicePattern& a, const Device& device) {
  using tile_patterns::TermSearch;
  Array<Offset> diagonal(static_cast<std::size_t>(a.rows), device);
  for_each_index(
      device.stream(), a.rows, [pattern = a.view(), to = diagonal.data()] __device__(Offset i) {
        const auto row = static_cast<Index>(i);
        const Offset found = TermSearch::from(pattern, row, row);
        const bool is_there = found < pattern.offsets[i + 1] && pattern.column[found] == row;
        to[i] = is_there ? found : -1;
      });
  device.synchronize();
  return diagonal;
}

}  // namespace heddle::cuda
