// Tuning, and profiles.
#include "heddle/tune.hpp"
#include "base/names.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device_named.hpp"
#include "guard.hpp"
#include "handles.hpp"
#include "heddle/plan_choice.hpp"
#include "multigrid_told.hpp"
#include "sized_struct.hpp"
#include "tuning/search/search_limits.hpp"

using namespace heddle;
using namespace heddle::c;

namespace {

const heddle_tune_options default_tune_options{sizeof(heddle_tune_options),
                                               nullptr,
                                               0,
                                               nullptr,
                                               nullptr,
                                               0,
                                               TuneOptions{}.max_memory_ratio,
                                               nullptr,
                                               nullptr,
                                               TuneOptions{}.memory_weight,
                                               TuneOptions{}.confidence,
                                               TuneOptions{}.tightness,
                                               TuneOptions{}.most_runs,
                                               nullptr,
                                               nullptr};

Objective objective_named(const char* name) {
  return name == nullptr ? Objective() : parse_objective(name);
}

bool is_of_multigrid(const heddle_tune_options& options) {
  return options.objective != nullptr && std::string_view(options.objective) == "multigrid";
}
bool is_of_nodes(const heddle_tune_options& options) {
  const std::string_view storage = options.storage == nullptr ? "sliced" : options.storage;
  if (!is_same_name(storage, "sliced") && !is_same_name(storage, "hisparse")) {
    throw Error(ErrorKind::usage, "the storage is sliced or hisparse, not " + std::string(storage));
  }
  return is_same_name(storage, "hisparse");
}

/// `tune` and the rest refuse what is out of its range.
TuneOptions options_of(const heddle_tune_options& c, const Device& device) {
  TuneOptions options;
  const bool tunes_plans = !is_of_multigrid(c) && !is_of_nodes(c);
  if (!is_of_multigrid(c)) options.objective = objective_named(c.objective);
  if (c.search != nullptr) options.search = parse_search(c.search);
  if (!(c.seconds >= 0)) throw Error(ErrorKind::usage, "the seconds of a search are 0 or more");
  if (!(c.max_memory_ratio >= 1)) {
    throw Error(ErrorKind::usage, "max_memory_ratio is at least 1, the memory of CSR");
  }
  if (c.multigrid != nullptr && !is_of_multigrid(c)) {
    throw Error(ErrorKind::usage, "multigrid is for that objective, not for " +
                                      (c.objective == nullptr ? "cg" : std::string(c.objective)));
  }
  options.max_memory_ratio = c.max_memory_ratio;
  options.memory_weight = c.memory_weight;
  options.confidence = c.confidence;
  options.tightness = c.tightness;
  options.most_runs = c.max_runs;
  options.least_runs = std::min(options.least_runs, options.most_runs);
  if (tunes_plans) options.seconds_limit = usual_seconds(options.search, device);
  if (c.seconds > 0) options.seconds_limit = c.seconds;
  options.known = Profiles::for_device(device);
  if (c.observer != nullptr) {
    options.observer = [observer = c.observer, user = c.user](const TuneProgress& now) {
      const heddle_tune_progress progress{now.tried, now.expected, now.seconds, now.seconds_left};
      return observer(user, &progress) == 0;
    };
  }
  return options;
}

/// Plans alone. Throws `Error` (usage) for what else there is to tune.
TuneOptions options_of_plans(const heddle_tune_options& c, const Device& device) {
  if (is_of_multigrid(c) || is_of_nodes(c)) {
    throw Error(ErrorKind::usage, "only plans are tuned over a domain");
  }
  return options_of(c, device);
}

Profile tuned(const heddle_matrix& given, const heddle_tune_options& c, const Device& device) {
  const NamedMatrix matrix{"matrix", &given.matrix};
  const TuneOptions options = options_of(c, device);
  if (is_of_multigrid(c) || is_of_nodes(c)) {
    if (options.search != Search::pruned || c.memory_weight != 0) {
      throw Error(ErrorKind::usage,
                  "search and memory_weight are of plans, not of trees or multigrid");
    }
    if (c.max_runs < 1) throw Error(ErrorKind::usage, "max_runs is at least 1");
  }
  if (is_of_multigrid(c)) {
    if (is_of_nodes(c)) throw Error(ErrorKind::usage, "multigrid is tuned in sliced storage");
    const MultigridChoice candidates =
        told_by(c.multigrid, {}, given.entry, given.matrix.rows(), given.matrix.precision());
    return tune_multigrid(matrix, candidates, device, options);
  }
  return is_of_nodes(c) ? tune_nodes(matrix, device, options) : tune(matrix, device, options);
}

heddle_tune_options read(const heddle_tune_options* given) {
  return read_struct(given, default_tune_options, "heddle_tune_options");
}

}  // namespace

void heddle_tune_options_init(heddle_tune_options* options, size_t size) {
  init_struct(options, size, default_tune_options);
}

heddle_status heddle_tune(const heddle_matrix* matrix, const heddle_tune_options* given,
                          heddle_profile** profile) {
  return guarded_by(matrix, [&] {
    heddle_profile*& out = required(profile, "profile");
    const heddle_tune_options c = read(given);
    Profile found = tuned(*matrix, c, device_named(c.device, c.threads));
    out = new heddle_profile{matrix->messages, std::move(found), "just tuned"};
  });
}

heddle_status heddle_tune_domain(const heddle_matrix* const* matrices, const char* const* names,
                                 int64_t count, const char* domain,
                                 const heddle_tune_options* given, heddle_profile** profile) {
  if (matrices == nullptr) return refuse_without_context(__func__, "matrices is a null pointer");
  if (count < 1) return refuse_without_context(__func__, "count is not 1 or more");
  return guarded_by(matrices[0], [&] {
    heddle_profile*& out = required(profile, "profile");
    const heddle_tune_options c = read(given);
    const Device device = device_named(c.device, c.threads);
    std::vector<NamedMatrix> named;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::string at = "[" + std::to_string(k) + "]";
      const std::string name =
          names == nullptr ? std::to_string(k + 1) : &required(names[k], ("names" + at).c_str());
      named.push_back({name, &required(matrices[k], ("matrices" + at).c_str()).matrix});
    }
    Profile found = tune_domain(domain == nullptr ? "default" : domain, named, device,
                                options_of_plans(c, device));
    out = new heddle_profile{matrices[0]->messages, std::move(found), "just tuned"};
  });
}

heddle_status heddle_profile_evaluate(const heddle_profile* profile, const heddle_matrix* matrix,
                                      const heddle_tune_options* given, double* loss) {
  return guarded_by(profile, [&] {
    double& out = required(loss, "loss");
    const AnyMatrix& of = required(matrix, "matrix").matrix;
    const heddle_tune_options c = read(given);
    const Device device = device_named(c.device, c.threads);
    TuneOptions options = options_of_plans(c, device);
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
