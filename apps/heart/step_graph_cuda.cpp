#include "step_graph.hpp"

#include "heddle/cuda_call.hpp"

namespace heddle::heart::cuda {

using heddle::cuda::check;
using heddle::cuda::OnGpu;

StepGraph::StepGraph(const Stream& stream, const std::function<void()>& queue) : stream_(stream) {
  const OnGpu here(stream);
  check(cudaStreamBeginCapture(stream.queue, cudaStreamCaptureModeThreadLocal),
        "cudaStreamBeginCapture");
  cudaGraph_t graph = nullptr;
  try {
    queue();
  } catch (...) {
    cudaStreamEndCapture(stream.queue, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();
    throw;
  }
  check(cudaStreamEndCapture(stream.queue, &graph), "cudaStreamEndCapture");
  cudaGraphExec_t executable = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  check(status, "cudaGraphInstantiate");
  graph_.reset(executable, [](cudaGraphExec_t ended) { cudaGraphExecDestroy(ended); });
}

void StepGraph::launch() const {
  const OnGpu here(stream_);
  check(cudaGraphLaunch(graph_.get(), stream_.queue), "cudaGraphLaunch");
}

}  // namespace heddle::heart::cuda
