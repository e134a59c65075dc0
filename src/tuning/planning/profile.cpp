#include "heddle/tuning/profile.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <tuple>

#include "heddle/error.hpp"
#include "heddle/tools/output_file.hpp"
#include "heddle/version.hpp"
#include "io/file_lock.hpp"
#include "matrix/definitions/strict_json.hpp"
#include "spmv/kernel_compiler.hpp"

namespace heddle {

namespace {

bool replaces(const ProfileRecord& a, const ProfileRecord& b) {
  return a.fingerprint == b.fingerprint && a.entry == b.entry && a.precision == b.precision &&
         a.structure == b.structure && a.objective == b.objective;
}
bool replaces(const DomainRecord& a, const DomainRecord& b) {
  return a.domain == b.domain && a.entry == b.entry && a.precision == b.precision &&
         a.objective == b.objective;
}

bool replaces(const TreeRecord& a, const TreeRecord& b) {
  return a.fingerprint == b.fingerprint && a.entry == b.entry && a.precision == b.precision;
}

bool replaces(const MultigridRecord& a, const MultigridRecord& b) {
  return a.fingerprint == b.fingerprint && a.entry == b.entry && a.precision == b.precision &&
         a.candidates == b.candidates;
}

template <class T>
void take_over(std::vector<T>& records, const std::vector<T>& others) {
  for (const T& other : others) {
    const auto same = std::find_if(records.begin(), records.end(),
                                   [&](const T& record) { return replaces(other, record); });
    if (same == records.end()) {
      records.push_back(other);
    } else {
      *same = other;
    }
  }
}

bool is_for(const PlanQuery& query, const std::string& entry, const std::string& precision) {
  return entry == query.entry && precision == query.precision;
}

/// Loops, threads of a row and cached data depend on the size: beyond half a doubling a prediction
/// is better.
bool is_of_another_size(double away, const PlanQuery& query) {
  constexpr double half_a_doubling = 0.5;
  return query.predicted && away > half_a_doubling;
}

void keep_better(std::optional<ProfileMatch>& best, const ProfileMatch& match,
                 const PlanQuery& query) {
  if (!best || is_better(match, *best, query)) best = match;
}

constexpr std::array<std::string_view, 4> names_of_uses = {"predicted", "order", "storage", "plan"};

}  // namespace

std::string_view name(DomainUse use) { return names_of_uses[static_cast<std::size_t>(use)]; }

DomainUse parse_domain_use(std::string_view text) {
  const auto* const found = std::find(names_of_uses.begin(), names_of_uses.end(), text);
  if (found == names_of_uses.end()) {
    throw Error(ErrorKind::usage,
                "a domain's plan cannot have the use '" + std::string(text) + "'");
  }
  return static_cast<DomainUse>(found - names_of_uses.begin());
}

std::string plan_for_others(const Plan& plan, DomainUse use) {
  if (use == DomainUse::plan) return to_string(plan);
  const std::string all = to_full_string(plan);
  std::vector<std::string_view> keys;
  if (use != DomainUse::predicted) keys = {"order=", "columns="};
  if (use == DomainUse::storage) keys.insert(keys.end(), {"entry-layout=", "vector-layout="});
  std::string part;
  for (const std::string_view key : keys) {
    const std::size_t at = all.find(key);
    part += (part.empty() ? "" : ",") + all.substr(at, all.find(',', at) - at);
  }
  return part;
}

Plan plan_of_domain(const Plan& plan, DomainUse use, const Plan& predicted) {
  if (use == DomainUse::plan) return plan;
  const std::string part = plan_for_others(plan, use);
  return part.empty() ? predicted : parse_plan(part, predicted);
}

Profile Profile::of(const Device& device) {
  Profile profile;
  profile.device = properties_of(device);
  profile.ceilings = typical_ceilings(profile.device);
  profile.version = heddle::version;
  profile.kernels = cuda::embedded_headers_hash();
  return profile;
}

Profile Profile::load(const std::string& path) {
  return from_json(detail::text_of_file(path), path);
}

void Profile::save(const std::string& path) const {
  const std::string text = to_json();
  OutputFile file(path);
  file.write(text);
  file.commit();
}

void Profile::merge_into(const std::string& path) const {
  const std::string target = written_path(path);
  const io::FileLock alone(target);
  std::error_code ignored;
  if (!std::filesystem::exists(target, ignored)) return save(path);
  Profile merged = load(path);
  merged.merge(*this);
  merged.save(path);
}

void Profile::merge(const Profile& other) {
  if (const std::string why = why_another_class(other.device, device); !why.empty()) {
    throw Error(ErrorKind::bad_plan,
                "profiles of different devices cannot be merged: the other: " + why);
  }
  take_over(records, other.records);
  take_over(domains, other.domains);
  take_over(trees, other.trees);
  take_over(multigrids, other.multigrids);
  device = other.device;
  ceilings = other.ceilings;
  version = other.version;
  kernels = other.kernels;
}

bool is_better(const ProfileMatch& a, const ProfileMatch& b, const PlanQuery& query) {
  const auto rank = [&](const ProfileMatch& match) {
    return std::tuple(match.kind, match.objective != query.objective, match.distance);
  };
  return rank(a) < rank(b);
}

std::optional<ProfileMatch> find_same_pattern(const Profile& profile, const PlanQuery& query) {
  std::optional<ProfileMatch> best;
  if (query.fingerprint.empty()) return best;
  for (const ProfileRecord& record : profile.records) {
    if (!is_for(query, record.entry, record.precision)) continue;
    if (record.fingerprint != query.fingerprint) continue;
    keep_better(best,
                {ProfileMatch::Kind::same_pattern, record.plan, record.matrix, record.objective, 0},
                query);
  }
  return best;
}

std::optional<ProfileMatch> find_similar(const Profile& profile, const PlanQuery& query) {
  std::optional<ProfileMatch> best;
  for (const ProfileRecord& record : profile.records) {
    if (!is_for(query, record.entry, record.precision)) continue;
    const double away = distance(record.features, query.features);
    if (!(away <= farthest_record)) continue;
    if (!is_of_another_size(away, query)) {
      keep_better(best,
                  {ProfileMatch::Kind::nearest, record.plan, record.matrix, record.objective, away},
                  query);
    }
    for (const DomainRecord& domain : profile.domains) {
      if (!is_for(query, domain.entry, domain.precision)) continue;
      if (std::ranges::find(domain.fingerprints, record.fingerprint) == domain.fingerprints.end()) {
        continue;
      }
      if (!query.predicted && domain.use != DomainUse::plan) continue;
      ProfileMatch match{ProfileMatch::Kind::domain, domain.plan, domain.domain, domain.objective,
                         away};
      match.use = domain.use;
      if (query.predicted) match.plan = plan_of_domain(domain.plan, domain.use, *query.predicted);
      keep_better(best, match, query);
    }
  }
  return best;
}

std::optional<ProfileMatch> find(const Profile& profile, const PlanQuery& query) {
  const auto same = find_same_pattern(profile, query);
  return same ? same : find_similar(profile, query);
}

}  // namespace heddle
