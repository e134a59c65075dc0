// Work of a device's stream in the order of a caller's.
#pragma once

#include "heddle/config.hpp"
#include "heddle/device.hpp"
#include "stream_order_cuda.hpp"

namespace heddle {

inline void queue_after(CUstream_st* later, CUstream_st* earlier, int gpu) {
  if constexpr (has_cuda) cuda::queue_after(later, earlier, gpu);
}
inline void check_stream(CUstream_st* stream, int gpu) {
  if constexpr (has_cuda) cuda::check_stream(stream, gpu);
}
/// True if work queued on the stream becomes part of a graph.
inline bool is_being_captured(const Stream& stream) {
  if constexpr (has_cuda) {
    if (stream.on_gpu()) return cuda::is_being_captured(stream.queue, stream.gpu);
  }
  return false;
}

/// The caller's stream of the same GPU; null is the device's own.
inline Stream on_stream_of(CUstream_st* caller, const Stream& own) {
  Stream stream = own;
  if (own.on_gpu() && caller != nullptr) stream.queue = caller;
  return stream;
}

/// From here until `leave`, the device's stream works in the order of the caller's stream; null is
/// the device's own. Throws `Error` (usage) for a stream of another GPU.
class InOrderOf {
 public:
  InOrderOf(CUstream_st* caller, const Stream& own) : caller_(caller), own_(own) {
    if (!is_other()) return;
    check_stream(caller_, own_.gpu);
    queue_after(own_.queue, caller_, own_.gpu);
  }
  InOrderOf(const InOrderOf&) = delete;
  InOrderOf& operator=(const InOrderOf&) = delete;
  /// Also leaves if the work failed: a capture of the caller's stream must not end while it
  /// contains another one.
  ~InOrderOf() {
    if (has_left_) return;
    try {
      leave();
    } catch (...) {  // the caller gets the error that led here
    }
  }
  void leave() {
    has_left_ = true;
    if (is_other()) queue_after(caller_, own_.queue, own_.gpu);
  }

 private:
  bool is_other() const { return own_.on_gpu() && caller_ != nullptr && caller_ != own_.queue; }

  CUstream_st* caller_;
  Stream own_;
  bool has_left_ = false;
};

}  // namespace heddle
