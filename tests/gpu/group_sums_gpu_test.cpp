// Partial sums of groups of rows, joined on a GPU in the order of the tree.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "distributed/communicators/group_sums_cuda.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"
#include "support/solve_on_ranks.hpp"

namespace heddle::test::group_sums_gpu {
namespace {

class GroupSumsOnGpu : public OnGpu {};

/// Includes more numbers than one block takes.
TEST_F(GroupSumsOnGpu, JoinInTheOrderOfTheTree) {
  Seed seed(185);
  for (const long long groups : {1LL, 77LL, 256LL, 300LL, 70'001LL}) {
    for (const int parts : {1, 2, 4}) {
      SCOPED_TRACE(std::to_string(groups) + " groups, parts " + std::to_string(parts));
      const int count = groups == 300 ? 19 : 3;
      const auto values =
          random_scalars<real<double>>(static_cast<Index>(groups) * parts * count, seed.generator);
      std::vector<Index> group_at(static_cast<std::size_t>(groups));
      std::iota(group_at.rbegin(), group_at.rend(), 0);
      long long width = 1;
      while (width < groups) width *= 2;
      const detail::GroupNode node{0, width};
      std::vector<double> expected(values.size() / static_cast<std::size_t>(parts));
      const auto at = [&](long long group, int v) -> double& {
        return expected[static_cast<std::size_t>(group * count + v)];
      };
      for (long long group = 0; group < groups; ++group) {
        for (int v = 0; v < count; ++v) {
          const auto part = [&](int p) {
            return values[static_cast<std::size_t>(((groups - 1 - group) * parts + p) * count + v)];
          };
          at(group, v) = parts == 1   ? part(0)
                         : parts == 2 ? part(0) + part(1)
                                      : (part(0) + part(1)) + (part(2) + part(3));
        }
      }
      detail::join_node(node, groups, [&](long long g, long long h) {
        for (int v = 0; v < count; ++v) at(g, v) += at(h, v);
      });
      cuda::GroupSums sums({node}, group_at, device);
      const Array<double> partials(std::span<const double>(values), device);
      Array<double> joined(static_cast<std::size_t>(count), device);
      for (int round = 0; round < 2; ++round) {
        sums.queue(partials.data(), parts, count, RowShare::Join::sum, joined.data(),
                   device.stream());
        EXPECT_EQ(joined.to_host(),
                  std::vector<double>(expected.begin(), expected.begin() + count));
      }
    }
  }
}

/// The sums of a large partition are joined by blocks of many groups each.
TEST_F(GroupSumsOnGpu, JoinManyGroups) {
  Seed seed(172);
  constexpr Index many = 2100 * 256 + 5;
  const auto x = random_scalars<real<double>>(many, seed.generator);
  std::vector<double> norms, largest;
  long double squared = 0;
  for (const double c : x) squared += static_cast<long double>(c) * c;
  for (const int count : {1, 2, 3}) {
    const Partition partition = Partition::even(many, count);
    run_on_ranks(count, [&](Communicator& ranks) {
      const long long first = partition.first_row(ranks.rank());
      const auto own = static_cast<std::size_t>(partition.rows_of(ranks.rank()));
      RankRows diagonal;
      for (std::size_t i = 0; i < own; ++i) {
        diagonal.columns.push_back(first + static_cast<long long>(i));
        diagonal.offsets.push_back(static_cast<Offset>(i) + 1);
      }
      const std::vector<real<double>> ones(own, real<double>{{1}});
      const auto A = distribute<real<double>>(ranks, partition, diagonal, ones, Plan{},
                                              ExchangeMode::task, this->device);
      const Device device = A->device();
      const Array<double> data(std::span(x.data() + first, own), device);
      const FieldView<const double> field(data.data(), static_cast<Index>(own));
      Reduction<double> reduction(A->rows(), device);
      const double norm_here =
          std::sqrt(real_dot<double>(field, field, reduction, device.stream()));
      const double largest_here = largest_magnitude<double>(field, reduction, device.stream());
      if (ranks.rank() != 0) return;
      norms.push_back(norm_here);
      largest.push_back(largest_here);
    });
  }
  EXPECT_NEAR(norms[0], std::sqrt(static_cast<double>(squared)), 1e-9);
  double most = 0;
  for (const double c : x) most = std::max(most, std::abs(c));
  for (const double found : largest) EXPECT_EQ(found, most);
  for (const double found : norms) EXPECT_EQ(found, norms[0]);
}

}  // namespace
}  // namespace heddle::test::group_sums_gpu
