#include "heddle/plan_choice.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "base/file_memory.hpp"
#include "base/shared_library.hpp"
#include "base/text/environment.hpp"
#include "heddle/choose_plan.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "matrix/exact_encoding.hpp"
#include "plan_fits.hpp"

namespace heddle {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view none = "none";

bool is_for(const ProfileRecord& record, const PlanSubject& subject) {
  return record.entry == subject.entry && record.precision == subject.precision;
}
bool has_shape(const PatternFeatures& features, const PatternView& pattern) {
  return features.rows == pattern.rows && features.columns == pattern.columns &&
         features.entries == pattern.entries();
}

std::string tuned_for(const std::string& matrix, double distance) {
  char away[32];
  std::snprintf(away, sizeof away, ", %.1f away", distance);
  return "tuned for " + matrix + away;
}

std::string in_words(const ProfileMatch& match) {
  switch (match.kind) {
    case ProfileMatch::Kind::same_pattern:
      return "tuned for this pattern";
    case ProfileMatch::Kind::domain:
      if (match.use == DomainUse::predicted) return "predicted, best for domain " + match.matrix;
      return (match.use == DomainUse::plan ? "" : std::string(name(match.use)) + " ") +
             "best of domain " + match.matrix;
    case ProfileMatch::Kind::nearest:
      break;
  }
  return tuned_for(match.matrix, match.distance);
}

using Files = std::vector<fs::path>;

/// Every *.json of a folder, sorted by name; none where the folder cannot be read.
Files list_of(const fs::path& folder) {
  Files files;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    // A name that begins with a dot is a file being written; reading a pipe would never end.
    std::error_code gone;
    if (name.front() != '.' && name.ends_with(".json") && at->is_regular_file(gone)) {
      files.push_back(at->path());
    }
  }
  std::ranges::sort(files);
  return files;
}

/// The same, reread when the folder has changed. Never destroyed: threads may outlive `main`.
std::shared_ptr<const Files> profiles_in(const fs::path& folder) {
  static auto& known = *new FileMemory<std::shared_ptr<const Files>>;
  return known.get(folder, [&] { return std::make_shared<const Files>(list_of(folder)); });
}

/// A profile, or the error that prevented its reading.
struct ReadProfile {
  std::shared_ptr<const Profile> profile;
  std::exception_ptr why_not;
};

/// `Profile::load`, once for each state of the file.
std::shared_ptr<const Profile> known_profile(const fs::path& path) {
  static auto& known = *new FileMemory<ReadProfile>;
  const ReadProfile read = known.get(path, [&]() -> ReadProfile {
    try {
      return {std::make_shared<const Profile>(Profile::load(path.string())), nullptr};
    } catch (const Error&) {
      return {nullptr, std::current_exception()};
    }
  });
  if (read.why_not) std::rethrow_exception(read.why_not);
  return read.profile;
}

const fs::path& shipped_profiles();

/// The folders of the shared library that holds this function, if it is in one, and of the program.
std::vector<fs::path> own_folders() {
  std::vector<fs::path> folders;
  std::error_code error;
  // For a program, the name it was called by: any text.
  const fs::path path = file_of(reinterpret_cast<const void*>(&shipped_profiles));
  if (path.is_absolute()) folders.push_back(fs::weakly_canonical(path, error).parent_path());
  folders.push_back(fs::read_symlink("/proc/self/exe", error).parent_path());
  return folders;
}

/// share/heddle/profiles in, one above or two above the folder of this library or program, else
/// under the prefix of the installation; empty where there is none. So an installation can be moved
/// as a whole, and a build tree, which has a link of that name, finds the source tree's own.
fs::path find_shipped_profiles() {
  const fs::path below = fs::path("share") / "heddle" / "profiles";
  std::error_code error;
  for (const fs::path& folder : own_folders()) {
    for (const fs::path& base :
         {folder, folder.parent_path(), folder.parent_path().parent_path()}) {
      if (!base.empty() && fs::is_directory(base / below, error)) return base / below;
    }
  }
  const fs::path installed = HEDDLE_INSTALLED_PROFILES;
  return fs::is_directory(installed, error) ? installed : fs::path();
}

const fs::path& shipped_profiles() {
  static const auto& folder = *new fs::path(find_shipped_profiles());
  return folder;
}

}  // namespace

PlanSubject subject_of(const AnyMatrix& matrix) {
  return std::visit(
      [&](const auto& entry) {
        return PlanSubject{
            .pattern = matrix.pattern(),
            .entry = std::string(matrix.entry().name()),
            .precision = std::string(name(matrix.precision())),
            .entry_bytes = entry->bytes(),
            .result_bytes = entry->sizes.result_components * entry->sizes.scalar_bytes};
      },
      detail::entry_table_of(matrix));
}

/// Adds one source after the other, as far as they are usable.
class Profiles::Reader {
 public:
  explicit Reader(const Device& device) : device_(device) {}

  /// Adds files of one rank. Unless they are `required`, broken ones are left out.
  void add(const Files& files, bool is_named, bool required) {
    ++rank_;
    for (const fs::path& path : files) {
      try {
        add(path.string(), known_profile(path), is_named);
      } catch (const OtherVersion& error) {
        warn(error.what());
      } catch (const Error& error) {
        if (required) throw;
        warn(error.what());
      }
    }
  }

  /// Adds files not named by the caller: of the environment, the cache folder and the installation.
  void add_known() {
    const std::string named = environment("HEDDLE_PROFILE");
    if (named == none) return;
    if (!named.empty()) add({named}, true, false);
    add(*profiles_in(profile_folder()), false, false);
    add(*profiles_in(shipped_profiles()), false, false);
  }

  void add(const std::string& path, std::shared_ptr<const Profile> profile, bool is_named) {
    if (profiles.here_ == DeviceProperties()) profiles.here_ = properties_of(device_);
    const std::string why = why_another_class(profile->device, profiles.here_);
    if (why.empty()) {
      profiles.sources_.push_back({rank_, path, std::move(profile)});
    } else if (is_named) {
      warn(path + ": " + why);
    }
  }

  Profiles profiles;

 private:
  void warn(const std::string& why) {
    profiles.warnings_.push_back("a profile is not used: " + why);
  }

  const Device& device_;
  int rank_ = 0;
};

Profiles Profiles::for_device(const Device& device, const std::optional<std::string>& path) {
  Reader reader(device);
  if (path && *path == none) return {};
  if (path) reader.add({*path}, true, true);
  reader.add_known();
  return std::move(reader.profiles);
}

Profiles Profiles::for_device(const Device& device, Profile profile, const std::string& source) {
  Reader reader(device);
  reader.add(source, std::make_shared<const Profile>(std::move(profile)), true);
  reader.add_known();
  return std::move(reader.profiles);
}

Profiles Profiles::of_file(const Device& device, const std::string& path) {
  Reader reader(device);
  if (path != none) reader.add({path}, true, true);
  return std::move(reader.profiles);
}

template <class Ask>
std::optional<Profiles::Answer> Profiles::first(const PlanQuery& query, Ask&& ask) const {
  std::optional<Answer> best;
  for (const Source& source : sources_) {
    if (best && best->source->rank != source.rank) break;
    const std::optional<ProfileMatch> match = ask(*source.profile);
    if (match && (!best || is_better(*match, best->match, query))) best = {*match, &source};
  }
  return best;
}

std::optional<Profiles::Answer> Profiles::ask(const PlanSubject& subject, const Device& device,
                                              Objective objective, const Plan& predicted) const {
  bool is_known = false, has_twin = false;
  for (const Source& source : sources_) {
    for (const ProfileRecord& record : source.profile->records) {
      if (!is_for(record, subject)) continue;
      is_known = true;
      has_twin = has_twin || has_shape(record.features, subject.pattern);
    }
  }
  if (!is_known) return {};
  const Device host = Device::cpu(device.threads());
  PlanQuery query{subject.entry, subject.precision, objective, "", {}, predicted};
  if (has_twin) {
    query.fingerprint = fingerprint(subject.pattern, host);
    const auto twin =
        first(query, [&](const Profile& profile) { return find_same_pattern(profile, query); });
    if (twin) return twin;
  }
  query.features = pattern_features(subject.pattern, host);
  return first(query, [&](const Profile& profile) { return find_similar(profile, query); });
}

PlanChoice Profiles::choose(const PlanSubject& subject, const Device& device,
                            Objective objective) const {
  PlanChoice choice;
  choice.plan = choose_plan(subject.pattern, subject.size(), device, StoredScalar::own, objective);
  choice.reason = "predicted";
  const auto answer = ask(subject, device, objective, choice.plan);
  if (!answer) return choice;
  const ProfileMatch& match = answer->match;
  const bool is_other = match.objective != objective;
  const std::string found = in_words(match) + " (profile " + answer->source->path +
                            (is_other ? ", for " + std::string(name(match.objective)) : "") + ")";
  if (match.kind == ProfileMatch::Kind::domain && match.use == DomainUse::predicted) {
    choice.reason = found;
    return choice;
  }
  // A loop that was measured with this very pattern needs no estimate of its memory.
  const bool was_run = match.kind == ProfileMatch::Kind::same_pattern && !is_other;
  const auto why_not = [&](const Plan& plan) {
    return why_it_cannot_run(plan, subject, was_run ? Objective::product() : objective, here_,
                             device.available_memory());
  };
  Plan plan = match.plan;
  if (is_other && match.objective.is_product()) {
    plan.loop = choice.plan.loop;  // a product says nothing about its loop
    const bool is_one_kernel = plan.loop.form == LoopForm::persistent;
    if (is_one_kernel && !why_not(plan).empty()) plan.loop.form = LoopForm::graph;
  }
  // Values other than the measured ones are rarely few, or units.
  if (match.kind != ProfileMatch::Kind::same_pattern && is_exact(plan.layout.stored)) {
    plan.layout.stored = StoredScalar::own;
  }
  const std::string why = why_not(plan);
  if (why.empty()) return {.plan = plan, .reason = found, .tuned = true, .warning = ""};
  choice.warning = "a plan is not used, " + found + ": " + why;
  return choice;
}

PlanChoice Profiles::choose(const PlanSubject& subject, std::span<const std::byte> values,
                            const Device& device, Objective objective) const {
  PlanChoice choice = choose(subject, device, objective);
  StoredScalar& stored = choice.plan.layout.stored;
  if (!is_exact(stored) || values.empty()) return choice;
  const auto check = [&]<class T>(const T* scalars) {
    const auto K = static_cast<int>(subject.entry_bytes / static_cast<int>(sizeof(T)));
    check_exact_copy(subject.pattern, K, scalars, stored, device.threads());
  };
  try {
    subject.precision == precision_names[0] ? check(reinterpret_cast<const float*>(values.data()))
                                            : check(reinterpret_cast<const double*>(values.data()));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_plan) throw;
    choice.warning = "an exact copy is not used, " + choice.reason + ": " + error.what();
    stored = StoredScalar::own;
  }
  return choice;
}

template <class Record, class IsWanted>
std::pair<const Record*, std::string> Profiles::nearest(std::vector<Record> Profile::* records,
                                                        const PlanSubject& subject,
                                                        const Device& device,
                                                        const IsWanted& is_wanted) const {
  constexpr double farthest = 0.5;
  const Device host = Device::cpu(device.threads());
  std::string digits;
  std::optional<PatternFeatures> features;
  double least = std::numeric_limits<double>::infinity();
  std::pair<const Record*, std::string> found = {nullptr, ""};
  for (const Source& source : sources_) {
    for (const Record& record : (*source.profile).*records) {
      if (record.entry != subject.entry || record.precision != subject.precision) continue;
      if (!is_wanted(record)) continue;
      if (has_shape(record.features, subject.pattern)) {
        if (digits.empty()) digits = fingerprint(subject.pattern, host);
        if (record.fingerprint == digits) {
          return {&record, "tuned for this pattern (profile " + source.path + ")"};
        }
      }
      if (!features) features = pattern_features(subject.pattern, host);
      const double away = distance(record.features, *features);
      if (!(away <= farthest && away < least)) continue;
      least = away;
      found = {&record, tuned_for(record.matrix, away) + " (profile " + source.path + ")"};
    }
  }
  return found;
}

NodeChoice Profiles::choose_node(const PlanSubject& subject, const Device& device, TreeUse use,
                                 std::optional<NodeSchedule> schedule) const {
  // Like records of plans: sizes of nodes depend on the size of the matrix.
  const auto [tree, reason] =
      nearest(&Profile::trees, subject, device, [](const TreeRecord&) { return true; });
  if (tree == nullptr) return {{}, "default", schedule.value_or(NodeSchedule::kept)};
  const NodeTrial& best = tree->best(use, schedule);
  return {best.nodes, reason, schedule.value_or(best.schedule)};
}

std::optional<MultigridSettings> Profiles::choose_multigrid(const PlanSubject& subject,
                                                            const Device& device,
                                                            std::string_view candidates) const {
  const auto [record, reason] =
      nearest(&Profile::multigrids, subject, device,
              [&](const MultigridRecord& of) { return of.candidates == candidates; });
  if (record == nullptr) return std::nullopt;
  return MultigridSettings{record->preconditioner, record->strength, reason};
}

std::string profile_folder() {
  const fs::path caches = user_cache_folder();
  return caches.empty() ? std::string() : (caches / "profiles").string();
}

std::vector<std::string> profiles_in_folders() {
  std::vector<std::string> files;
  for (const fs::path& folder : {fs::path(profile_folder()), shipped_profiles()}) {
    const std::shared_ptr<const Files> found = profiles_in(folder);
    for (const fs::path& file : *found) files.push_back(file.string());
  }
  return files;
}

}  // namespace heddle
