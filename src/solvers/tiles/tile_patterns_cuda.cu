#include "tile_patterns_cuda.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/launch_cuda.cuh"
#include "base/sort_cuda.hpp"
#include "base/temporary_memory_cuda.hpp"
#include "pattern_rows.hpp"
#include "row_team_cuda.cuh"

namespace heddle::cuda {

namespace tile_patterns {

using device::first_at_least, device::first_from, device::PatternRows, device::PlaceRows;

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
      __syncwarp(tile_values::mask_of_team(lanes));
    }
  }
  /// Returns the previous value; a column is stored only where that is `none`.
  __device__ __forceinline__ Index take(Index* place, Index none, Index column) const {
    const Index before = *static_cast<volatile Index*>(place);
    return before == none ? atomicCAS(place, none, column) : before;
  }
  __device__ __forceinline__ int add(int* sum, int value) const { return atomicAdd(sum, value); }
  __device__ __forceinline__ void mark(unsigned* word, unsigned bit) const {
    if ((*static_cast<volatile unsigned*>(word) & bit) == 0) atomicOr(word, bit);
  }
  __device__ __forceinline__ void lower(int* least, int value) const {
    if (value < *static_cast<volatile int*>(least)) atomicMin(least, value);
  }
  __device__ __forceinline__ void raise(int* most, int value) const {
    if (value > *static_cast<volatile int*>(most)) atomicMax(most, value);
  }
};

/// Rows that are left to a larger team, in the order in which they come.
struct RowList {
  Index* row = nullptr;  // null: the first `all` rows
  unsigned* count = nullptr;
  Offset all = 0;

  __device__ __forceinline__ Offset size() const { return row == nullptr ? all : *count; }
  __device__ __forceinline__ Index operator[](Offset k) const {
    return row == nullptr ? static_cast<Index>(k) : row[k];
  }
  __device__ __forceinline__ void append(Index added) const { row[atomicAdd(count, 1u)] = added; }
};

/// Teams by the length of rows: lanes, columns that have room, most terms that they take.
template <int lanes_, int columns_, int max_terms_>
struct Team {
  static constexpr int lanes = lanes_, columns = columns_, max_terms = max_terms_;
  static constexpr int threads = lanes > 128 ? lanes : 128, teams = threads / lanes;
};
using FewColumns = Team<8, 64, 256>;
using SomeColumns = Team<32, 256, 4096>;
using ManyColumns = Team<256, 2048, std::numeric_limits<int>::max()>;
constexpr int teams_by_length = 3;
constexpr int threads_of_long_row = 512;

/// Counts columns of rows, or puts them.
struct FindRow {
  PatternRows rows;

  template <class Team>
  __device__ __forceinline__ bool operator()(const Team& team, Index row,
                                             const device::MeetingWorkspace& workspace) const {
    return device::find_row(team, rows, row, workspace);
  }
};
template <class Place>
struct PlaceRow {
  PlaceRows rows;
  Place* places;

  template <class Team>
  __device__ __forceinline__ bool operator()(const Team& team, Index row,
                                             const device::MeetingWorkspace& workspace) const {
    return device::place_row(team, rows, row, workspace, places);
  }
};

/// `next` gets the rows that are left, unless it is empty.
template <class T, class Body>
__global__ void __launch_bounds__(T::threads)
    take_rows(const Body body, const RowList from, const RowList next) {
  __shared__ Index meeting[T::teams][3 * T::columns];
  __shared__ int counts[T::teams][3];
  const int number = static_cast<int>(threadIdx.x) / T::lanes;
  const FindingTeam<T::lanes> team{static_cast<int>(threadIdx.x) % T::lanes};
  int* const own = counts[number];
  const device::MeetingWorkspace workspace{
      meeting[number], meeting[number] + 2 * T::columns, own, own + 1, own + 2, T::columns,
      T::max_terms,    T::lanes == FewColumns::lanes};
  const Offset stride = Offset(gridDim.x) * T::teams;
  for (Offset k = Offset(blockIdx.x) * T::teams + number; k < from.size(); k += stride) {
    const Index row = from[k];
    const bool is_done = body(team, row, workspace);
    if (!is_done && next.row != nullptr && team.lane == 0) next.append(row);
    team.meet();
  }
}

__global__ void __launch_bounds__(threads_of_long_row)
    find_long_rows(const PatternRows rows, const RowList from, unsigned* bits, Offset words) {
  __shared__ int counts[threads_of_long_row], bounds[3];
  const FindingTeam<threads_of_long_row> team{static_cast<int>(threadIdx.x)};
  const device::MarkedColumns marked{bits + blockIdx.x * words, &bounds[0], &bounds[1], &bounds[2],
                                     counts};
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

/// Rows by teams; the rows that each team leaves go to the next.
class RowsByLength {
 public:
  RowsByLength(Index rows, const Device& device)
      : rows_(rows),
        stream_(device.stream()),
        left_(static_cast<std::size_t>(rows) * teams_by_length, device),
        counts_(teams_by_length, device),
        max_blocks_(processors(stream_) * 16) {}

  /// Rows that all teams left, in the order in which they came.
  RowList left(int team = teams_by_length - 1) {
    return {left_.data() + Offset(rows_) * team, counts_.data() + team, 0};
  }
  Offset count_left() const { return counts_.to_host()[teams_by_length - 1]; }

  /// `again`: each team leaves the rows that it left before.
  template <class Body>
  void take(const Body& body, bool again) {
    const OnGpu here(stream_);
    const auto next = [&](int team) { return again ? RowList() : left(team); };
    take_by<FewColumns>(body, {nullptr, nullptr, rows_}, next(0));
    take_by<SomeColumns>(body, left(0), next(1));
    take_by<ManyColumns>(body, left(1), next(2));
  }

 private:
  template <class T, class Body>
  void take_by(const Body& body, const RowList& from, const RowList& next) {
    const Offset blocks = (Offset(rows_) + T::teams - 1) / T::teams;
    if (blocks == 0) return;
    take_rows<T><<<static_cast<unsigned>(std::min<Offset>(blocks, max_blocks_)), T::threads, 0,
                   stream_.queue>>>(body, from, next);
    check(cudaGetLastError(), "the launch of a kernel");
  }

  Index rows_;
  Stream stream_;
  UnsetArray<Index> left_;
  Array<unsigned> counts_;
  int max_blocks_;
};

/// Finds rows of a product, using bits for those that no team takes.
class RowFinder {
 public:
  RowFinder(const PatternRows& rows, Index columns, double mean_terms, Offset max_bytes,
            const Device& device)
      : rows_(rows), words_(columns / 32 + 1), device_(device), by_length_(rows.a.rows, device) {
    Offset most = 4;
    while (most < FewColumns::columns && most < mean_terms) most *= 2;
    const Offset bytes = Offset(rows.a.rows) * most * Offset(sizeof(Index));
    if (bytes > max_bytes) return;
    kept_ = UnsetArray<Index>(static_cast<std::size_t>(rows.a.rows * most), device);
    rows_.kept = kept_.data();
    rows_.max_kept = static_cast<int>(most);
  }

  void count() {
    by_length_.take(FindRow{rows_}, false);
    const Offset count = by_length_.count_left();
    if (count == 0) return;
    constexpr Offset max_bytes = Offset(64) << 20;
    const Offset most = std::max<Offset>(max_bytes / (words_ * Offset(sizeof(unsigned))), 1);
    blocks_ = std::min({count, most, Offset(processors(device_.stream())) * 2});
    bits_ = Array<unsigned>(static_cast<std::size_t>(blocks_ * words_), device_);
    find_long();
  }
  void put(Index* column) {
    rows_.column = column;
    by_length_.take(FindRow{rows_}, true);
    find_long();
  }

 private:
  void find_long() {
    if (blocks_ == 0) return;
    const OnGpu here(device_.stream());
    find_long_rows<<<static_cast<unsigned>(blocks_), threads_of_long_row, 0,
                     device_.stream().queue>>>(rows_, by_length_.left(), bits_.data(), words_);
    check(cudaGetLastError(), "the launch of a kernel");
  }

  PatternRows rows_;
  Offset words_;
  Device device_;
  RowsByLength by_length_;
  UnsetArray<Index> kept_;
  Offset blocks_ = 0;
  Array<unsigned> bits_;
};

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
  for_each_index(device.stream(), a.entries(),
                 [rows = a.view(), to = row.data()] __device__(Offset entry) {
                   to[entry] = static_cast<Index>(
                       first_at_least(rows.offsets, 0, Offset(rows.rows) + 1, entry + 1) - 1);
                 });
  return row;
}

/// The mirror of each entry of a symmetric pattern; empty for any other.
Array<Offset> mirror_of(const DevicePattern& c, const Device& temporary, const Device& device) {
  const UnsetArray<Index> row = rows_of_entries(c, temporary);
  Array<Offset> mirror(c.column.size(), device);
  Array<int> misses(1, temporary);
  for_each_index(
      device.stream(), c.entries(),
      [pattern = c.view(), row = row.data(), to = mirror.data(),
       misses = misses.data()] __device__(Offset entry) {
        const Index column = pattern.column[entry];
        const Offset other = first_from(pattern, column, row[entry]);
        to[entry] = other;
        if (other == pattern.offsets[column + 1] || pattern.column[other] != row[entry]) {
          *misses = 1;
        }
      });
  return misses.to_host()[0] == 0 ? std::move(mirror) : Array<Offset>();
}

}  // namespace tile_patterns

DevicePattern product_pattern(const DevicePattern& a, const DevicePattern& b,
                              const Device& device) {
  using namespace tile_patterns;
  DevicePattern c{
      Array<Offset>(static_cast<std::size_t>(a.rows) + 1, device), {}, a.rows, b.columns, 0};
  const TemporaryMemory temporary(device);
  PatternRows rows{a.view(), b.view(), tile_values::lanes_of_warp(b.mean_length()),
                   c.offsets.data(), nullptr};
  constexpr Offset part_of_memory = 8;
  RowFinder finder(rows, b.columns, a.mean_length() * b.mean_length(),
                   device.available_memory() / part_of_memory, temporary.device());
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
  UnsetArray<Index> row;
  if (!places.mirror.empty()) row = rows_of_entries(a, temporary.device());
  Array<Offset> first(static_cast<std::size_t>(entries) + 1, temporary.device());
  const PlaceRows rows{{a.view(), b.view(), tile_values::lanes_of_warp(b.mean_length())},
                       c.view(),
                       row.data(),
                       first.data()};
  for_each_index(stream, entries, [=, to = first.data()] __device__(Offset entry) {
    to[entry] = rows.terms_of(entry);
  });
  exclusive_sum(first.data(), entries + 1, temporary.device());
  places.first = Array<Offset>(static_cast<std::size_t>(a.rows) + 1, device);
  for_each_index(stream, Offset(a.rows) + 1,
                 [=, to = places.first.data()] __device__(Offset of_row) {
                   to[of_row] = rows.first[rows.of.a.offsets[of_row]];
                 });
  Offset terms = 0;
  heddle::detail::copy_bytes(&terms, first.data() + entries, sizeof terms, stream);
  RowsByLength by_length(a.rows, temporary.device());
  const auto put = [&]<class Place>() {
    places.bytes = sizeof(Place);
    places.of_terms = Array<unsigned char>(static_cast<std::size_t>(terms) * sizeof(Place), device);
    const PlaceRow<Place> body{rows, reinterpret_cast<Place*>(places.of_terms.data())};
    if (terms > 0) by_length.take(body, false);
  };
  if (c.longest <= 0xff) {
    put.operator()<std::uint8_t>();
  } else {
    c.longest <= 0xffff ? put.operator()<std::uint16_t>() : put.operator()<std::uint32_t>();
  }
  device.synchronize();
  return places;
}

DevicePattern adjoint_pattern(const DevicePattern& a, Array<Offset>& place, const Device& device) {
  using namespace tile_patterns;
  const Stream& stream = device.stream();
  const Offset entries = a.entries();
  if (entries > std::numeric_limits<Index>::max()) {
    throw Error(ErrorKind::unsupported, "a GPU makes no adjoint of 2^31 entries or more");
  }
  DevicePattern transpose{Array<Offset>(static_cast<std::size_t>(a.columns) + 1, device),
                          Array<Index>(a.column.size(), device), a.columns, a.rows, 0};
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
                  column = transpose.column.data(), place = place.data()] __device__(Offset k) {
                   column[k] = row[entry[k]];
                   place[entry[k]] = k;
                 });
  for_each_index(stream, Offset(a.columns) + 1,
                 [key = sorted.key[sorted.current].data(), entries,
                  offset = transpose.offsets.data()] __device__(Offset column) {
                   offset[column] =
                       first_at_least(key, 0, entries, static_cast<unsigned long long>(column));
                 });
  transpose.longest = longest_row(transpose.offsets, transpose.rows, temporary.device());
  return transpose;
}

Array<Offset> diagonal_entries(const DevicePattern& a, const Device& device) {
  using device::first_from;
  Array<Offset> diagonal(static_cast<std::size_t>(a.rows), device);
  for_each_index(
      device.stream(), a.rows, [pattern = a.view(), to = diagonal.data()] __device__(Offset i) {
        const auto row = static_cast<Index>(i);
        const Offset found = first_from(pattern, row, row);
        const bool is_there = found < pattern.offsets[i + 1] && pattern.column[found] == row;
        to[i] = is_there ? found : -1;
      });
  device.synchronize();
  return diagonal;
}

}  // namespace heddle::cuda
