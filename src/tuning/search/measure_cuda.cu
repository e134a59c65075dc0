#include <algorithm>
#include <memory>

#include "base/cuda_call.hpp"
#include "base/device_cuda.hpp"
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
/// What `write_pieces` wrote: nothing is stored, which only the reader can find out.
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
struct DestroyEvent {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
using Event = std::unique_ptr<CUevent_st, DestroyEvent>;

Event make_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreate(&event), "cudaEventCreate");
  return Event(event);
}

Graph record(const std::function<void(const Stream&)>& work, int runs, const Stream& stream) {
  check(cudaStreamBeginCapture(stream.queue, cudaStreamCaptureModeThreadLocal),
        "cudaStreamBeginCapture");
  cudaGraph_t graph = nullptr;
  try {
    for (int i = 0; i < runs; ++i) work(stream);
  } catch (...) {
    cudaStreamEndCapture(stream.queue, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();  // of what is thrown away
    throw;
  }
  check(cudaStreamEndCapture(stream.queue, &graph), "cudaStreamEndCapture");
  cudaGraphExec_t executable = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  check(status, "cudaGraphInstantiate");
  return Graph(executable);
}

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

struct Replay::Recorded {
  Device device;
  Event begin = make_event();
  Event end = make_event();
  Graph graph;
  int runs = 0;

  double seconds_of(const Graph& replayed) const {
    const Stream& stream = device.stream();
    check(cudaEventRecord(begin.get(), stream.queue), "cudaEventRecord");
    check(cudaGraphLaunch(replayed.get(), stream.queue), "cudaGraphLaunch");
    check(cudaEventRecord(end.get(), stream.queue), "cudaEventRecord");
    check(cudaEventSynchronize(end.get()), "measured work");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
    return static_cast<double>(milliseconds) / 1e3;
  }
};

Replay::Replay(const std::function<void(const Stream&)>& work, const Device& device) {
  const Stream& stream = device.stream();
  const OnGpu here(stream);
  recorded_ = std::make_unique<Recorded>();
  recorded_->device = device;
  work(stream);  // what is made at the first run is not recorded
  synchronize(stream);
  constexpr int trial_runs = 5, most_runs = 200;
  constexpr double worth_timing = 1e-3;
  const Graph trial = record(work, trial_runs, stream);
  recorded_->seconds_of(trial);
  const double seconds = recorded_->seconds_of(trial) / trial_runs;
  recorded_->runs = std::clamp(static_cast<int>(worth_timing / seconds), 1, most_runs);
  recorded_->graph = record(work, recorded_->runs, stream);
  recorded_->seconds_of(recorded_->graph);
}
Replay::Replay(Replay&&) noexcept = default;
Replay::~Replay() = default;

double Replay::seconds() const {
  const OnGpu here(recorded_->device.stream());
  recorded_->seconds_of(recorded_->graph);  // so that the caches hold this work's data
  return recorded_->seconds_of(recorded_->graph) / recorded_->runs;
}

std::vector<Timing> measure(const std::vector<std::function<void(const Stream&)>>& works,
                            int repetitions, const Device& device) {
  std::vector<Replay> replays;
  for (const auto& work : works) replays.emplace_back(work, device);
  std::vector<std::vector<double>> seconds(works.size());
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    for (std::size_t w = 0; w < works.size(); ++w) seconds[w].push_back(replays[w].seconds());
  }
  return detail::timings_of(seconds);
}

std::vector<Timing> measure_cold(const std::vector<std::function<void(const Stream&)>>& works,
                                 int repetitions, const Device& device) {
  const Stream& stream = device.stream();
  const OnGpu here(stream);
  CacheEviction eviction(device);
  const Event begin = make_event(), end = make_event();
  const auto record_event = [&](const Event& event) {
    check(cudaEventRecordWithFlags(event.get(), stream.queue, cudaEventRecordExternal),
          "cudaEventRecordWithFlags");
  };
  const auto seconds_of = [&](const Graph& graph) {
    check(cudaGraphLaunch(graph.get(), stream.queue), "cudaGraphLaunch");
    check(cudaStreamSynchronize(stream.queue), "measured work");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
    return static_cast<double>(milliseconds) / 1e3;
  };

  std::vector<Graph> graphs;
  for (const auto& work : works) {
    work(stream);  // what is made at the first run is not recorded
    synchronize(stream);
    const auto cold = [&](const Stream& recorded) {
      eviction.run(recorded);
      record_event(begin);
      work(recorded);
      record_event(end);
    };
    graphs.push_back(record(cold, 1, stream));
    seconds_of(graphs.back());
  }
  std::vector<std::vector<double>> seconds(works.size());
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    for (std::size_t w = 0; w < works.size(); ++w) seconds[w].push_back(seconds_of(graphs[w]));
  }
  return detail::timings_of(seconds);
}

}  // namespace heddle::cuda
