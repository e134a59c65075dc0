// BiCGStab, preconditioned from the right, as one kernel. Each product gathers vectors that were
// published before the coefficients that combine them were known, so an iteration has three
// meetings:
//   1  v = A p_hat             <r^, v>, <r^, r>, |r|^2; v_hat is told with these sums
//      sigma, rho, alpha, and whether to stop
//   2  t = A (r_hat - v_hat alpha)   <t, s>, |t|^2, |s|^2, <r^, s>, <r^, t>, where s = r - v alpha
//      omega, beta, whether half a step is enough
//   3  x += p_hat alpha + s_hat omega, r = s - t omega, p = r + (p - v omega) beta
//      r_hat and p_hat are told
// where y_hat is M^-1 y, and s overwrites r. beta takes <r^, r> from the sums of 2, which lose as
// many digits as |r| has fewer than |s|; alpha and the stopping test take sums over r itself.
#pragma once

#include "heddle/kernels/persistent.cuh"
#include "heddle/kernels/ring.cuh"

namespace heddle::device {

/// The packets of blocks `first` to `first` + 32 `Looks` - 1, added in a fixed order by one warp;
/// every lane gets the sum. A lane polls all of its packets together: a look takes longer than all
/// the arithmetic.
template <int Looks>
__device__ __forceinline__ double receive_sum(const Packet* packets, unsigned first,
                                              unsigned long long round) {
  const unsigned mine = first + threadIdx.x % 32, last = gridDim.x - 1;
  double value[Looks];
  bool complete;
  do {
    complete = true;
#pragma unroll
    for (int i = 0; i < Looks; ++i) {
      const bool seen = look(packets + min(mine + 32 * i, last), round, value[i]);
      complete = complete && seen;
    }
  } while (!complete);
  double sum[1] = {};
#pragma unroll
  for (int i = 0; i < Looks; ++i) sum[0] += mine + 32 * i <= last ? value[i] : 0.0;
  __syncwarp();
  add_over_lanes(sum);
  return sum[0];
}

/// Sums over all blocks, in a fixed order, for the first warp to read. Warps call `sum(v)`, all
/// lanes together, for the block's own sum. With `Publishes`, everything that blocks wrote before
/// is visible to all afterwards.
template <int N, int Block, bool Publishes, class Sum>
__device__ __forceinline__ const double* exchange_sums(Packet* packets, unsigned long long* flags,
                                                       unsigned long long round, const Sum& sum) {
  constexpr int warps = Block / 32;
  constexpr int looks = Block > 512 ? 4 : 8;  // limited by registers
  constexpr int parts = max_blocks / (32 * looks);
  __shared__ double of_part[N * parts];
  __shared__ double total[N];
  const int warp = threadIdx.x / 32;
  const bool leads = threadIdx.x % 32 == 0;
  // The last threads of a block handle flags: its first warps are busy with sums.
  const unsigned from_last = Block - 1 - threadIdx.x;
  __syncthreads();
  if (Publishes && from_last == 0) announce(flags + blockIdx.x, round);
  for (int v = warp; v < N; v += warps) {
    const double of_block = sum(v);
    if (leads) send(packets + v * gridDim.x + blockIdx.x, of_block, round);
  }
  for (int i = warp; i < N * parts; i += warps) {
    const double part =
        receive_sum<looks>(packets + i / parts * gridDim.x, i % parts * 32 * looks, round);
    if (leads) of_part[i] = part;
  }
  if (Publishes) {
    for (unsigned block = from_last; block < gridDim.x; block += Block) {
      await(flags + block, round);
    }
  }
  __syncthreads();
  static_assert(N <= 32);
  if (threadIdx.x < N) {
    double whole = 0;
#pragma unroll
    for (int i = 0; i < parts; ++i) whole += of_part[threadIdx.x * parts + i];
    total[threadIdx.x] = whole;
  }
  __syncwarp();
  return total;
}

/// Coefficients that one thread of each block computes from the sums for the whole block; the same
/// in every block.
template <int R>
struct BiCGStabCoefficients {
  using Number = RingNumber<R, double>;
  // Over quaternions omega stays real, see bicgstab.hpp.
  using Omega = RingNumber<R == 2 ? 2 : 1, double>;

  Number inverse_sigma, alpha, beta;
  Omega omega;
  int end;  // a LoopEnd
};

/// Block 0 reports to the host.
__device__ __forceinline__ void record(LoopState& state, int iteration, double squared_norm) {
  if (blockIdx.x != 0) return;
  state.history[iteration - 1] = squared_norm;
  // The next barrier waits for writes to the host's memory.
  constexpr int between = 64;
  if (iteration % between == 0) {
    state.watch->squared_norm = squared_norm;
    state.watch->iteration = iteration;
  }
}
__device__ __forceinline__ void conclude(LoopState& state, int end, int iteration) {
  if (blockIdx.x != 0) return;
  state.iteration = iteration;
  state.end = end;
}

/// `total` = <r^, v>, <r^, r>, |r|^2 after `iteration` iterations, and the end that the host or the
/// clock requests.
template <int R>
__device__ __forceinline__ void take_first_sums(BiCGStabCoefficients<R>& c, const double* total,
                                                LoopState& state, const LoopLimits& limits,
                                                int iteration) {
  const auto sigma = number_at<R>(total), rho = number_at<R>(total + R);
  const double squared_norm = total[2 * R];
  int end = loop_runs;
  if (iteration > 0) {
    record(state, iteration, squared_norm);
    end = methods::judged(limits, squared_norm, iteration);
    if (end == loop_runs) end = int(total[2 * R + 1]);
  }
  if (end == loop_runs && !(is_usable(sigma) && is_usable(rho))) end = loop_lost;
  c.end = end;
  if (end != loop_runs) return conclude(state, end, iteration);
  c.inverse_sigma = inverse(sigma);
  c.alpha = product_of(c.inverse_sigma, rho);
}

/// `total` = <t, s>, |t|^2, |s|^2, <r^, s>, <r^, t>, in iteration `iteration` counted from 1. If s
/// is small enough, the second half would divide 0 by 0: identity, diagonal systems.
template <class M, int R>
__device__ __forceinline__ void take_second_sums(BiCGStabCoefficients<R>& c, const double* total,
                                                 LoopState& state, const LoopLimits& limits,
                                                 int iteration) {
  using Omega = typename BiCGStabCoefficients<R>::Omega;
  constexpr int W = Omega::components;
  const double t_t = total[W], squared_s = total[W + 1];
  Omega omega;
#pragma unroll
  for (int k = 0; k < W; ++k) omega.component[k] = total[k] / t_t;
  if (squared_s <= limits.target || !is_usable(omega)) {
    // All blocks know that the run is over; only block 0 knows why.
    int end = methods::judged(limits, squared_s, iteration);
    if (end == loop_runs && blockIdx.x == 0) end = requested_end(state, limits.deadline, iteration);
    if (end == loop_runs) end = loop_orthogonal;
    record(state, iteration, squared_s);
    conclude(state, end, iteration);
    c.end = end;
    return;
  }
  c.omega = omega;
  auto rho = number_at<R>(total + W + 2);
  // r = s - t omega takes omega in the precision of fields.
  const auto t_omega =
      product_of(number_at<R>(total + W + 2 + R), rounded<double>(rounded<M>(omega)));
#pragma unroll
  for (int k = 0; k < R; ++k) rho.component[k] -= t_omega.component[k];
  c.beta = product_of(product_of(c.inverse_sigma, rho), inverse(omega));
}

template <class Plan>
__device__ __forceinline__ void bicgstab(const PersistentArgumentsOf<Plan>& a) {
  using M = typename Plan::scalar;
  using V = vector_entry_t<typename Plan::entry>;
  constexpr int K = V::components;
  constexpr int R = Plan::ring;  // ring of the recurrence
  constexpr int Block = Plan::persistent_block;
  using Number = RingNumber<R, M>;
  extern __shared__ __align__(128) unsigned char shared[];
  constexpr int N1 = sums_of_first(R), N2 = sums_of_second(R);
  __shared__ BiCGStabCoefficients<R> coefficients;
  __shared__ LoopLimits limits;

  if (is_over(*a.state)) return;
  BlockPart<Plan> part = part_of_block<Plan>(a);
  const int scalars = part.scalars;
  M* const x = reinterpret_cast<M*>(shared);
  M* const r = x + scalars;  // s between the two products
  M* const shadow = r + scalars;
  M* const p = shadow + scalars;
  M* const v = p + scalars;
  M* const t = v + scalars;  // v_hat with Jacobi, until the second product
  M* const p_hat = Plan::jacobi ? t + scalars : p;
  M* const r_hat = Plan::jacobi ? p_hat + scalars : r;  // s_hat while r is s
  copy_to_shared(part, shared, bicgstab_vectors(Plan::jacobi));
  const Offset whole = Offset(part.matrix.rows) * K;
  M* const published_r = a.u;
  M* const published_p = published_r + whole;
  M* const published_v = published_p + whole;

  const auto read = [](const M* of, int i) {
    Number c;
    load_scalars<load_coherent, R, 16>(c.component, of + i);
    return c;
  };
  const auto write = [](M* to, int i, const Number& c) { store_scalars<R>(to + i, c.component); };
  const auto publish = [&](M* field, int i, const auto& values) {
#pragma unroll
    for (int k = 0; k < values.components; ++k) {
      field[place_in_field(part, i + k)] = values.component[k];
    }
  };
  /// Publishes r_hat and p_hat: here if they are r and p, row by row with Jacobi.
  const auto publish_number = [&](int i, const Number& of_r, const Number& of_p) {
    if constexpr (!Plan::jacobi) {
      publish(published_r, i, of_r);
      publish(published_p, i, of_p);
    }
  };
  const auto publish_rows = [&] {
    if constexpr (Plan::jacobi) {
      __syncthreads();
      for (int i = threadIdx.x; i < 2 * (part.row_end - part.row_begin); i += Block) {
        const int first = i / 2 * K;
        const bool is_p = i % 2 != 0;
        V from;
        load_scalars<load_coherent, K, 16>(from.component, (is_p ? p : r) + first);
        const V hat = precondition(a, part, i / 2, from);
        store_scalars<K>((is_p ? p_hat : r_hat) + first, hat.component);
        publish(is_p ? published_p : published_r, first, hat);
      }
    }
  };
  const auto published_row = [&](const M* field, Index row) {
    return load_row<Plan, load_coherent, V>(field, part.matrix.rows, row);
  };

  LoopState& state = *a.state;
  if (threadIdx.x == 0) {
    limits = state.limits;
    if (limits.patience != 0) limits.deadline = nanoseconds() + limits.patience;
  }
  for (int i = R * threadIdx.x; i < scalars; i += R * Block) {
    Number residual;
#pragma unroll
    for (int k = 0; k < R; ++k) {
      const Offset place = place_in_field(part, i + k);
      residual.component[k] = a.r[place];
      x[i + k] = a.x[place];
    }
    write(r, i, residual);
    write(shadow, i, residual);
    write(p, i, residual);
    publish_number(i, residual, residual);
  }
  publish_rows();
  // Each of the three meetings has its own flags and packets: a block may begin the next meeting
  // while others still wait in this one, but not the one after.
  unsigned long long* const flags_of_sums = a.flags + gridDim.x;
  Packet* const packets_of_second = a.packets + N1 * gridDim.x;
  unsigned meetings = 0;
  const unsigned long long before = *a.round;
  const auto round = [&] { return before + meetings; };
  ++meetings;
  barrier(a.flags, round());

  const Share own = share_of_block(part, first_lane(part));
  int iteration = 0;
  for (;;) {
    multiply_rows(
        part, own, [&](Index row) { return published_row(published_p, row); },
        [&](int row, const V& image) {
          store_scalars<K>(v + row * K, image.component);
          if constexpr (Plan::jacobi) {
            const V hat = precondition(a, part, row, image);
            store_scalars<K>(t + row * K, hat.component);
            publish(published_v, row * K, hat);
          } else {
            publish(published_v, row * K, image);
          }
        });
    ++meetings;
    const double* first_sums =
        exchange_sums<N1, Block, true>(a.packets, flags_of_sums, round(), [&](int sum) {
          if (sum < R) return inner_product_of_warp<R>(shadow, v, scalars, sum);
          if (sum < 2 * R) return inner_product_of_warp<R>(shadow, r, scalars, sum - R);
          if (sum == 2 * R) return inner_product_of_warp<1>(r, r, scalars, 0);
          return blockIdx.x == 0 && iteration > 0
                     ? double(requested_end(state, limits.deadline, iteration))
                     : 0.0;
        });
    if (threadIdx.x == 0) take_first_sums(coefficients, first_sums, state, limits, iteration);
    __syncthreads();
    if (coefficients.end != loop_runs) break;
    ++iteration;

    const auto minus_alpha = minus<M>(coefficients.alpha);
    for (int i = R * threadIdx.x; i < scalars; i += R * Block) {
      Number s = read(r, i);
      add_multiple(s, read(v, i), minus_alpha);
      write(r, i, s);
      if constexpr (Plan::jacobi) {
        Number s_hat = read(r_hat, i);
        add_multiple(s_hat, read(t, i), minus_alpha);
        write(r_hat, i, s_hat);
      }
    }
    if constexpr (Plan::jacobi) __syncthreads();  // v_hat is read
    multiply_rows(
        part, own,
        [&](Index row) {
          V s_hat = published_row(published_r, row);
          add_multiple(s_hat, published_row(published_v, row), minus_alpha);
          return s_hat;
        },
        [&](int row, const V& image) { store_scalars<K>(t + row * K, image.component); });
    ++meetings;
    const double* second_sums =
        exchange_sums<N2, Block, false>(packets_of_second, nullptr, round(), [&](int sum) {
          constexpr int W = BiCGStabCoefficients<R>::Omega::components;
          if (sum < W) return inner_product_of_warp<R>(t, r, scalars, sum);
          if (sum == W) return inner_product_of_warp<1>(t, t, scalars, 0);
          if (sum == W + 1) return inner_product_of_warp<1>(r, r, scalars, 0);
          const int component = (sum - W - 2) % R;
          return inner_product_of_warp<R>(shadow, sum < W + 2 + R ? r : t, scalars, component);
        });
    if (threadIdx.x == 0) take_second_sums<M>(coefficients, second_sums, state, limits, iteration);
    __syncthreads();

    const bool half = coefficients.end != loop_runs;
    const auto omega = rounded<M>(coefficients.omega);
    {
      const auto alpha = rounded<M>(coefficients.alpha);
      for (int i = R * threadIdx.x; i < scalars; i += R * Block) {
        Number solution = read(x, i);
        add_multiple(solution, read(p_hat, i), alpha);
        if (!half) add_multiple(solution, read(r_hat, i), omega);
        write(x, i, solution);
      }
    }
    if (half) break;
    const auto beta = rounded<M>(coefficients.beta);
    const auto minus_omega_beta = minus<M>(product_of(omega, beta));
    for (int i = R * threadIdx.x; i < scalars; i += R * Block) {
      Number residual = read(r, i);
      add_multiple(residual, read(t, i), minus<M>(omega));
      Number direction = residual;
      add_multiple(direction, read(p, i), beta);
      add_multiple(direction, read(v, i), minus_omega_beta);
      write(r, i, residual);
      write(p, i, direction);
      publish_number(i, residual, direction);
    }
    publish_rows();
    ++meetings;
    barrier(a.flags, round());
  }
  if (is_leader()) *a.round = round();  // all have read it before the first meeting
  for (int i = R * threadIdx.x; i < scalars; i += R * Block) {
#pragma unroll
    for (int k = 0; k < R; ++k) {
      const Offset place = place_in_field(part, i + k);
      a.r[place] = r[i + k];
      a.x[place] = x[i + k];
    }
  }
}

}  // namespace heddle::device
