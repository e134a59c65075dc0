// Optimised in full.
#include <algorithm>
#include <memory>

#include "base/cuda_handles.hpp"
#include "cache_eviction.hpp"
#include "measure_cuda.hpp"

namespace heddle::cuda {

namespace {

constexpr int block = 256;

__global__ void __launch_bounds__(block) copy_pieces(const uint4* x, uint4* y, std::size_t pieces) {
  const std::size_t i = std::size_t(blockIdx.x) * block + threadIdx.x;
  if (i < pieces) y[i] = x[i];
}

__global__ void do_nothing() {}

__global__ void __launch_bounds__(block) write_pieces(uint4* data, std::size_t pieces) {
  const std::size_t i = std::size_t(blockIdx.x) * block + threadIdx.x;
  const auto number = static_cast<unsigned>(i);
  if (i < pieces) data[i] = {number, number, number, number};
}
/// Reads the output of `write_pieces`. It stores nothing, which only the reader can find out.
__global__ void __launch_bounds__(block) read_pieces(uint4* data, std::size_t pieces) {
  const std::size_t i = std::size_t(blockIdx.x) * block + threadIdx.x;
  if (i >= pieces) return;
  const uint4 piece = data[i];
  if ((piece.x ^ piece.y) != (piece.z ^ piece.w)) data[i] = {};
}

unsigned blocks_for(std::size_t pieces) {
  return static_cast<unsigned>((pieces + block - 1) / block);
}

struct DestroyGraph {
  void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
};
using Graph = std::unique_ptr<CUgraphExec_st, DestroyGraph>;

Event make_timed_event(const Stream& stream) {
  const OnGpu here(stream);
  return make_event(cudaEventDefault);
}

/// The time between two events.
struct Timer {
  explicit Timer(const Stream& stream)
      : begin(make_timed_event(stream)), end(make_timed_event(stream)) {}

  /// Waits for all queued work.
  double seconds(const Stream& stream) const {
    check(cudaStreamSynchronize(stream.queue), "measured work");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
    return static_cast<double>(milliseconds) / 1e3;
  }

  Event begin, end;
};

/// Records on `stream` itself, for which the work has allocated what it needs by now.
Graph record(const std::function<void(const Stream&)>& work, int runs, const Stream& stream) {
  check(cudaStreamBeginCapture(stream.queue, cudaStreamCaptureModeThreadLocal),
        "cudaStreamBeginCapture");
  cudaGraph_t graph = nullptr;
  try {
    for (int i = 0; i < runs; ++i) work(stream);
  } catch (...) {
    cudaStreamEndCapture(stream.queue, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();  // clears the error of the discarded graph
    throw;
  }
  check(cudaStreamEndCapture(stream.queue, &graph), "cudaStreamEndCapture");
  cudaGraphExec_t executable = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  check(status, "cudaGraphInstantiate");
  return Graph(executable);
}

/// A graph of as many runs as take about a millisecond.
class Replay {
 public:
  Replay(const std::function<void(const Stream&)>& work, const Device& device)
      : device_(device), timer_(device.stream()) {
    const OnGpu here(device_.stream());
    work(device_.stream());  // setup of the first run is not recorded
    device_.synchronize();
    constexpr int trial_runs = 5, max_runs = 200;
    constexpr double worth_timing = 1e-3;
    record(work, trial_runs);
    const double seconds = this->seconds();
    record(work, std::clamp(static_cast<int>(worth_timing / seconds), 1, max_runs));
    launch();
  }

  double seconds() const {
    const OnGpu here(device_.stream());
    launch();  // puts this work's data into the caches
    return launch() / runs_;
  }

 private:
  void record(const std::function<void(const Stream&)>& work, int runs) {
    runs_ = runs;
    graph_ = heddle::cuda::record(work, runs, device_.stream());
  }

  double launch() const {
    const Stream& stream = device_.stream();
    check(cudaEventRecord(timer_.begin.get(), stream.queue), "cudaEventRecord");
    check(cudaGraphLaunch(graph_.get(), stream.queue), "cudaGraphLaunch");
    check(cudaEventRecord(timer_.end.get(), stream.queue), "cudaEventRecord");
    return timer_.seconds(stream);
  }

  Device device_;
  Timer timer_;
  Graph graph_;
  int runs_ = 0;
};

}  // namespace

void copy_kernel(const void* x, void* y, std::size_t bytes, const Stream& stream) {
  const OnGpu here(stream);
  const std::size_t pieces = bytes / sizeof(uint4);
  copy_pieces<<<blocks_for(pieces), block, 0, stream.queue>>>(static_cast<const uint4*>(x),
                                                              static_cast<uint4*>(y), pieces);
  check(cudaGetLastError(), "a copy");
}

void empty_kernel(const Stream& stream) {
  const OnGpu here(stream);
  do_nothing<<<1, 1, 0, stream.queue>>>();
  check(cudaGetLastError(), "an empty kernel");
}

void write_and_read(void* data, std::size_t bytes, const Stream& stream) {
  const OnGpu here(stream);
  const std::size_t pieces = bytes / sizeof(uint4);
  auto* const at = static_cast<uint4*>(data);
  write_pieces<<<blocks_for(pieces), block, 0, stream.queue>>>(at, pieces);
  read_pieces<<<blocks_for(pieces), block, 0, stream.queue>>>(at, pieces);
  check(cudaGetLastError(), "the eviction of caches");
}

std::function<double()> replayed(const std::function<void(const Stream&)>& work,
                                 const Device& device) {
  return [replay = std::make_shared<Replay>(work, device)] { return replay->seconds(); };
}

std::vector<Timing> measure(const std::vector<std::function<void(const Stream&)>>& works,
                            int repetitions, const Device& device) {
  std::vector<std::function<double()>> replays;
  for (const auto& work : works) replays.push_back(replayed(work, device));
  return detail::timings_in_turn(replays, repetitions);
}

std::vector<Timing> measure_cold(const std::vector<std::function<void(const Stream&)>>& works,
                                 int repetitions, const Device& device) {
  const Stream& stream = device.stream();
  const OnGpu here(stream);
  CacheEviction eviction(device);
  const Timer timer(stream);
  const auto record_event = [](const Event& event, const Stream& recorded) {
    check(cudaEventRecordWithFlags(event.get(), recorded.queue, cudaEventRecordExternal),
          "cudaEventRecordWithFlags");
  };
  std::vector<std::function<double()>> runs;
  for (const auto& work : works) {
    work(stream);  // setup of the first run is not recorded
    device.synchronize();
    const auto cold = [&](const Stream& recorded) {
      eviction.run(recorded);
      record_event(timer.begin, recorded);
      work(recorded);
      record_event(timer.end, recorded);
    };
    runs.emplace_back([&, graph = std::shared_ptr<CUgraphExec_st>(record(cold, 1, stream))] {
      check(cudaGraphLaunch(graph.get(), stream.queue), "cudaGraphLaunch");
      return timer.seconds(stream);
    });
    runs.back()();
  }
  return detail::timings_in_turn(runs, repetitions);
}

}  // namespace heddle::cuda
