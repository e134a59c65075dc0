// CUDA graphs made by capturing streams, with parts that the device repeats or leaves out.
#pragma once

#include <functional>

#include "base/cuda_call.hpp"

namespace heddle::cuda {

/// What is queued on the stream becomes part of a graph.
using Capture = std::function<void(const Stream&)>;

/// Queues, on a stream that is being captured, what `body` queues, again and again while `*stop` on
/// the device is 0: looked at before the first time and after each.
void capture_while_zero(const Stream& capturing, const int* stop, const Capture& body);

/// The same once, if `*flag` is not 0 by then.
void capture_if(const Stream& capturing, const int* flag, const Capture& body);

/// A graph that can be launched again and again; one launch begins when the one before is done.
class CapturedGraph {
 public:
  CapturedGraph(const Device& device, const Capture& capture);
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;
  /// A launch that is under way still comes to its end.
  ~CapturedGraph();

  void launch(const Stream& stream) const;

 private:
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace heddle::cuda
