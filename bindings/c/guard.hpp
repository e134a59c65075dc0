// The common frame of every call of heddle.h: no exception leaves the call, and the context gets
// the message.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "heddle.h"
#include "heddle/error.hpp"
#include "heddle/tools/text.hpp"

namespace heddle::c {

/// A message as a line of printable characters, whatever paths and names it contains, and its
/// position among all messages.
struct Message {
  std::string line;
  std::uint64_t number = 0;  // 0: no message

  Message() = default;
  explicit Message(std::string_view text) : line(io::printable(text)), number(next()) {}

 private:
  static std::uint64_t next() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
  }
};

/// The last message of the calling thread that belongs to no context, because the handle was null.
inline Message& message_without_context() {
  thread_local Message message;
  return message;
}

/// The messages of a context, which its objects share.
class Messages {
 public:
  void keep(std::string_view text) {
    const Message message(text);
    const std::lock_guard lock(mutex_);
    last_ = message;
    of_thread_[std::this_thread::get_id()] = message;
  }
  /// The last message of the calling thread, including those without a context; the last of any
  /// thread if this one has none.
  std::string last() const {
    const Message& other = message_without_context();
    const std::lock_guard lock(mutex_);
    const auto own = of_thread_.find(std::this_thread::get_id());
    const std::uint64_t number = own != of_thread_.end() ? own->second.number : 0;
    if (other.number > number) return other.line;
    return number > 0 ? own->second.line : last_.line;
  }

 private:
  mutable std::mutex mutex_;
  Message last_;
  // Systems reuse the ids of threads that have ended, so that this stays small.
  std::map<std::thread::id, Message> of_thread_;
};
using SharedMessages = std::shared_ptr<Messages>;

/// Ends a solve or a product whose callback returned other than 0.
class CallbackFailed : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};
class Busy : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

inline heddle_status status_of(ErrorKind kind) {
  return static_cast<heddle_status>(static_cast<int>(kind) + 1);
}
static_assert(static_cast<int>(ErrorKind::internal) + 1 == HEDDLE_ERROR_INTERNAL);

inline heddle_status keep(const SharedMessages& messages, heddle_status status, const char* message,
                          const char* advice = "") noexcept {
  try {
    if (messages) messages->keep(std::string(message) + advice);
  } catch (...) {  // the status suffices if no memory is left for a message
  }
  return status;
}

/// Runs `work`; `messages` may be null.
template <class F>
heddle_status guarded(const SharedMessages& messages, const F& work) noexcept {
  try {
    work();
    return HEDDLE_OK;
  } catch (const Error& error) {
    // Only a preconditioner fails because of a singular entry; none helps where numbers are not
    // finite.
    const bool is_singular =
        error.kind() == ErrorKind::singular && std::strstr(error.what(), "not finite") == nullptr;
    return keep(messages, status_of(error.kind()), error.what(),
                is_singular ? "; use the preconditioner none or auto" : "");
  } catch (const CallbackFailed& error) {
    return keep(messages, HEDDLE_ERROR_CALLBACK, error.what());
  } catch (const Busy& error) {
    return keep(messages, HEDDLE_ERROR_BUSY, error.what());
  } catch (const std::bad_alloc&) {
    return keep(messages, HEDDLE_ERROR_MEMORY, "memory does not suffice");
  } catch (const std::exception& error) {
    return keep(messages, HEDDLE_ERROR_INTERNAL, error.what());
  } catch (...) {
    return keep(messages, HEDDLE_ERROR_INTERNAL, "an exception of unknown type");
  }
}

/// Refuses `call` before a context is known.
inline heddle_status refuse_without_context(const char* call, const char* why) noexcept {
  try {
    message_without_context() = Message(std::string(call) + ": " + why);
  } catch (...) {  // same as in `keep`
  }
  return HEDDLE_ERROR_USAGE;
}

/// The same on behalf of an object of heddle.h, which may be null. `call` is the function's name.
template <class Handle, class F>
heddle_status guarded_by(const Handle* handle, const F& work,
                         const char* call = __builtin_FUNCTION()) noexcept {
  if (handle != nullptr) return guarded(handle->messages, work);
  return refuse_without_context(call, "its object is a null pointer");
}

/// The end of an object of heddle.h, which may be null, as may the pointer to it.
template <class Handle>
void destroy(Handle** handle) {
  if (handle == nullptr) return;
  delete *handle;
  *handle = nullptr;
}

/// Throws `Error` (usage) that names a null argument.
template <class T>
T& required(T* argument, const char* name) {
  if (argument == nullptr) {
    throw Error(ErrorKind::usage, std::string(name) + " is a null pointer");
  }
  return *argument;
}

/// Copies as much as fits in the buffer, with a terminating zero. Returns the length of the text.
inline std::size_t copy_text(const std::string& text, char* buffer, std::size_t capacity) {
  if (buffer != nullptr && capacity > 0) {
    const std::size_t length = text.copy(buffer, capacity - 1);
    buffer[length] = '\0';
  }
  return text.size();
}

}  // namespace heddle::c
