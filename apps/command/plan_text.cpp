#include "plan_text.hpp"

#include <optional>
#include <string_view>

#include "heddle/choose_plan.hpp"

namespace heddle::cli {

namespace {

constexpr std::string_view chosen = "chosen";

/// What follows "chosen,".
std::optional<std::string> changes_of(const std::string& text) {
  if (!text.starts_with(std::string(chosen) + ",")) return {};
  return text.substr(chosen.size() + 1);
}

/// As far as it is the same for all matrices; slices that every T divides.
Plan any_chosen(const Device& device) {
  constexpr Index warp = 32;
  return device.on_gpu() ? Plan{.lanes = warp} : Plan{};
}

}  // namespace

void check_plan_text(const std::string& text, const Device& device) {
  if (text.empty() || text == chosen) return;
  if (const auto changes = changes_of(text)) {
    parse_plan(*changes, any_chosen(device));
  } else {
    parse_plan(text);
  }
}

bool is_chosen(const std::string& text) {
  return text.empty() || text == chosen || changes_of(text);
}

PlanChoice choice_for(const std::string& text, const PlanSubject& matrix, const Device& device,
                      Objective objective, const Profiles& profiles) {
  if (!is_chosen(text)) return {.plan = parse_plan(text), .reason = "by --plan", .warning = ""};
  PlanChoice choice = profiles.choose(matrix, device, objective);
  const auto changes = changes_of(text);
  if (!changes) return choice;
  // A prediction knows layouts for entries in floats; what was tuned is kept.
  const StoredScalar stored = parse_plan(*changes, any_chosen(device)).stored;
  if (!choice.tuned && stored == StoredScalar::single &&
      parse_precision(matrix.precision) == Precision::double_precision) {
    choice.plan = choose_plan(matrix.pattern, matrix.size(), device, stored, objective);
  }
  choice.plan = parse_plan(*changes, choice.plan);
  choice.reason += ", changed by --plan";
  return choice;
}

Plan plan_for(const std::string& text, const AnyMatrix& matrix, const Device& device,
              Objective objective) {
  return choice_for(text, subject_of(matrix), device, objective, Profiles()).plan;
}

}  // namespace heddle::cli
