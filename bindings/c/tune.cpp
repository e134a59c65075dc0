// Tuning, and profiles.
#include "heddle/tune.hpp"

#include <limits>
#include <string>
#include <utility>

#include "device_named.hpp"
#include "guard.hpp"
#include "handles.hpp"
#include "heddle/plan_choice.hpp"
#include "sized_struct.hpp"
#include "tuning/search/search_limits.hpp"

using namespace heddle;
using namespace heddle::c;

namespace {

const heddle_tune_options default_tune_options{
    sizeof(heddle_tune_options),    nullptr, 0,      nullptr, nullptr, 0,
    TuneOptions{}.max_memory_ratio, nullptr, nullptr};

Objective objective_named(const char* name) {
  return name == nullptr ? Objective() : parse_objective(name);
}

TuneOptions options_of(const heddle_tune_options& c, const Device& device) {
  TuneOptions options;
  options.objective = objective_named(c.objective);
  if (c.search != nullptr) options.search = parse_search(c.search);
  if (!(c.seconds >= 0)) throw Error(ErrorKind::usage, "the seconds of a search are 0 or more");
  if (!(c.max_memory_ratio >= 1)) {
    throw Error(ErrorKind::usage, "max_memory_ratio is at least 1, the memory of CSR");
  }
  options.max_memory_ratio = c.max_memory_ratio;
  options.seconds_limit = c.seconds > 0 ? c.seconds : usual_seconds(options.search, device);
  options.known = Profiles::for_device(device);
  if (c.observer != nullptr) {
    options.observer = [observer = c.observer, user = c.user](const TuneProgress& now) {
      const heddle_tune_progress progress{now.tried, now.expected, now.seconds, now.seconds_left};
      return observer(user, &progress) == 0;
    };
  }
  return options;
}

}  // namespace

void heddle_tune_options_init(heddle_tune_options* options, size_t size) {
  init_struct(options, size, default_tune_options);
}

heddle_status heddle_tune(const heddle_matrix* matrix, const heddle_tune_options* given,
                          heddle_profile** profile) {
  return guarded_by(matrix, [&] {
    heddle_profile*& out = required(profile, "profile");
    const auto c = read_struct(given, default_tune_options, "heddle_tune_options");
    const Device device = device_named(c.device, c.threads);
    Profile found = tune({"matrix", &matrix->matrix}, device, options_of(c, device));
    out = new heddle_profile{matrix->messages, std::move(found), "just tuned"};
  });
}

heddle_status heddle_profile_read(heddle_context* context, const char* path,
                                  heddle_profile** profile) {
  return guarded_by(context, [&] {
    heddle_profile*& out = required(profile, "profile");
    const std::string name = &required(path, "path");
    out = new heddle_profile{context->messages, Profile::load(name), name};
  });
}

heddle_status heddle_profile_write(const heddle_profile* profile, const char* path, int32_t merge) {
  return guarded_by(profile, [&] {
    const std::string name = &required(path, "path");
    if (merge != 0) {
      profile->profile.merge_into(name);
    } else {
      profile->profile.save(name);
    }
  });
}

size_t heddle_profile_json(const heddle_profile* profile, char* buffer, size_t capacity) {
  std::size_t length = 0;
  guarded_by(profile, [&] { length = copy_text(profile->profile.to_json(), buffer, capacity); });
  if (length == 0) copy_text("", buffer, capacity);
  return length;
}

heddle_status heddle_profile_choose(const heddle_profile* profile, const heddle_matrix* matrix,
                                    const char* device, int32_t threads, const char* objective,
                                    char* buffer, size_t capacity, size_t* length) {
  return guarded_by(profile, [&] {
    const AnyMatrix& of = required(matrix, "matrix").matrix;
    const Device here = device_named(device, threads);
    const auto profiles = Profiles::for_device(here, profile->profile, profile->source);
    if (!profiles.warnings().empty()) {
      const std::string other = why_another_class(profile->profile.device, properties_of(here));
      if (!other.empty()) {
        throw Error(ErrorKind::bad_plan,
                    "the profile " + profile->source + " is of another device: " + other);
      }
    }
    const PlanChoice choice = profiles.choose(of, here, objective_named(objective));
    const std::size_t size = copy_text(to_string(choice.plan), buffer, capacity);
    if (length != nullptr) *length = size;
  });
}

void heddle_profile_destroy(heddle_profile** profile) {
  if (profile == nullptr) return;
  delete *profile;
  *profile = nullptr;
}
