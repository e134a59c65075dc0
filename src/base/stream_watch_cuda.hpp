// Streams whose work may wait for other ranks: a host that waits for one looks after these.
#pragma once

#include <cstddef>
#include <functional>

#include "heddle/device.hpp"

namespace heddle::cuda {

/// For as long as it is there. `synchronize` looks while it waits for the stream.
class StreamWatch {
 public:
  /// `look` throws where the host would wait for ever. For the threads that wait for the stream,
  /// none of which may wait for it any more when this ends.
  StreamWatch(const Stream& stream, std::function<void()> look);
  ~StreamWatch();
  StreamWatch(const StreamWatch&) = delete;
  StreamWatch& operator=(const StreamWatch&) = delete;

  /// Of those of a stream the one at that place; null behind the last.
  static const StreamWatch* find(const Stream& stream, std::size_t place);
  void look() const { look_(); }

 private:
  int gpu_;
  CUstream_st* queue_;
  std::function<void()> look_;
};

/// As all that watch the stream.
void look(const Stream& stream);

/// As `synchronize`, for destructors: where a look throws, what waits for other ranks has been
/// ended.
void synchronize_quietly(const Stream& stream) noexcept;

}  // namespace heddle::cuda
