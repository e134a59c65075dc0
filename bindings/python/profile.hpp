// Tuning, and profiles, for Python.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "call.hpp"
#include "heddle.h"
#include "matrix.hpp"
#include "settings.hpp"

namespace heddle_python {

/// Called by a running search: calls the caller's function, and checks for Ctrl-C.
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

  /// Tunes for one matrix, or for several of a domain.
  static Profile tune(const std::vector<nb::handle_t<Matrix>>& matrices,
                      const std::optional<std::vector<std::string>>& names,
                      const std::optional<std::string>& domain, const Settings& settings,
                      nb::handle callback) {
    std::vector<const heddle_matrix*> own;
    for (const auto& matrix : matrices) own.push_back(nb::cast<const Matrix&>(matrix).matrix.own);
    std::vector<const char*> called;
    if (names) {
      for (const std::string& name : *names) called.push_back(c_text(name));
    }
    Profile made;
    made.context = nb::cast<const Matrix&>(matrices.front()).context;
    observe(settings, callback);
    call(made.context, [&] {
      if (own.size() == 1 && !domain) return heddle_tune(own[0], settings.get(), &made.profile.own);
      return heddle_tune_domain(own.data(), names ? called.data() : nullptr,
                                static_cast<std::int64_t>(own.size()), c_text(domain),
                                settings.get(), &made.profile.own);
    });
    return made;
  }
  double evaluate(const Matrix& matrix, const Settings& settings, nb::handle callback) const {
    observe(settings, callback);
    double loss = 0;
    call(context, [&] {
      return heddle_profile_evaluate(profile.own, matrix.matrix.own, settings.get(), &loss);
    });
    return loss;
  }
  static void observe(const Settings& settings, nb::handle callback) {
    heddle_settings_observe_tuning(settings.get(), observe_search,
                                   callback.is_none() ? nullptr : callback.ptr());
  }
  static Profile read(const std::string& path) {
    Profile made;
    made.context = std::make_shared<Context>();
    call(made.context,
         [&] { return heddle_profile_read(made.context->own, c_text(path), &made.profile.own); });
    return made;
  }
  void write(const std::string& path, bool merge) const {
    call(context, [&] { return heddle_profile_write(profile.own, c_text(path), merge ? 1 : 0); });
  }
  std::string json() const {
    return text_of([&](char* to, std::size_t capacity) {
      return heddle_profile_json(profile.own, to, capacity);
    });
  }
  std::string choose(const Matrix& matrix, const std::string& device, int threads,
                     const std::string& objective) const {
    return text_of([&](char* to, std::size_t capacity) {
      std::size_t length = 0;
      call(context, [&] {
        return heddle_profile_choose(profile.own, matrix.matrix.own, c_text(device), threads,
                                     c_text(objective), to, capacity, &length);
      });
      return length;
    });
  }
};

}  // namespace heddle_python
