// What every call of heddle.h does around its work: no exception leaves it, and the context gets
// the message.
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "heddle.h"
#include "heddle/error.hpp"

namespace heddle::c {

/// The messages of a context, which its objects share.
class Messages {
 public:
  void keep(const char* message) {
    const std::lock_guard lock(mutex_);
    last_ = message;
    of_thread_[std::this_thread::get_id()] = last_;
  }
  /// The last of the calling thread, or of any where that has none.
  std::string last() const {
    const std::lock_guard lock(mutex_);
    const auto own = of_thread_.find(std::this_thread::get_id());
    return own != of_thread_.end() ? own->second : last_;
  }

 private:
  mutable std::mutex mutex_;
  std::string last_;
  // Systems reuse the numbers of threads that ended, so that this stays small.
  std::map<std::thread::id, std::string> of_thread_;
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

inline heddle_status keep(const SharedMessages& messages, heddle_status status,
                          const char* message) noexcept {
  try {
    if (messages) messages->keep(message);
  } catch (...) {  // the status says enough where no memory is left for words
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
    return keep(messages, status_of(error.kind()), error.what());
  } catch (const CallbackFailed& error) {
    return keep(messages, HEDDLE_ERROR_CALLBACK, error.what());
  } catch (const Busy& error) {
    return keep(messages, HEDDLE_ERROR_BUSY, error.what());
  } catch (const std::bad_alloc&) {
    return keep(messages, HEDDLE_ERROR_MEMORY, "memory does not suffice");
  } catch (const std::exception& error) {
    return keep(messages, HEDDLE_ERROR_INTERNAL, error.what());
  } catch (...) {
    return keep(messages, HEDDLE_ERROR_INTERNAL, "an exception of no known type");
  }
}

/// The same on behalf of an object of heddle.h, which may be null.
template <class Handle, class F>
heddle_status guarded_by(const Handle* handle, const F& work) noexcept {
  if (handle == nullptr) return HEDDLE_ERROR_USAGE;
  return guarded(handle->messages, work);
}

/// Throws `Error` (usage) that names the argument.
template <class T>
T& required(T* argument, const char* name) {
  if (argument == nullptr) {
    throw Error(ErrorKind::usage, std::string(name) + " is a null pointer");
  }
  return *argument;
}

/// As far as the buffer has room, with a terminating zero. Returns the length of the text.
inline std::size_t copy_text(const std::string& text, char* buffer, std::size_t capacity) {
  if (buffer != nullptr && capacity > 0) {
    const std::size_t length = text.copy(buffer, capacity - 1);
    buffer[length] = '\0';
  }
  return text.size();
}

}  // namespace heddle::c
