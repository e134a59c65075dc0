// Products of real tiles of 3 x 3 and 6 x 3 or 6 x 6 numbers with tiles 6 numbers wide, by warps
// that multiply whole tiles with the GPU's matrix instructions. Reads of the cache nearest to a
// multiprocessor limit these products. Here a tile's numbers are read once, whereas lanes that have
// numbers of their own read the left tile's for each of them.
#pragma once

#include "base/launch_cuda.cuh"
#include "product_pieces.hpp"

namespace heddle::cuda::tile_values {

using heddle::device::EntryTerms, heddle::device::RowUnit, heddle::device::TileProduct;

inline constexpr int warp_lanes = 32, side = 6;
inline constexpr unsigned whole_warp = 0xffffffffu;

/// D += A B, of 8 x 4 and 4 x 8 numbers: lane l has A(l / 4, l % 4), B(l % 4, l / 4), and D(l / 4,
/// l % 4 * 2) with the number next to it (PTX ISA, mma.m8n8k4).
__device__ __forceinline__ void multiply_add_in_warp(double2& d, double a, double b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(d.x), "+d"(d.y)
               : "d"(a), "d"(b));
}

/// A unit of C's rows, whose tiles have H x 6 numbers; A's have H x M. A lane has the same two
/// numbers of each of C's tiles, so that no lane waits for another's sums. The instructions are
/// larger than the tiles, so some lanes have no numbers.
template <int H, int M, class Places>
struct WarpProduct {
  static constexpr int numbers = H * side, of_left = H * M, of_right = M * side;
  static constexpr int steps = (M + 3) / 4;
  static constexpr int at_a_time = M > 4 ? 4 : 6;  // terms whose numbers are in flight together

  const TileProduct& p;
  const RowUnit& unit;
  Places places;      // places of p
  EntryTerms* terms;  // terms of a batch's entries
  int lane = static_cast<int>(threadIdx.x);
  int i = lane / 4, m = lane % 4;  // A(i, m), B(m, i), D(i, 2 m)
  bool has_sums = i < H && 2 * m < side;
  int own = has_sums ? i * side + 2 * m : 0;
  const double* left = p.left + i * M + m;
  const double* right = p.right + m * side + i;

  /// Terms of an entry of A. Numbers beyond the tiles are 0 from the start.
  struct Terms {
    double a[steps]{}, b[at_a_time][steps]{};
    int to = 0;  // the tile of C's row that term `lane` is added to
    int count = 0;
  };

  __device__ void load_left(const double* tile, double (&a)[steps]) const {
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      if (i < H && 4 * s + m < M) a[s] = tile[4 * s];
    }
  }
  __device__ void load_right(const double* tile, bool is_there, double (&b)[steps]) const {
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      if (is_there && i < side && 4 * s + m < M) b[s] = tile[4 * s * side];
    }
  }

  /// Adds to tile `to` of the lane's sums. `d` may have any value.
  __device__ void add(double* sums, int to, const double (&a)[steps], const double (&b)[steps],
                      double2& d) const {
    double2* const at = reinterpret_cast<double2*>(sums + Offset(to) * numbers);
    if (has_sums) d = *at;
#pragma unroll
    for (int s = 0; s < steps; ++s) multiply_add_in_warp(d, a[s], b[s]);
    if (has_sums) *at = d;
  }

  /// Looks up the terms of `count` entries of A, from `batch` on, whose places begin at `place`.
  /// Returns where the places of the next entries begin.
  __device__ Offset look_up(Offset batch, int count, Offset place) const {
    EntryTerms mine{};
    if (lane < count) mine = terms_of(p, unit.row, batch + lane);
    int end = mine.count;
    for (int distance = 1; distance < warp_lanes; distance *= 2) {
      const int before = __shfl_up_sync(whole_warp, end, distance);
      if (lane >= distance) end += before;
    }
    mine.place = end - mine.count;
    if (!unit.takes_all_terms) keep_window(p, place, unit, mine);
    __syncwarp();
    terms[lane] = mine;
    __syncwarp();
    return place + __shfl_sync(whole_warp, end, warp_lanes - 1);
  }

  /// Adds these entries times their rows of B. While some terms are added, the next are being
  /// loaded.
  __device__ void add_rows(Offset batch, int count, Offset place, double* sums) const {
    const double* const tiles = left + batch * of_left;
    int k = -1, j = 0;  // the next is tile j of entry k's row of B
    EntryTerms of_entry{};
    const auto next = [&] {
      j += at_a_time;
      while (j >= of_entry.count && ++k < count) j = 0, of_entry = terms[k];
    };
    const auto load = [&](Terms& t) {
      t.count = of_entry.count - j;
      if (t.count <= 0) return;
      load_left(tiles + k * of_left, t.a);
      // Nothing is computed from it here, since that would wait.
      if (lane < min(at_a_time, t.count)) {
        t.to = static_cast<int>(places[place + of_entry.place + j + lane]);
      }
      const double* const tile = right + (of_entry.begin + j) * of_right;
#pragma unroll
      for (int u = 0; u < at_a_time; ++u) load_right(tile + u * of_right, u < t.count, t.b[u]);
      next();
    };
    double2 d{};
    const auto add_up = [&](const Terms& t) {
#pragma unroll
      for (int u = 0; u < at_a_time; ++u) {
        if (u >= t.count) break;
        add(sums, __shfl_sync(whole_warp, t.to, u), t.a, t.b[u], d);
      }
    };
    Terms even, odd;
    next();
    load(even);
    while (even.count > 0) {
      load(odd);
      add_up(even);
      load(even);
      add_up(odd);
    }
  }

  /// Same, if each entry has at most one tile of B.
  __device__ void add_tiles(Offset batch, int count, Offset place, double* sums) const {
    const double* const tiles = left + batch * of_left;
    const EntryTerms mine = terms[lane];
    const int to = mine.count > 0 ? static_cast<int>(places[place + mine.place]) : -1;
    double a[at_a_time][steps]{}, b[at_a_time][steps]{};
    double2 d{};
    for (int k = 0; k < count; k += at_a_time) {
#pragma unroll
      for (int u = 0; u < at_a_time; ++u) {
        if (k + u >= count) break;
        const EntryTerms of_entry = terms[k + u];
        load_left(tiles + (k + u) * of_left, a[u]);
        load_right(right + of_entry.begin * of_right, of_entry.count > 0, b[u]);
      }
#pragma unroll
      for (int u = 0; u < at_a_time; ++u) {
        if (k + u >= count) break;
        const int tile = __shfl_sync(whole_warp, to, k + u);
        if (tile >= 0) add(sums, tile, a[u], b[u], d);
      }
    }
  }

  __device__ void add_terms(double* sums) const {
    const bool is_piece = p.pieces.count > 0;
    const Offset* const entry = is_piece ? p.pieces.entry + unit.n : p.a.offsets + unit.row;
    const Offset stop = entry[1];
    Offset place = is_piece ? p.pieces.place[unit.n] : first_term(p, unit.row);
    for (Offset batch = entry[0]; batch < stop; batch += warp_lanes) {
      const auto count = static_cast<int>(min(stop - batch, Offset(warp_lanes)));
      const Offset next = look_up(batch, count, place);
      p.one_each ? add_tiles(batch, count, place, sums) : add_rows(batch, count, place, sums);
      place = next;
    }
  }

  /// Stores a tile's transpose at its place in C.
  __device__ void mirror(Offset other, const double2& sum) const {
    if (!has_sums) return;
    double* const to = p.result + other * numbers + 2 * m * H + i;
    to[0] = sum.x;
    to[H] = sum.y;
  }

  __device__ void add_up(double* sums, double* target) const {
    const auto count = static_cast<int>(unit.end - unit.begin);
    const auto at = [&](double* tiles, int k) -> double2& {
      return *reinterpret_cast<double2*>(tiles + k * numbers + own);
    };
    for (int k = 0; has_sums && k < count; ++k) at(sums, k) = {0, 0};
    add_terms(sums + own - unit.begin * numbers);
    const bool is_mirrored = p.pieces.count == 0 && p.places.mirror != nullptr;
    const Offset entry = p.c.offsets[unit.row] + unit.begin;
    for (int first = 0; first < count; first += warp_lanes) {
      const int end = min(count, first + warp_lanes);
      const Offset others =
          is_mirrored && first + lane < end ? p.places.mirror[entry + first + lane] : 0;
      for (int k = first; k < end; ++k) {
        const double2 sum = has_sums ? at(sums, k) : double2{0, 0};
        if (has_sums && sums != target) at(target, k) = sum;
        const Offset other = __shfl_sync(whole_warp, others, k - first);
        if (is_mirrored && other != entry + k) mirror(other, sum);
      }
    }
  }
};

/// One block of one warp for each unit.
template <int H, int M, class Places>
__global__ void __launch_bounds__(warp_lanes)
    multiply_in_warp(const TileProduct p, const Places places, Offset tiles) {
  extern __shared__ double2 scratch[];
  __shared__ EntryTerms terms[warp_lanes];
  const RowUnit unit(p, static_cast<Index>(blockIdx.x), tiles);
  if (unit.begin >= unit.end) return;
  constexpr int numbers = H * side;
  double* const target = (p.pieces.count > 0 ? p.pieces.sums + unit.n * p.pieces.sums_size
                                             : p.result + p.c.offsets[unit.row] * numbers) +
                         unit.begin * numbers;
  const WarpProduct<H, M, Places> product{p, unit, places, terms};
  // Two calls, so that it is known in which memory the sums are.
  if (unit.is_in_place) return product.add_up(target, target);
  product.add_up(reinterpret_cast<double*>(scratch), target);
}

template <int H, int M>
void multiply_by_warps(const TileProduct& product, Index units,
                       const heddle::detail::ProductShares& shares, const Stream& stream) {
  if (units <= 0) return;
  const OnGpu here(stream);
  const auto run = [&]<class Places>(const Places& places) {
    multiply_in_warp<H, M>
        <<<static_cast<unsigned>(units), warp_lanes, static_cast<unsigned>(shares.sums_size),
           stream.queue>>>(product, places, shares.tiles);
    check(cudaGetLastError(), "the launch of a kernel");
  };
  // Most rows have up to 255 tiles.
  if (product.places.bytes > 1) return run(product.places);
  run(static_cast<const std::uint8_t*>(product.places.of_terms));
}

}  // namespace heddle::cuda::tile_values
