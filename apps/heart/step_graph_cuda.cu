#include "step_graph.hpp"

#include <cstddef>
#include <vector>

#include "heddle/cuda_call.hpp"

namespace heddle::heart::cuda {

using heddle::cuda::check;
using heddle::cuda::OnGpu;

namespace {

using Nodes = std::vector<cudaGraphNode_t>;

struct Graph {
  cudaGraph_t graph = nullptr;

  Graph() { check(cudaGraphCreate(&graph, 0), "cudaGraphCreate"); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() { cudaGraphDestroy(graph); }
};

/// The nodes that the next node on a capturing stream would follow.
Nodes last_nodes(const Stream& capturing) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaGraphNode_t* last = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  check(cudaStreamGetCaptureInfo(capturing.queue, &status, nullptr, nullptr, &last, &edges, &count),
        "cudaStreamGetCaptureInfo");
  return {last, last + count};
}

/// Adds the work queued on the stream to a graph, after the given nodes; returns its last nodes.
Nodes capture_into(cudaGraph_t graph, const Nodes& after, const Stream& stream,
                   const QueueWork& queue) {
  check(cudaStreamBeginCaptureToGraph(stream.queue, graph, after.data(), nullptr, after.size(),
                                      cudaStreamCaptureModeThreadLocal),
        "cudaStreamBeginCaptureToGraph");
  Nodes last;
  try {
    queue();
    last = last_nodes(stream);
  } catch (...) {
    cudaStreamEndCapture(stream.queue, &graph);
    cudaGetLastError();  // clears the error of the discarded capture
    throw;
  }
  check(cudaStreamEndCapture(stream.queue, &graph), "cudaStreamEndCapture");
  return last;
}

std::shared_ptr<CUgraphExec_st> instantiate(cudaGraph_t graph) {
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  return {executable, [](cudaGraphExec_t ended) { cudaGraphExecDestroy(ended); }};
}

__global__ void decide(cudaGraphConditionalHandle handle, const int* goes_on) {
  cudaGraphSetConditional(handle, *goes_on != 0 ? 1 : 0);
}

}  // namespace

StepGraph::StepGraph(const Stream& stream, const QueueWork& queue) : stream_(stream) {
  const OnGpu here(stream);
  const Graph whole;
  capture_into(whole.graph, {}, stream, queue);
  graph_ = instantiate(whole.graph);
}

StepGraph::StepGraph(const Stream& stream, const RepeatedWork& work) : stream_(stream) {
  const OnGpu here(stream);
  const Graph whole;
  cudaGraphConditionalHandle handle{};
  check(cudaGraphConditionalHandleCreate(&handle, whole.graph), "cudaGraphConditionalHandleCreate");
  const auto with_decision = [&](const QueueWork& queue) {
    return [&stream, &queue, handle, flag = work.goes_on] {
      queue();
      decide<<<1, 1, 0, stream.queue>>>(handle, flag);
      check(cudaGetLastError(), "the decision on another iteration");
    };
  };
  const Nodes begun = capture_into(whole.graph, {}, stream, with_decision(work.before));

  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = handle;
  parameters.conditional.type = cudaGraphCondTypeWhile;
  parameters.conditional.size = 1;
  cudaGraphNode_t loop = nullptr;
  check(cudaGraphAddNode(&loop, whole.graph, begun.data(), nullptr, begun.size(), &parameters),
        "cudaGraphAddNode");
  capture_into(parameters.conditional.phGraph_out[0], {}, stream, with_decision(work.again));
  if (work.after) capture_into(whole.graph, {loop}, stream, work.after);
  graph_ = instantiate(whole.graph);
}

void StepGraph::launch() const {
  const OnGpu here(stream_);
  check(cudaGraphLaunch(graph_.get(), stream_.queue), "cudaGraphLaunch");
}

}  // namespace heddle::heart::cuda
