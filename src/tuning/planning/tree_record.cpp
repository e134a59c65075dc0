#include "heddle/tuning/tree_record.hpp"

#include <algorithm>

namespace heddle {

double NodeTrial::seconds(TreeUse use) const {
  const double of_adjoint = adjoint_product ? adjoint_product->median : product.median;
  switch (use) {
    case TreeUse::product:
      return product.median;
    case TreeUse::adjoint_product:
      return of_adjoint;
    case TreeUse::both:
      return product.median + of_adjoint;
  }
  return product.median;
}

const NodeTrial& TreeRecord::best(TreeUse use) const {
  constexpr double clearly = 0.99;
  const auto fastest = std::ranges::min_element(
      sizes, {}, [&](const NodeTrial& trial) { return trial.seconds(use); });
  const auto usual = std::ranges::find(sizes, NodeLayout(), &NodeTrial::nodes);
  const bool is_faster =
      usual == sizes.end() || fastest->seconds(use) < clearly * usual->seconds(use);
  return is_faster ? *fastest : *usual;
}

}  // namespace heddle
