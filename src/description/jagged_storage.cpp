#include "jagged_storage.hpp"

#include <algorithm>

namespace heddle::detail {

JaggedStorage jagged_storage(std::span<const LayoutMemory> layouts, const Features& features) {
  const auto use_under = [&](const char* plan) {
    const auto found = std::find_if(layouts.begin(), layouts.end(),
                                    [&](const LayoutMemory& of) { return of.plan == plan; });
    return found == layouts.end() ? nullptr : &found->use;
  };
  const MemoryUse *const jagged = use_under("pJDS"), *const ellpack = use_under("ELL");
  if (jagged == nullptr || ellpack == nullptr) return {};
  const auto of = [](long long part, long long whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  return {of(ellpack->product() - jagged->product(), ellpack->product()),
          of(jagged->slots - features.entries, features.entries), jagged->slices,
          features.longest_row * 4LL};
}

}  // namespace heddle::detail
