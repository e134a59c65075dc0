// Tuning, and profiles, for Python.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

/// What a search is told.
struct TuneOptions {
  std::string device, objective, search, storage;
  heddle_tune_options own{};

  TuneOptions(std::string on, int threads, std::string of, std::string by, std::string in,
              double seconds, double max_memory_ratio, double memory_weight, double confidence,
              double tightness, int max_runs)
      : device(std::move(on)),
        objective(std::move(of)),
        search(std::move(by)),
        storage(std::move(in)) {
    heddle_tune_options_init(&own, sizeof own);
    own.threads = threads;
    own.seconds = seconds;
    own.max_memory_ratio = max_memory_ratio;
    own.memory_weight = memory_weight;
    own.confidence = confidence;
    own.tightness = tightness;
    own.max_runs = max_runs;
  }
  /// As long as this and the callback live.
  heddle_tune_options options(nb::handle callback) const {
    heddle_tune_options made = own;
    made.device = c_text(device);
    made.objective = c_text(objective);
    made.search = c_text(search);
    made.storage = c_text(storage);
    made.observer = observe_search;
    made.user = callback.is_none() ? nullptr : callback.ptr();
    return made;
  }
};

struct Profile {
  SharedContext context;
  Owned<heddle_profile, heddle_profile_destroy> profile;

  /// Of one matrix, or of several of a domain.
  static Profile tune(const std::vector<nb::handle_t<Matrix>>& matrices,
                      const std::optional<std::vector<std::string>>& names,
                      const std::optional<std::string>& domain, const TuneOptions& given,
                      nb::handle callback) {
    std::vector<const heddle_matrix*> own;
    for (const auto& matrix : matrices) own.push_back(nb::cast<const Matrix&>(matrix).matrix.own);
    std::vector<const char*> called;
    if (names) {
      for (const std::string& name : *names) called.push_back(c_text(name));
    }
    Profile made;
    made.context = nb::cast<const Matrix&>(matrices.front()).context;
    const heddle_tune_options options = given.options(callback);
    call(made.context, [&] {
      if (own.size() == 1 && !domain) return heddle_tune(own[0], &options, &made.profile.own);
      return heddle_tune_domain(own.data(), names ? called.data() : nullptr,
                                static_cast<std::int64_t>(own.size()), c_text(domain), &options,
                                &made.profile.own);
    });
    return made;
  }
  double evaluate(const Matrix& matrix, const TuneOptions& given, nb::handle callback) const {
    const heddle_tune_options options = given.options(callback);
    double loss = 0;
    call(context,
         [&] { return heddle_profile_evaluate(profile.own, matrix.matrix.own, &options, &loss); });
    return loss;
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
    std::string text(heddle_profile_json(profile.own, nullptr, 0), '\0');
    heddle_profile_json(profile.own, text.data(), text.size() + 1);
    return text;
  }
  std::string choose(const Matrix& matrix, const std::string& device, int threads,
                     const std::string& objective) const {
    std::string text(4096, '\0');
    std::size_t length = 0;
    call(context, [&] {
      return heddle_profile_choose(profile.own, matrix.matrix.own, c_text(device), threads,
                                   c_text(objective), text.data(), text.size(), &length);
    });
    text.resize(length);
    return text;
  }
};

}  // namespace heddle_python
