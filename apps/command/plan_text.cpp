#include "plan_text.hpp"

#include <optional>
#include <string_view>

#include "heddle/choose_plan.hpp"

namespace heddle::cli {

namespace {

constexpr std::string_view chosen = "chosen";
constexpr std::string_view full = "full";

/// The text after "WORD,".
std::optional<std::string> after(std::string_view word, const std::string& text) {
  if (!text.starts_with(std::string(word) + ",")) return {};
  return text.substr(word.size() + 1);
}

bool is_in_full(const std::string& text) { return text == full || after(full, text); }
std::string without_full(const std::string& text) {
  return text == full ? std::string(chosen) : after(full, text).value_or(text);
}

/// The part of a chosen plan that is the same for all matrices; its slices are divisible by every
/// T.
Plan any_chosen(const Device& device) {
  constexpr Index warp = 32;
  return device.on_gpu() ? Plan{.layout = {.lanes = warp}} : Plan{};
}

}  // namespace

void check_plan_text(const std::string& text, const Device& device) {
  const std::string plan = without_full(text);
  if (text.empty() || plan == chosen) return;
  if (const auto changes = after(chosen, plan)) {
    parse_plan(*changes, any_chosen(device));
  } else {
    parse_plan(plan);
  }
}

bool is_chosen(const std::string& text) {
  const std::string plan = without_full(text);
  return text.empty() || plan == chosen || after(chosen, plan);
}

PlanChoice choice_for(const std::string& text, const PlanSubject& matrix, const Device& device,
                      Objective objective, const Profiles& profiles) {
  PlanChoice choice;
  const std::string plan = without_full(text);
  if (!is_chosen(text)) {
    choice.plan = parse_plan(plan);
    choice.reason = "by --plan";
  } else {
    choice = profiles.choose(matrix, device, objective);
  }
  choice.in_full = is_in_full(text);
  const auto changes = after(chosen, plan);
  if (!changes) return choice;
  // A prediction considers layouts for narrower entries; a tuned plan is kept.
  const StoredScalar stored = parse_plan(*changes, any_chosen(device)).layout.stored;
  const bool is_double = parse_precision(matrix.precision) == Precision::double_precision;
  const bool in_words = stored != StoredScalar::own && stored != StoredScalar::single;
  if (!choice.tuned && stored != StoredScalar::own && (is_double || in_words)) {
    choice.plan = choose_plan(matrix.pattern, matrix.size(), device, stored, objective);
  }
  choice.plan = parse_plan(*changes, choice.plan);
  choice.reason += ", changed by --plan";
  return choice;
}

PlanChoice choice_without_copy(const std::string& text, const PlanSubject& matrix,
                               const Device& device, Objective objective,
                               const Profiles& profiles) {
  PlanChoice choice = choice_for(text, matrix, device, objective, profiles);
  choice.plan.layout.stored = StoredScalar::own;
  return choice;
}

Plan plan_for(const std::string& text, const AnyMatrix& matrix, const Device& device,
              Objective objective) {
  return choice_for(text, subject_of(matrix), device, objective, Profiles()).plan;
}

}  // namespace heddle::cli
