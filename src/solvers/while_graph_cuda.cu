#include "while_graph_cuda.hpp"

namespace heddle::cuda {

namespace {

__global__ void set_condition(cudaGraphConditionalHandle handle, const device::LoopState* state) {
  cudaGraphSetConditional(handle, state->end == device::loop_runs ? 1 : 0);
}

/// Destroyed in reverse order also where a later call throws.
struct Graph {
  cudaGraph_t graph = nullptr;
  ~Graph() {
    if (graph != nullptr) cudaGraphDestroy(graph);
  }
};
struct CaptureStream {
  cudaStream_t queue = nullptr;
  ~CaptureStream() {
    if (queue != nullptr) cudaStreamDestroy(queue);
  }
};

}  // namespace

WhileGraph::WhileGraph(const Device& device, const device::LoopState* state,
                       const std::function<void(const Stream&)>& capture) {
  const OnGpu here(device.stream());
  Graph whole;
  check(cudaGraphCreate(&whole.graph, 0), "cudaGraphCreate");
  cudaGraphConditionalHandle handle{};
  check(cudaGraphConditionalHandleCreate(&handle, whole.graph, 1, cudaGraphCondAssignDefault),
        "cudaGraphConditionalHandleCreate");
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = handle;
  parameters.conditional.type = cudaGraphCondTypeWhile;
  parameters.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddNode(&node, whole.graph, nullptr, nullptr, 0, &parameters), "cudaGraphAddNode");
  cudaGraph_t body = parameters.conditional.phGraph_out[0];

  // A stream of its own: the caller's may be at work, or being captured itself.
  CaptureStream stream;
  check(cudaStreamCreateWithFlags(&stream.queue, cudaStreamNonBlocking),
        "cudaStreamCreateWithFlags");
  check(cudaStreamBeginCaptureToGraph(stream.queue, body, nullptr, nullptr, 0,
                                      cudaStreamCaptureModeThreadLocal),
        "cudaStreamBeginCaptureToGraph");
  Stream capturing = device.stream();
  capturing.queue = stream.queue;
  try {
    capture(capturing);
    set_condition<<<1, 1, 0, stream.queue>>>(handle, state);
    check(cudaGetLastError(), "the condition of a WHILE node");
  } catch (...) {
    cudaStreamEndCapture(stream.queue, &body);
    cudaGetLastError();  // of what is thrown away
    throw;
  }
  check(cudaStreamEndCapture(stream.queue, &body), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&executable_, whole.graph, 0), "cudaGraphInstantiate");
}

WhileGraph::~WhileGraph() {
  if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
}

void WhileGraph::launch(const Stream& stream) const {
  const OnGpu here(stream);
  check(cudaGraphLaunch(executable_, stream.queue), "cudaGraphLaunch");
}

}  // namespace heddle::cuda
