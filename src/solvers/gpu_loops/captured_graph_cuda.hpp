// CUDA graphs made by capturing streams, with parts that the device repeats or leaves out.
#pragma once

#include <functional>

#include "base/cuda_call.hpp"

namespace heddle::cuda {

/// Queues work on the stream, which becomes part of a graph.
using Capture = std::function<void(const Stream&)>;

/// Integers on the device, `stride` apart.
struct Flags {
  const int* first;
  int count = 1;
  int stride = 1;
};
/// Queues the work of `body` on a stream that is being captured, to be repeated while any of
/// `stops` is 0. They are checked before the first time and after each.
void capture_while_any_is_zero(const Stream& capturing, const Flags& stops, const Capture& body);

/// Same, but once, if any of `stops` is 0 by then.
void capture_if_any_is_zero(const Stream& capturing, const Flags& stops, const Capture& body);

/// Same, but once, if `*flag` is not 0 by then.
void capture_if(const Stream& capturing, const int* flag, const Capture& body);

/// Queues a kernel that sets a condition, by `cudaGraphSetConditional`, besides other work.
using SetCondition = std::function<void(const Stream&, cudaGraphConditionalHandle)>;

/// Queues the work of `body`, once if `set` says so.
void capture_if(const Stream& capturing, const SetCondition& set, const Capture& body);

/// Same, but repeated as long as the last of `first` and `next` says so: `first` is queued before
/// the first body, and `next` after each body.
void capture_while(const Stream& capturing, const SetCondition& first, const SetCondition& next,
                   const Capture& body);

/// A graph that can be launched again and again; one launch begins when the one before is done.
class CapturedGraph {
 public:
  CapturedGraph(const Device& device, const Capture& capture);
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;
  /// A launch that is under way still finishes.
  ~CapturedGraph();

  void launch(const Stream& stream) const;

 private:
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace heddle::cuda
