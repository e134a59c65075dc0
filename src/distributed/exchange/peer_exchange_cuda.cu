#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>

#include "distributed/communicators/peer_memory_cuda.hpp"
#include "distributed/communicators/ports_of_ranks.hpp"
#include "heddle/kernels/loop.cuh"
#include "heddle/kernels/peer_words.cuh"
#include "peer_exchange_cuda.hpp"

namespace heddle::cuda {

namespace {

constexpr unsigned threads_of_exchange = 256;
// Waiting blocks leave the GPU to the interior. Blocks of 3 x 3 took 262 us an iteration with 32,
// 260 with 64 and 250 with 128 (two H200, docs/inside/tried.md).
constexpr Offset max_blocks_of_exchange = 128;

/// Called by all threads: true in the last block to arrive. Everything that all blocks wrote before
/// is seen everywhere before anything that this block writes then.
__device__ bool is_last_block(unsigned* ended) {
  __shared__ bool is_last;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence_system();
    is_last = atomicAdd(ended, 1u) + 1 == gridDim.x * gridDim.y;
    if (is_last) *ended = 0;
    __threadfence();
  }
  __syncthreads();
  return is_last;
}

/// Does to(i, from(i)) for each `stride`-th i: several loads are in flight at once, since few
/// threads move all of it.
template <class P, class From, class To>
__device__ void move_pieces(Offset first, Offset stride, Offset count, const From& from,
                            const To& to) {
  constexpr int at_once = 8;
  for (Offset i = first; i < count; i += at_once * stride) {
    P piece[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (i + k * stride < count) piece[k] = from(i + k * stride);
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (i + k * stride < count) to(i + k * stride, piece[k]);
    }
  }
}

template <class P>
struct ExchangeArguments {
  const PeerPart* parts;  // one for each neighbour
  const int* neighbours;
  const Index *sent, *copied;  // rows of x
  Offset copied_pieces, halo_pieces;
  unsigned pieces;  // in a row
  const P *x, *inbox;
  P* to;
  const unsigned* flags;
  unsigned *last, *ended;
  const int* given_up;
  ExchangeClock* clock;

  __device__ P piece(const Index* row, Offset i) const {
    const Offset k = i / pieces;
    return x[row[k] * static_cast<Offset>(pieces) + (i - k * pieces)];
  }
};

/// Stores rows in the neighbours' memory, and then waits for theirs: a separate kernel that waits
/// after this one would find the interior's blocks in its place. The grid's y are neighbours.
template <class P>
__global__ void __launch_bounds__(threads_of_exchange) exchange_rows(const ExchangeArguments<P> a) {
  const unsigned round = device::round_of_launch(a.last);
  const PeerPart part = a.parts[blockIdx.y];
  const Offset first = Offset(blockIdx.x) * threads_of_exchange + threadIdx.x;
  const Offset stride = Offset(gridDim.x) * threads_of_exchange;
  P* const to = reinterpret_cast<P*>(part.to[round % 2]);
  move_pieces<P>(
      first, stride, Offset(part.count) * a.pieces,
      [&](Offset i) { return a.piece(a.sent + part.first, i); },
      [&](Offset i, const P& piece) { to[i] = piece; });
  if (is_last_block(a.ended)) {
    for (unsigned p = threadIdx.x; p < gridDim.y; p += threads_of_exchange) {
      device::announce_to_peer(a.parts[p].flag, round);
    }
    if (threadIdx.x == 0) *a.last = round;
  }
  const Offset first_here = blockIdx.y * stride + first, stride_of_all = gridDim.y * stride;
  move_pieces<P>(
      first_here, stride_of_all, a.copied_pieces, [&](Offset i) { return a.piece(a.copied, i); },
      [&](Offset i, const P& piece) { a.to[i] = piece; });
  for (unsigned n = threadIdx.x; n < gridDim.y; n += threads_of_exchange) {
    const unsigned* const flag = a.flags + a.neighbours[n];
    device::await_peer([&] { return device::is_announced(flag, round); }, a.given_up);
  }
  __syncthreads();
  const P* const from = a.inbox + (round % 2) * a.halo_pieces;
  move_pieces<P>(
      first_here, stride_of_all, a.halo_pieces, [&](Offset i) { return __ldcg(from + i); },
      [&](Offset i, const P& piece) { a.to[a.copied_pieces + i] = piece; });
  if (first_here == 0) a.clock->arrived = device::nanoseconds();
}

__global__ void mark_begin(ExchangeClock* clock) { clock->begin = device::nanoseconds(); }
__global__ void mark_multiplied(ExchangeClock* clock) { clock->multiplied = device::nanoseconds(); }
/// `products`: the number of products that this one stands for.
__global__ void mark_end(ExchangeClock* clock, const int* products) {
  const unsigned long long now = device::nanoseconds(), of = static_cast<unsigned>(*products);
  clock->of_products += of * (now - clock->begin);
  if (clock->arrived > clock->begin) clock->of_exchanges += of * (clock->arrived - clock->begin);
  if (clock->arrived > clock->multiplied) {
    clock->of_waits += of * (clock->arrived - clock->multiplied);
  }
}

/// Calls `queue` with a value as large as the pieces into which rows and addresses divide.
template <class Queue>
void with_pieces(std::size_t row_bytes, std::initializer_list<const void*> addresses,
                 const Queue& queue) {
  const auto divides = [&](std::size_t bytes) {
    return row_bytes % bytes == 0 &&
           std::all_of(addresses.begin(), addresses.end(), [bytes](const void* address) {
             return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
           });
  };
  if (divides(sizeof(uint4))) return queue(uint4{});
  if (divides(sizeof(uint2))) return queue(uint2{});
  queue(0U);
}

}  // namespace

/// The part of a rank that the others see.
struct PeerExchange::Port {
  Port(std::size_t ranks, std::size_t bytes_of_halo, const Stream& stream)
      : halo_bytes(bytes_of_halo),
        rows(2 * bytes_of_halo, stream),
        flags(ranks * sizeof(unsigned), stream),
        first_of_rank(ranks, 0) {}

  std::size_t halo_bytes;
  PeerMemory rows, flags;            // a flag for each rank
  std::vector<Index> first_of_rank;  // where its rows begin in the halo
};

PeerExchange::PeerExchange(Communicator& ranks, const detail::Halo& halo,
                           const Array<Index>& copied_rows, std::size_t row_bytes,
                           const int* given_up, const Device& device)
    : device_(device),
      row_bytes_(row_bytes),
      copied_rows_(copied_rows),
      given_up_(given_up),
      halo_rows_(static_cast<Index>(halo.columns.size())),
      rank_(ranks.rank()),
      products_(device.stream()) {
  std::shared_ptr<Port> own;
  together(ranks, [&] {
    const Stream& stream = device.stream();
    own = std::make_shared<Port>(static_cast<std::size_t>(ranks.size()),
                                 halo.columns.size() * row_bytes, stream);
    for (const detail::HaloPart& part : halo.receives) {
      own->first_of_rank[static_cast<std::size_t>(part.rank)] = part.first;
    }
    sent_rows_ = Array<Index>(std::span<const Index>(halo.sent_rows), device);
    rounds_ = Array<unsigned>(2, device);
    clock_ = Array<ExchangeClock>(1, device);
    const OnGpu here(stream);
    other_ = make_urgent_stream();
    for (Event* event : {&forked_, &joined_}) *event = make_event();
  });
  ports_ = detail::gather_ports(ranks, own);
  together(ranks, [&] { connect(ranks, halo); });
}

void PeerExchange::connect(Communicator& ranks, const detail::Halo& halo) {
  std::vector<PeerPart> parts;
  std::vector<int> neighbours;
  for (int r = 0; r < ranks.size(); ++r) {
    const auto is_of = [r](const detail::HaloPart& part) {
      return part.rank == r && part.count > 0;
    };
    const auto sent = std::find_if(halo.sends.begin(), halo.sends.end(), is_of);
    const bool sends = sent != halo.sends.end();
    if (!sends && std::none_of(halo.receives.begin(), halo.receives.end(), is_of)) continue;
    const Port& port = *ports_[static_cast<std::size_t>(r)];
    PeerPart part{};
    if (sends) {
      part.first = sent->first;
      part.count = sent->count;
      max_sent_ = std::max(max_sent_, sent->count);
      const auto first =
          static_cast<std::size_t>(port.first_of_rank[static_cast<std::size_t>(rank_)]);
      part.to[0] = port.rows.data() + first * row_bytes_;
      part.to[1] = part.to[0] + port.halo_bytes;
    }
    part.flag = reinterpret_cast<unsigned*>(port.flags.data()) + rank_;
    parts.push_back(part);
    neighbours.push_back(r);
  }
  parts_ = Array<PeerPart>(std::span<const PeerPart>(parts), device_);
  neighbours_ = Array<int>(std::span<const int>(neighbours), device_);
}

PeerExchange::~PeerExchange() {
  cudaStreamSynchronize(device_.stream().queue);
  cudaStreamSynchronize(other_.get());
}

Stream PeerExchange::fork(const Stream& main) {
  const OnGpu here(main);
  check(cudaEventRecord(forked_.get(), main.queue), "cudaEventRecord");
  check(cudaStreamWaitEvent(other_.get(), forked_.get(), 0), "cudaStreamWaitEvent");
  Stream other = main;
  other.queue = other_.get();
  return other;
}

void PeerExchange::exchange(const void* x, void* boundary_x, const Stream& stream) {
  const OnGpu here(stream);
  const Port& own = *ports_[static_cast<std::size_t>(rank_)];
  with_pieces(row_bytes_, {x, boundary_x}, [&]<class P>(P) {
    const auto pieces = static_cast<unsigned>(row_bytes_ / sizeof(P));
    const auto pieces_of = [pieces](auto rows) { return static_cast<Offset>(rows) * pieces; };
    const ExchangeArguments<P> arguments{parts_.data(),
                                         neighbours_.data(),
                                         sent_rows_.data(),
                                         copied_rows_.data(),
                                         pieces_of(copied_rows_.size()),
                                         pieces_of(halo_rows_),
                                         pieces,
                                         static_cast<const P*>(x),
                                         reinterpret_cast<const P*>(own.rows.data()),
                                         static_cast<P*>(boundary_x),
                                         reinterpret_cast<const unsigned*>(own.flags.data()),
                                         rounds_.data(),
                                         rounds_.data() + 1,
                                         given_up_,
                                         clock_.data()};
    const auto neighbours = static_cast<Offset>(parts_.size());
    const Offset most = std::max({pieces_of(max_sent_), arguments.halo_pieces / neighbours,
                                  arguments.copied_pieces / neighbours});
    const Offset blocks =
        std::clamp<Offset>((most + threads_of_exchange - 1) / threads_of_exchange, 1,
                           std::max<Offset>(1, max_blocks_of_exchange / neighbours));
    const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(neighbours));
    exchange_rows<P><<<grid, threads_of_exchange, 0, stream.queue>>>(arguments);
  });
  check(cudaGetLastError(), "launch of the exchange with other GPUs");
}

void PeerExchange::begin(const Stream& main) {
  const OnGpu here(main);
  const unsigned long long capture = capture_of(main);
  if (std::exchange(capture_, capture) != capture) *products_ = 0;
  ++*products_;
  mark_begin<<<1, 1, 0, main.queue>>>(clock_.data());
  check(cudaGetLastError(), "launch of a timestamp");
}

void PeerExchange::mark_interior(const Stream& main) {
  if (!is_timed()) return;
  const OnGpu here(main);
  mark_multiplied<<<1, 1, 0, main.queue>>>(clock_.data());
  check(cudaGetLastError(), "launch of a timestamp");
}

void PeerExchange::join(const Stream& main) {
  const OnGpu here(main);
  check(cudaEventRecord(joined_.get(), other_.get()), "cudaEventRecord");
  check(cudaStreamWaitEvent(main.queue, joined_.get(), 0), "cudaStreamWaitEvent");
}

void PeerExchange::finish(const Stream& main) {
  if (!is_timed()) return;
  const OnGpu here(main);
  mark_end<<<1, 1, 0, main.queue>>>(clock_.data(), products_.get());
  check(cudaGetLastError(), "launch of a timestamp");
}

void PeerExchange::add_times(RankTimes& times) const {
  const ExchangeClock clock = clock_.to_host().front();
  constexpr double nanosecond = 1e-9;
  times.product += nanosecond * static_cast<double>(clock.of_products);
  times.exchange += nanosecond * static_cast<double>(clock.of_exchanges);
  times.waiting += nanosecond * static_cast<double>(clock.of_waits);
}

long long PeerExchange::memory() const {
  return static_cast<long long>(sent_rows_.size() * sizeof(Index) +
                                2 * static_cast<std::size_t>(halo_rows_) * row_bytes_ +
                                parts_.size() * sizeof(PeerPart));
}

}  // namespace heddle::cuda
