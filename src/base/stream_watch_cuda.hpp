// Streams whose work may wait for other ranks: a host that waits for one watches the ranks.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>

#include "heddle/device.hpp"

namespace heddle::cuda {

/// Watches a stream for its lifetime: `synchronize` calls `look` while it waits for the stream.
class StreamWatch {
 public:
  /// `look` throws if the host would wait for ever. Only the thread that makes this object looks,
  /// not other threads that wait for the stream: ranks may share one.
  StreamWatch(const Stream& stream, std::function<void()> look);
  ~StreamWatch();
  StreamWatch(const StreamWatch&) = delete;
  StreamWatch& operator=(const StreamWatch&) = delete;

  /// The watch at that place among this thread's watches of the stream; null after the last.
  static const StreamWatch* find(const Stream& stream, std::size_t place);
  void look() const { look_(); }

 private:
  int gpu_;
  CUstream_st* queue_;
  std::thread::id thread_ = std::this_thread::get_id();
  std::function<void()> look_;
};

/// Calls `look` of all of this thread's watches of the stream.
void look(const Stream& stream);

/// Like `synchronize`, for destructors: if a look throws, the work that waits for other ranks has
/// been ended.
void synchronize_quietly(const Stream& stream) noexcept;

}  // namespace heddle::cuda
