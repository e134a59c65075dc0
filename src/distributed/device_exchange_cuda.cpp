#include "device_exchange_cuda.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "base/cuda_call.hpp"
#include "gather_rows_cuda.hpp"
#include "peer_memory_cuda.hpp"

namespace heddle::cuda {

namespace {

struct FreeMemory {
  void operator()(void* data) const { cudaFree(data); }
};

void record(const Event& event, cudaStream_t stream) {
  check(cudaEventRecord(event.get(), stream), "cudaEventRecord");
}
/// One that was never recorded is waited for by nobody.
void wait(cudaStream_t stream, const Event& event) {
  check(cudaStreamWaitEvent(stream, event.get(), 0), "cudaStreamWaitEvent");
}
double seconds_between(const Event& begin, const Event& end) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
  return milliseconds * 1e-3;
}

}  // namespace

/// What a rank shows to others, who keep it for as long as they may read it.
struct DeviceExchange::Port {
  /// Memory of its own: a pool's is not for other GPUs.
  Port(std::size_t bytes, const Stream& stream) : gpu(stream.gpu) {
    const OnGpu here(stream);
    for (int p = 0; p < 2; ++p) {
      if (bytes > 0) {
        void* data = nullptr;
        check(cudaMalloc(&data, bytes), "cudaMalloc");
        rows[p].reset(data);
      }
      gathered[p] = make_event();
      taken[p] = make_event();
    }
  }

  int gpu;
  std::unique_ptr<void, FreeMemory> rows[2];
  Event gathered[2];
  Event taken[2];  // its copies from others' ports are done
};

/// The course of a product, by events that tell the time.
struct DeviceExchange::Turn {
  enum Mark { begin, copies, copied, multiplied, awaited, joined, end, marks };

  void make() {
    for (Event& event : at) event = make_event(cudaEventDefault);
  }

  Event at[marks];
  bool is_used = false;
  bool exchanges = false;
  bool overlaps = false;  // the boundary is on the stream of the copies
};

DeviceExchange::DeviceExchange(Communicator& ranks, const detail::Halo& halo, std::size_t row_bytes,
                               const Device& device)
    : ranks_(ranks), row_bytes_(row_bytes), device_(device) {
  together(ranks, [&] {
    const Stream& stream = device_.stream();
    sent_rows_ = Array<Index>(std::span<const Index>(halo.sent_rows), device_);
    port_ = std::make_shared<Port>(sent_rows_.size() * row_bytes_, stream);
    const OnGpu here(stream);
    turns_ = std::make_unique<Turn[]>(2);
    for (int p = 0; p < 2; ++p) turns_[p].make();
    // Others wait for what is on it.
    beside_ = make_urgent_stream();
  });
  connect(halo);
  together(ranks, [&] {
    for (const Neighbour& neighbour : neighbours_) reach(neighbour.port->gpu, device_.stream());
  });
}

DeviceExchange::~DeviceExchange() {
  cudaStreamSynchronize(device_.stream().queue);
  cudaStreamSynchronize(beside_.get());
}

/// Ranks that send here or are sent to, either way: each tells the other what it has queued.
void DeviceExchange::connect(const detail::Halo& halo) {
  std::vector<Neighbour> of_rank(static_cast<std::size_t>(ranks_.size()));
  for (const detail::HaloPart& part : halo.sends) {
    of_rank[static_cast<std::size_t>(part.rank)].sends = part;
  }
  for (const detail::HaloPart& part : halo.receives) {
    of_rank[static_cast<std::size_t>(part.rank)].receives = part;
  }
  std::vector<int> others;
  for (int r = 0; r < ranks_.size(); ++r) {
    Neighbour& neighbour = of_rank[static_cast<std::size_t>(r)];
    if (neighbour.sends.count == 0 && neighbour.receives.count == 0) continue;
    others.push_back(r);
    neighbours_.push_back(std::move(neighbour));
  }

  // The receiver owns the handle that it gets: its sender may be gone by then. Where the exchange
  // fails nobody knows which handles were got: they are lost then, and the memory of the ports with
  // them, as freeing one that a rank still takes would be worse.
  struct Handle {
    std::shared_ptr<Port>* port;
    Offset first;
  };
  std::vector<Handle> mine, theirs(others.size());
  std::vector<Message<const std::byte>> sent;
  std::vector<Message<std::byte>> received;
  for (const Neighbour& neighbour : neighbours_) {
    mine.push_back({new std::shared_ptr<Port>(port_), neighbour.sends.first});
  }
  for (std::size_t k = 0; k < others.size(); ++k) {
    sent.push_back({others[k], std::as_bytes(std::span(&mine[k], 1))});
    received.push_back({others[k], std::as_writable_bytes(std::span(&theirs[k], 1))});
  }
  ranks_.begin_exchange(sent, received);
  ranks_.end_exchange();
  token_bytes_.resize(2 * others.size());
  for (std::size_t k = 0; k < others.size(); ++k) {
    const std::unique_ptr<std::shared_ptr<Port>> handle(theirs[k].port);
    neighbours_[k].port = *handle;
    neighbours_[k].first_in_port = theirs[k].first;
    tokens_.push_back({others[k], std::span(&token_bytes_[2 * k], 1)});
    taken_tokens_.push_back({others[k], std::span(&token_bytes_[2 * k + 1], 1)});
  }
}

void DeviceExchange::gather(const void* x, const Stream& main) {
  const OnGpu here(main);
  const unsigned p = round_ % 2;
  Turn& turn = turns_[p];
  add_times(turn);
  turn.is_used = true;
  turn.exchanges = false;
  turn.overlaps = false;
  record(turn.at[Turn::begin], main.queue);
  if (sent_rows_.empty()) return;
  for (const Neighbour& neighbour : neighbours_) {
    if (neighbour.sends.count > 0) wait(main.queue, neighbour.port->taken[p]);
  }
  gather_rows(sent_rows_, row_bytes_, x, port_->rows[p].get(), main);
  record(port_->gathered[p], main.queue);
}

void DeviceExchange::meet() {
  if (neighbours_.empty()) return;
  ranks_.begin_exchange(tokens_, taken_tokens_);
  ranks_.end_exchange();
}

void DeviceExchange::copy(const Neighbour& from, std::byte* halo, cudaStream_t stream) {
  const auto at = [&](auto* rows, Offset first) {
    return rows + static_cast<std::size_t>(first) * row_bytes_;
  };
  const Port& port = *from.port;
  std::byte* const to = at(halo, from.receives.first);
  const std::byte* const source =
      at(static_cast<const std::byte*>(port.rows[round_ % 2].get()), from.first_in_port);
  const std::size_t bytes = static_cast<std::size_t>(from.receives.count) * row_bytes_;
  const int gpu = device_.stream().gpu;
  if (port.gpu == gpu) {
    check(cudaMemcpyAsync(to, source, bytes, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
  } else {
    check(cudaMemcpyPeerAsync(to, gpu, source, port.gpu, bytes, stream), "cudaMemcpyPeerAsync");
  }
}

void DeviceExchange::fetch(std::byte* halo, bool beside, const Stream& main) {
  if (neighbours_.empty()) return;
  const OnGpu here(main);
  const unsigned p = round_ % 2;
  Turn& turn = turns_[p];
  turn.exchanges = true;
  cudaStream_t stream = main.queue;
  if (beside) {
    stream = beside_.get();
    wait(stream, turn.at[Turn::begin]);  // whatever has used the halo before is done
  } else {
    record(turn.at[Turn::multiplied], stream);
  }
  for (const Neighbour& neighbour : neighbours_) {
    if (neighbour.receives.count > 0) wait(stream, neighbour.port->gathered[p]);
  }
  record(turn.at[Turn::copies], stream);
  for (const Neighbour& neighbour : neighbours_) {
    if (neighbour.receives.count > 0) copy(neighbour, halo, stream);
  }
  record(turn.at[Turn::copied], stream);
  record(port_->taken[p], stream);
  if (!beside) record(turn.at[Turn::awaited], stream);
}

void DeviceExchange::await(const Stream& main) {
  if (neighbours_.empty()) return;
  const OnGpu here(main);
  const unsigned p = round_ % 2;
  record(turns_[p].at[Turn::multiplied], main.queue);
  wait(main.queue, port_->taken[p]);
  record(turns_[p].at[Turn::awaited], main.queue);
}

void DeviceExchange::mark_interior(const Stream& main) {
  const OnGpu here(main);
  Turn& turn = turns_[round_ % 2];
  turn.overlaps = true;
  record(turn.at[Turn::multiplied], main.queue);
}

Stream DeviceExchange::beside(const Stream& main) {
  const OnGpu here(main);
  wait(beside_.get(), turns_[round_ % 2].at[Turn::begin]);
  Stream other = main;
  other.queue = beside_.get();
  return other;
}

void DeviceExchange::join(const Stream& main) {
  const OnGpu here(main);
  const Event& joined = turns_[round_ % 2].at[Turn::joined];
  record(joined, beside_.get());
  wait(main.queue, joined);
}

void DeviceExchange::finish(const Stream& main) {
  const OnGpu here(main);
  record(turns_[round_ % 2].at[Turn::end], main.queue);
  ++round_;
}

void DeviceExchange::add_times(Turn& turn) {
  if (!std::exchange(turn.is_used, false)) return;
  check(cudaEventSynchronize(turn.at[Turn::end].get()), "cudaEventSynchronize");
  times_.product += seconds_between(turn.at[Turn::begin], turn.at[Turn::end]);
  if (!turn.exchanges) return;
  times_.exchange += seconds_between(turn.at[Turn::copies], turn.at[Turn::copied]);
  // Beside the interior rows the boundary's wait for nothing that these would not hide.
  times_.waiting +=
      turn.overlaps
          ? std::max(0.0, seconds_between(turn.at[Turn::multiplied], turn.at[Turn::copied]))
          : seconds_between(turn.at[Turn::multiplied], turn.at[Turn::awaited]);
}

void DeviceExchange::add_times(RankTimes& times) {
  const OnGpu here(device_.stream());
  for (int p = 0; p < 2; ++p) add_times(turns_[p]);
  times.product += times_.product;
  times.exchange += times_.exchange;
  times.waiting += times_.waiting;
}

long long DeviceExchange::memory() const {
  return static_cast<long long>(sent_rows_.size() * (sizeof(Index) + 2 * row_bytes_));
}

}  // namespace heddle::cuda
