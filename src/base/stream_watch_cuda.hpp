// Streams whose work may wait for other ranks: a host that waits for one looks after these.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>

#include "heddle/device.hpp"

namespace heddle::cuda {

/// For as long as it is there. `synchronize` looks while it waits for the stream.
class StreamWatch {
 public:
  /// `look` throws where the host would wait for ever. The thread that makes this looks, others
  /// that wait for the stream do not: ranks may share one.
  StreamWatch(const Stream& stream, std::function<void()> look);
  ~StreamWatch();
  StreamWatch(const StreamWatch&) = delete;
  StreamWatch& operator=(const StreamWatch&) = delete;

  /// Of this thread's, those of a stream, the one at that place; null behind the last.
  static const StreamWatch* find(const Stream& stream, std::size_t place);
  void look() const { look_(); }

 private:
  int gpu_;
  CUstream_st* queue_;
  std::thread::id thread_ = std::this_thread::get_id();
  std::function<void()> look_;
};

/// As all of this thread's that watch the stream.
void look(const Stream& stream);

/// As `synchronize`, for destructors: where a look throws, what waits for other ranks has been
/// ended.
void synchronize_quietly(const Stream& stream) noexcept;

}  // namespace heddle::cuda
