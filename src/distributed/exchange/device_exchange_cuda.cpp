#include "device_exchange_cuda.hpp"

#include <algorithm>
#include <span>
#include <thread>
#include <utility>

#include "base/cuda_call.hpp"
#include "base/stream_watch_cuda.hpp"
#include "gather_rows_cuda.hpp"

namespace heddle::cuda {

namespace {

double seconds_between(const Event& begin, const Event& end) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
  return milliseconds * 1e-3;
}

}  // namespace

/// The course of a product, by events that record the time.
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
    sent_rows_ = Array<Index>(std::span<const Index>(halo.sent_rows), device_);
    const OnGpu here(device_.stream());
    turns_ = std::make_unique<Turn[]>(2);
    for (int p = 0; p < 2; ++p) turns_[p].make();
    // Other ranks wait for the work on this stream.
    other_ = make_urgent_stream();
    make_tokens(halo);
  });
  copies_ = make_halo_copies(ranks, halo, row_bytes, device);
}

DeviceExchange::~DeviceExchange() {
  // Work on the other stream may wait for ranks as well, and a host watches this one alone.
  const Event& done = turns_[0].at[Turn::copied];
  cudaEventRecord(done.get(), other_.get());
  cudaStreamWaitEvent(device_.stream().queue, done.get(), 0);
  synchronize_quietly(device_.stream());
  cudaStreamSynchronize(other_.get());
}

/// For ranks that send here or receive from here: each reports to the other what it has queued.
void DeviceExchange::make_tokens(const detail::Halo& halo) {
  std::vector<int> others;
  for (const auto* parts : {&halo.sends, &halo.receives}) {
    for (const detail::HaloPart& part : *parts) {
      if (part.count > 0) others.push_back(part.rank);
    }
  }
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  token_bytes_.resize(2 * others.size());
  for (std::size_t k = 0; k < others.size(); ++k) {
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
  if (!sent_rows_.empty()) {
    gather_rows(sent_rows_, row_bytes_, x, copies_->sent_buffer(p, main), main);
  }
  copies_->gathered(p, main);
}

void DeviceExchange::meet() {
  if (!has_neighbours() || !copies_->hosts_meet()) return;
  ranks_.begin_exchange(tokens_, taken_tokens_);
  ranks_.end_exchange();
}

void DeviceExchange::fetch(std::byte* halo, bool is_concurrent, const Stream& main) {
  if (!has_neighbours()) return;
  const OnGpu here(main);
  const unsigned p = round_ % 2;
  Turn& turn = turns_[p];
  turn.exchanges = true;
  Stream stream = main;
  if (is_concurrent) {
    stream.queue = other_.get();
    wait(stream.queue, turn.at[Turn::begin]);  // whatever has used the halo before is done
  } else {
    record(turn.at[Turn::multiplied], stream.queue);
  }
  copies_->await_others(p, stream);
  record(turn.at[Turn::copies], stream.queue);
  copies_->copy(p, halo, stream);
  record(turn.at[Turn::copied], stream.queue);
  if (!is_concurrent) record(turn.at[Turn::awaited], stream.queue);
}

void DeviceExchange::await(const Stream& main) {
  if (!has_neighbours()) return;
  const OnGpu here(main);
  const unsigned p = round_ % 2;
  record(turns_[p].at[Turn::multiplied], main.queue);
  wait(main.queue, turns_[p].at[Turn::copied]);
  record(turns_[p].at[Turn::awaited], main.queue);
}

void DeviceExchange::mark_interior(const Stream& main) {
  const OnGpu here(main);
  Turn& turn = turns_[round_ % 2];
  turn.overlaps = true;
  record(turn.at[Turn::multiplied], main.queue);
}

Stream DeviceExchange::other_stream(const Stream& main) {
  const OnGpu here(main);
  wait(other_.get(), turns_[round_ % 2].at[Turn::begin]);
  Stream other = main;
  other.queue = other_.get();
  return other;
}

void DeviceExchange::join(const Stream& main) {
  const OnGpu here(main);
  const Event& joined = turns_[round_ % 2].at[Turn::joined];
  record(joined, other_.get());
  wait(main.queue, joined);
}

void DeviceExchange::finish(const Stream& main) {
  const OnGpu here(main);
  record(turns_[round_ % 2].at[Turn::end], main.queue);
  ++round_;
}

void DeviceExchange::add_times(Turn& turn) {
  if (!std::exchange(turn.is_used, false)) return;
  for (const cudaEvent_t end = turn.at[Turn::end].get();;) {
    const cudaError_t status = cudaEventQuery(end);
    if (status == cudaSuccess) break;
    if (status != cudaErrorNotReady) check(status, "the exchange between GPUs");
    look(device_.stream());
    std::this_thread::yield();
  }
  times_.product += seconds_between(turn.at[Turn::begin], turn.at[Turn::end]);
  if (!turn.exchanges) return;
  times_.exchange += seconds_between(turn.at[Turn::copies], turn.at[Turn::copied]);
  // The boundary waits along with the interior rows, which hide the wait until they are done.
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
  return static_cast<long long>(sent_rows_.size() * sizeof(Index) + copies_->memory());
}

}  // namespace heddle::cuda
