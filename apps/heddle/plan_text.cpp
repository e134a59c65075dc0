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

Plan plan_for(const std::string& text, const AnyMatrix& matrix, const Device& device) {
  const auto changes = changes_of(text);
  if (!text.empty() && text != chosen && !changes) return parse_plan(text);
  const auto suited = [&](StoredScalar stored) {
    return choose_plan(matrix.pattern(), matrix.entry_bytes(), device, stored);
  };
  if (!changes) return suited(StoredScalar::own);
  const StoredScalar stored = parse_plan(*changes, any_chosen(device)).stored;
  const bool in_double = matrix.precision() == Precision::double_precision;
  return parse_plan(*changes, suited(in_double ? stored : StoredScalar::own));
}

}  // namespace heddle::cli
