// Calls of heddle.h from Python: its errors become exceptions, and the interpreter's lock is
// released while the library works.
#pragma once

#include <nanobind/nanobind.h>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "heddle.h"

namespace heddle_python {

namespace nb = nanobind;

/// The exception that a callback raised in this thread, rethrown once the library has returned.
inline thread_local std::exception_ptr raised;

inline void raise_again() {
  if (raised) std::rethrow_exception(std::exchange(raised, nullptr));
}

/// The text that a call of heddle.h copies to a buffer; the call is repeated if the first buffer is
/// too small.
template <class F>
std::string text_of(const F& copy, std::size_t capacity = 255) {
  for (;;) {
    std::string text(capacity, '\0');
    const std::size_t length = copy(text.data(), capacity + 1);
    if (length <= capacity) {
      text.resize(length);
      return text;
    }
    capacity = length;
  }
}

[[noreturn]] inline void raise(heddle_status status, const std::string& message) {
  const nb::object error =
      nb::module_::import_("heddle._errors").attr("of_status")(static_cast<int>(status), message);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

/// A text for C, which ends at its first zero. Throws an exception that becomes a ValueError, with
/// or without the interpreter's lock.
inline const char* c_text(const std::string& text) {
  if (text.find('\0') != std::string::npos) throw std::invalid_argument("embedded null character");
  return text.c_str();
}
/// Null for none.
inline const char* c_text(const std::optional<std::string>& text) {
  return text ? c_text(*text) : nullptr;
}

/// Daemon threads may be at work in the library when the interpreter ends. Python then ends a
/// thread that asks for its lock, which aborts a C++ process. Therefore `Absence::end` lets them
/// return first, and a thread that comes too late waits for the end of the process.
class Absence {
 public:
  /// Releases the lock. Throws if the interpreter is ending.
  Absence() {
    if (is_over()) throw std::runtime_error("the interpreter ends");
    ++away_;
    state_ = PyEval_SaveThread();
  }
  Absence(const Absence&) = delete;
  Absence& operator=(const Absence&) = delete;
  ~Absence() {
    ++returning_;
    if (closed_ && is_over()) {
      --returning_;
      for (;;) pause();
    }
    PyEval_RestoreThread(state_);
    --returning_;
    --away_;
  }

  /// True if callbacks may no longer ask for the lock.
  static bool is_over() { return ending_ && std::this_thread::get_id() != last_; }

  /// Called at exit, with the lock held: ends the solves of other threads.
  static void end() {
    constexpr auto patience = std::chrono::seconds(2);
    constexpr auto moment = std::chrono::milliseconds(1);
    last_ = std::this_thread::get_id();
    ending_ = true;
    const nb::gil_scoped_release released;
    const auto start = std::chrono::steady_clock::now();
    while (away_ > 0 && std::chrono::steady_clock::now() - start < patience) {
      std::this_thread::sleep_for(moment);
    }
    closed_ = true;
    while (returning_ > 0) std::this_thread::sleep_for(moment);
  }

 private:
  static inline std::atomic<int> away_ = 0, returning_ = 0;
  static inline std::atomic<bool> ending_ = false, closed_ = false;
  static inline std::thread::id last_;
  PyThreadState* state_ = nullptr;
};

/// The context of a matrix, and of all objects made from it.
struct Context {
  heddle_context* own = nullptr;
  Context() {
    if (heddle_context_create(&own) != HEDDLE_OK) throw std::bad_alloc();
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { heddle_context_destroy(&own); }
};
using SharedContext = std::shared_ptr<Context>;

inline void check(const SharedContext& context, heddle_status status) {
  raise_again();
  if (status == HEDDLE_OK) return;
  raise(status, text_of([&](char* to, std::size_t capacity) {
          return heddle_message(context->own, to, capacity);
        }));
}

/// Calls the library without the interpreter's lock.
template <class F>
void call(const SharedContext& context, const F& f) {
  heddle_status status{};
  {
    const Absence absence;
    status = f();
  }
  check(context, status);
}

/// Owns an object of heddle.h. Destroying it may wait for a GPU, without the interpreter's lock if
/// that still exists.
template <class T, void (*destroy)(T**)>
struct Owned {
  T* own = nullptr;
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Owned(Owned&& other) noexcept : own(std::exchange(other.own, nullptr)) {}
  ~Owned() {
    if (own == nullptr) return;
    if (Py_IsInitialized() == 0 || Absence::is_over()) {
      destroy(&own);
    } else {
      const Absence absence;
      destroy(&own);
    }
  }
};

}  // namespace heddle_python
