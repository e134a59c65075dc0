// Tuning, and profiles.
#include "heddle/tune.hpp"
#include "base/text/names.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "guard.hpp"
#include "handles.hpp"
#include "heddle/plan_choice.hpp"
#include "multigrid_settings.hpp"
#include "settings_given.hpp"
#include "tuning/search/search_limits.hpp"

using namespace heddle;
using namespace heddle::c;

namespace {

Objective objective_named(const char* name) {
  return name == nullptr ? Objective() : parse_objective(name);
}

enum class Tuned { plans, nodes, multigrid };

struct Task {
  Tuned tuned = Tuned::plans;
  TuneOptions options;
};

/// Throws `Error` (usage) for settings that exclude each other.
Tuned tuned_by(const heddle_settings* settings, const std::string& objective) {
  const bool is_multigrid = is_same_name(objective, "multigrid");
  const bool is_tree = options_of<StorageSettings>(settings).is_hierarchical;
  if (is_multigrid && is_tree) {
    throw Error(ErrorKind::usage, "multigrid is tuned only in sliced storage");
  }
  const std::string setting = first_of_multigrid(settings);
  if (!is_multigrid && !setting.empty()) {
    throw Error(ErrorKind::usage,
                setting + " is for the objective multigrid, not for " + objective);
  }
  const TuneOptions given = options_of<TuneSettings>(settings).options;
  const char* const of_plans = given.search != Search::pruned ? "search"
                               : given.memory_weight != 0     ? "memory_weight"
                                                              : nullptr;
  if ((is_multigrid || is_tree) && of_plans != nullptr) {
    throw Error(ErrorKind::usage,
                std::string(of_plans) + " is for plans, not for trees or multigrid");
  }
  return is_multigrid ? Tuned::multigrid : is_tree ? Tuned::nodes : Tuned::plans;
}

Task task_of(const heddle_settings* settings, const Device& device) {
  const auto given = options_of<TuneSettings>(settings);
  Task task{tuned_by(settings, given.objective), given.options};
  TuneOptions& options = task.options;
  if (task.tuned != Tuned::multigrid) options.objective = parse_objective(given.objective);
  options.min_runs = std::min(options.min_runs, options.max_runs);
  if (task.tuned == Tuned::plans) options.seconds_limit = usual_seconds(options.search, device);
  if (given.seconds > 0) options.seconds_limit = given.seconds;
  options.known = Profiles::for_device(device);
  const heddle_settings& own = given_or_none(settings);
  if (own.tune_observer != nullptr) {
    options.observer = [observer = own.tune_observer,
                        user = own.tune_observer_user](const TuneProgress& now) {
      const heddle_tune_progress progress{now.tried, now.expected, now.seconds, now.seconds_left};
      return observer(user, &progress) == 0;
    };
  }
  return task;
}

/// Throws `Error` (usage) for settings that tune something other than plans.
TuneOptions options_of_plans(const heddle_settings* settings, const Device& device) {
  Task task = task_of(settings, device);
  if (task.tuned == Tuned::plans) return std::move(task.options);
  throw Error(ErrorKind::usage, "only plans are tuned over a domain");
}

Profile tuned(const heddle_matrix& given, const heddle_settings* settings) {
  const Device device = device_of(settings);
  const NamedMatrix matrix{"matrix", &given.matrix};
  const Task task = task_of(settings, device);
  if (task.tuned == Tuned::plans) return tune(matrix, device, task.options);
  if (task.tuned == Tuned::nodes) return tune_nodes(matrix, device, task.options);
  const MultigridChoice candidates =
      choice_by_settings(settings, {}, given.entry, given.matrix.rows(), given.matrix.precision());
  return tune_multigrid(matrix, candidates, device, task.options);
}

}  // namespace

heddle_status heddle_tune(const heddle_matrix* matrix, const heddle_settings* settings,
                          heddle_profile** profile) {
  return guarded_by(matrix, [&] {
    heddle_profile*& out = required(profile, "profile");
    out = new heddle_profile{matrix->messages, tuned(*matrix, settings), "just tuned"};
  });
}

heddle_status heddle_tune_domain(const heddle_matrix* const* matrices, const char* const* names,
                                 int64_t count, const char* domain, const heddle_settings* settings,
                                 heddle_profile** profile) {
  if (matrices == nullptr) return refuse_without_context(__func__, "matrices is a null pointer");
  if (count < 1) return refuse_without_context(__func__, "count is not 1 or more");
  return guarded_by(matrices[0], [&] {
    heddle_profile*& out = required(profile, "profile");
    const Device device = device_of(settings);
    std::vector<NamedMatrix> named;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::string at = "[" + std::to_string(k) + "]";
      const std::string name =
          names == nullptr ? std::to_string(k + 1) : &required(names[k], ("names" + at).c_str());
      named.push_back({name, &required(matrices[k], ("matrices" + at).c_str()).matrix});
    }
    Profile found = tune_domain(domain == nullptr ? "default" : domain, named, device,
                                options_of_plans(settings, device));
    out = new heddle_profile{matrices[0]->messages, std::move(found), "just tuned"};
  });
}

heddle_status heddle_profile_evaluate(const heddle_profile* profile, const heddle_matrix* matrix,
                                      const heddle_settings* settings, double* loss) {
  return guarded_by(profile, [&] {
    double& out = required(loss, "loss");
    const AnyMatrix& of = required(matrix, "matrix").matrix;
    const Device device = device_of(settings);
    TuneOptions options = options_of_plans(settings, device);
    options.known = {};
    out = evaluate(profile->profile, {"matrix", &of}, device, options).loss;
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
                    "the profile " + profile->source + " is for another device: " + other);
      }
    }
    const PlanChoice choice = profiles.choose(of, here, objective_named(objective));
    const std::size_t size = copy_text(to_string(choice.plan), buffer, capacity);
    if (length != nullptr) *length = size;
  });
}

void heddle_profile_destroy(heddle_profile** profile) { destroy(profile); }
