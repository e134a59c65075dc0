#include "captured_graph_cuda.hpp"

#include "heddle/error.hpp"

namespace heddle::cuda {

namespace {

__global__ void set_if_any_is_zero(cudaGraphConditionalHandle handle, Flags stops) {
  int zeros = 0;
  for (int k = 0; k < stops.count; ++k) zeros += stops.first[k * stops.stride] == 0 ? 1 : 0;
  cudaGraphSetConditional(handle, zeros > 0 ? 1 : 0);
}
__global__ void enter_unless_zero(cudaGraphConditionalHandle handle, const int* flag) {
  cudaGraphSetConditional(handle, *flag != 0 ? 1 : 0);
}

SetCondition if_any_is_zero(const Flags& stops) {
  return [stops](const Stream& stream, cudaGraphConditionalHandle handle) {
    set_if_any_is_zero<<<1, 1, 0, stream.queue>>>(handle, stops);
  };
}

/// Adds the work that `queue` queues to a graph, on a separate stream: the device's may be at work,
/// or being captured itself.
void capture_into(cudaGraph_t graph, const Stream& like, const Capture& queue) {
  struct OwnStream {
    cudaStream_t queue = nullptr;
    OwnStream() {
      const AnyCall any;
      check(cudaStreamCreateWithFlags(&queue, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    }
    ~OwnStream() {
      const AnyCall any;
      cudaStreamDestroy(queue);
    }
  };
  const OwnStream own;
  check(cudaStreamBeginCaptureToGraph(own.queue, graph, nullptr, nullptr, 0,
                                      cudaStreamCaptureModeThreadLocal),
        "cudaStreamBeginCaptureToGraph");
  Stream capturing = like;
  capturing.queue = own.queue;
  try {
    queue(capturing);
  } catch (...) {
    cudaStreamEndCapture(own.queue, &graph);
    cudaGetLastError();  // clears the error of the discarded capture
    throw;
  }
  check(cudaStreamEndCapture(own.queue, &graph), "cudaStreamEndCapture");
}

/// Where a stream that is being captured stands.
struct Position {
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* last = nullptr;  // valid until the next call for that stream
  const cudaGraphEdgeData* edges = nullptr;
  std::size_t count = 0;
};
Position position_of(const Stream& capturing) {
  Position position;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamGetCaptureInfo(capturing.queue, &status, nullptr, &position.graph, &position.last,
                                 &position.edges, &position.count),
        "cudaStreamGetCaptureInfo");
  if (status != cudaStreamCaptureStatusActive) {
    throw Error(ErrorKind::internal,
                "a conditional node is queued on a stream that is not being captured, or whose "
                "capture has failed");
  }
  return position;
}

/// Adds a conditional node after the work that the stream has so far. `first` queues the kernel
/// that decides, which has to run before the node: at its second launch, a graph within another
/// still has the last value. `next`, after the body, may be empty.
void capture_conditional(const Stream& capturing, cudaGraphConditionalNodeType type,
                         const SetCondition& first, const SetCondition& next, const Capture& body) {
  const OnGpu here(capturing);
  cudaGraphConditionalHandle handle{};
  check(cudaGraphConditionalHandleCreate(&handle, position_of(capturing).graph),
        "cudaGraphConditionalHandleCreate");
  first(capturing, handle);
  check(cudaGetLastError(), "the condition of a graph's node");

  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = handle;
  parameters.conditional.type = type;
  parameters.conditional.size = 1;
  const Position after = position_of(capturing);
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddNode(&node, after.graph, after.last, after.edges, after.count, &parameters),
        "cudaGraphAddNode");
  check(cudaStreamUpdateCaptureDependencies(capturing.queue, &node, nullptr, 1,
                                            cudaStreamSetCaptureDependencies),
        "cudaStreamUpdateCaptureDependencies");

  capture_into(parameters.conditional.phGraph_out[0], capturing, [&](const Stream& in_body) {
    body(in_body);
    if (next) next(in_body, handle);
    check(cudaGetLastError(), "the condition of a graph's node");
  });
}

}  // namespace

void capture_while(const Stream& capturing, const SetCondition& first, const SetCondition& next,
                   const Capture& body) {
  capture_conditional(capturing, cudaGraphCondTypeWhile, first, next, body);
}

void capture_while_any_is_zero(const Stream& capturing, const Flags& stops, const Capture& body) {
  const SetCondition set = if_any_is_zero(stops);
  capture_while(capturing, set, set, body);
}

void capture_if_any_is_zero(const Stream& capturing, const Flags& stops, const Capture& body) {
  capture_if(capturing, if_any_is_zero(stops), body);
}

void capture_if(const Stream& capturing, const SetCondition& set, const Capture& body) {
  capture_conditional(capturing, cudaGraphCondTypeIf, set, nullptr, body);
}

void capture_if(const Stream& capturing, const int* flag, const Capture& body) {
  const SetCondition set = [flag](const Stream& stream, cudaGraphConditionalHandle handle) {
    enter_unless_zero<<<1, 1, 0, stream.queue>>>(handle, flag);
  };
  capture_if(capturing, set, body);
}

CapturedGraph::CapturedGraph(const Device& device, const Capture& capture) {
  struct Graph {
    cudaGraph_t graph = nullptr;
    ~Graph() {
      if (graph != nullptr) cudaGraphDestroy(graph);
    }
  };
  const OnGpu here(device.stream());
  Graph whole;
  check(cudaGraphCreate(&whole.graph, 0), "cudaGraphCreate");
  capture_into(whole.graph, device.stream(), capture);
  check(cudaGraphInstantiate(&executable_, whole.graph, 0), "cudaGraphInstantiate");
}

CapturedGraph::~CapturedGraph() { cudaGraphExecDestroy(executable_); }

void CapturedGraph::launch(const Stream& stream) const {
  const OnGpu here(stream);
  check(cudaGraphLaunch(executable_, stream.queue), "cudaGraphLaunch");
}

}  // namespace heddle::cuda
