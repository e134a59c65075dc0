// Tuning, and profiles, for Python.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <memory>
#include <string>

#include "call.hpp"
#include "heddle.h"
#include "matrix.hpp"

namespace heddle_python {

/// What a running search asks: the caller's function, and whether the user has pressed Ctrl-C.
inline int observe_search(void* user, const heddle_tune_progress* progress) {
  if (Absence::is_over()) return 1;
  const nb::gil_scoped_acquire held;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (user != nullptr) {
      nb::handle(static_cast<PyObject*>(user))(progress->tried, progress->expected,
                                               progress->seconds_left);
    }
    return 0;
  } catch (...) {
    raised = std::current_exception();
    return 1;
  }
}

struct Profile {
  SharedContext context;
  Owned<heddle_profile, heddle_profile_destroy> profile;

  static Profile tune(const Matrix& matrix, const std::string& device, int threads,
                      const std::string& objective, const std::string& search, double seconds,
                      double max_memory_ratio, nb::handle callback) {
    Profile made;
    made.context = matrix.context;
    heddle_tune_options options;
    heddle_tune_options_init(&options, sizeof options);
    options.device = device.c_str();
    options.threads = threads;
    options.objective = objective.c_str();
    options.search = search.c_str();
    options.seconds = seconds;
    options.max_memory_ratio = max_memory_ratio;
    options.observer = observe_search;
    options.user = callback.is_none() ? nullptr : callback.ptr();
    call(made.context, [&] { return heddle_tune(matrix.matrix.own, &options, &made.profile.own); });
    return made;
  }
  static Profile read(const std::string& path) {
    Profile made;
    made.context = std::make_shared<Context>();
    call(made.context,
         [&] { return heddle_profile_read(made.context->own, path.c_str(), &made.profile.own); });
    return made;
  }
  void write(const std::string& path, bool merge) const {
    call(context, [&] { return heddle_profile_write(profile.own, path.c_str(), merge ? 1 : 0); });
  }
  std::string json() const {
    std::string text(heddle_profile_json(profile.own, nullptr, 0), '\0');
    heddle_profile_json(profile.own, text.data(), text.size() + 1);
    return text;
  }
  std::string choose(const Matrix& matrix, const std::string& device, int threads,
                     const std::string& objective) const {
    std::string text(4096, '\0');
    std::size_t length = 0;
    call(context, [&] {
      return heddle_profile_choose(profile.own, matrix.matrix.own, device.c_str(), threads,
                                   objective.c_str(), text.data(), text.size(), &length);
    });
    text.resize(length);
    return text;
  }
};

}  // namespace heddle_python
