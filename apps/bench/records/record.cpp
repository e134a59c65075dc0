#include "record.hpp"

#include <algorithm>

namespace heddle::bench {

std::string_view name(Role role) {
  switch (role) {
    case Role::natural:
      return "natural";
    case Role::chosen:
      return "chosen";
    case Role::best:
      return "best";
    case Role::tried:
      return "tried";
    case Role::peer:
      return "peer";
  }
  return "";
}

bool is_right(const Record& record, const Candidate& candidate) {
  if (candidate.failure) return false;
  if (candidate.status && *candidate.status != "converged") return false;
  const double most = record.precision == "single" ? max_error_single : max_error_double;
  return !candidate.error || *candidate.error <= most;
}

const Candidate* Record::best_peer() const {
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates) {
    if (candidate.role != Role::peer || !candidate.seconds || !is_right(*this, candidate)) continue;
    if (!best || candidate.seconds->median < best->seconds->median) best = &candidate;
  }
  return best;
}

const Candidate* Record::find(Role role) const {
  const auto found =
      std::find_if(candidates.begin(), candidates.end(),
                   [&](const Candidate& candidate) { return candidate.role == role; });
  return found == candidates.end() ? nullptr : &*found;
}

std::optional<double> Record::speedup(Role role) const {
  const Candidate* candidate = find(role);
  const Candidate* peer = best_peer();
  if (!candidate || !peer || !candidate->seconds || !is_right(*this, *candidate)) return {};
  if (!(candidate->seconds->median > 0)) return {};
  return peer->seconds->median / candidate->seconds->median;
}

std::string described(const Run& run) {
  return run.version + ", commit " + run.commit + (run.quick ? ", a quick run" : "") +
         (run.interrupted ? ", interrupted" : "");
}

}  // namespace heddle::bench
