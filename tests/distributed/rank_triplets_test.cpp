// Matrices assembled over ranks, compared with those of one process, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "heddle/rank_triplets.hpp"
#include "support/on_ranks.hpp"
#include "support/random_matrix.hpp"

namespace heddle::test::rank_triplets {
namespace {

using E = quaternion<double>;

/// Few columns per row, so that many triplets share a place.
std::vector<RankTriplet<E>> random_triplets(Index rows, int count, Generator& generator) {
  std::vector<RankTriplet<E>> triplets;
  for (int k = 0; k < count; ++k) {
    const int row = random_between(0, rows - 1, generator);
    triplets.push_back({row, (row + 97 * random_between(0, 3, generator)) % rows,
                        random_components<E>(generator)});
  }
  return triplets;
}

CsrMatrix<E> of_one_process(Index rows, const std::vector<RankTriplet<E>>& triplets) {
  std::vector<Triplet<E>> all;
  for (const RankTriplet<E>& triplet : triplets) {
    all.push_back(
        {static_cast<Index>(triplet.row), static_cast<Index>(triplet.column), triplet.value});
  }
  return assemble<E>(rows, rows, std::span<const Triplet<E>>(all)).matrix;
}

void expect_rows_of(const CsrMatrix<E>& matrix, const Partition& partition, int rank,
                    const RankAssembly<E>& assembly) {
  const RankRows& rows = assembly.rows();
  ASSERT_EQ(static_cast<long long>(rows.offsets.size()), partition.rows_of(rank) + 1);
  std::size_t at = 0;
  for (long long own = 0; own < partition.rows_of(rank); ++own) {
    const long long row = partition.row(partition.first_row(rank) + own);
    for (Offset k = matrix.offsets()[row]; k < matrix.offsets()[row + 1]; ++k, ++at) {
      ASSERT_LT(at, rows.columns.size());
      EXPECT_EQ(rows.columns[at], matrix.column()[k]);
      for (int c = 0; c < 4; ++c) {
        EXPECT_EQ(assembly.values()[at].component[c], matrix.entry(k).component[c]);
      }
    }
    EXPECT_EQ(rows.offsets[static_cast<std::size_t>(own) + 1], static_cast<Offset>(at));
  }
  // No rows of other ranks remain.
  EXPECT_EQ(rows.columns.size(), at);
  EXPECT_EQ(assembly.values().size(), at);
}

TEST(RankTriplets, AddUpAsInOneProcess) {
  Seed seed(120);
  for (const int count : {1, 2, 3, 8}) {
    const Index rows = random_between(1, 1500, seed.generator);
    std::vector<RankTriplet<E>> triplets = random_triplets(rows, 4000, seed.generator);
    const CsrMatrix<E> matrix = of_one_process(rows, triplets);
    // Contiguous parts of the list, some of them empty.
    std::vector<std::size_t> ends{0};
    for (int r = 1; r < count; ++r) {
      ends.push_back(static_cast<std::size_t>(random_between(0, 4000, seed.generator)));
    }
    std::sort(ends.begin(), ends.end());
    ends.push_back(4000);
    const auto part = [&](int rank) {
      const auto r = static_cast<std::size_t>(rank);
      return std::span<const RankTriplet<E>>(triplets).subspan(ends[r], ends[r + 1] - ends[r]);
    };
    std::vector<RankTriplet<E>> others = triplets;
    for (RankTriplet<E>& triplet : others) triplet.value = random_components<E>(seed.generator);
    const CsrMatrix<E> changed = of_one_process(rows, others);
    for (const Partition& partition : {random_partition(rows, count, seed.generator),
                                       random_owners(rows, count, seed.generator)}) {
      run_on_ranks(count, [&](Communicator& ranks) {
        const auto r = static_cast<std::size_t>(ranks.rank());
        RankAssembly<E> assembly(ranks, partition, part(ranks.rank()));
        expect_rows_of(matrix, partition, ranks.rank(), assembly);
        assembly.update_values(
            std::span<const RankTriplet<E>>(others).subspan(ends[r], ends[r + 1] - ends[r]));
        expect_rows_of(changed, partition, ranks.rank(), assembly);
        const auto A = distribute<E>(ranks, partition, assembly.rows(), assembly.values());
        EXPECT_EQ(A->rows(), partition.rows_of(ranks.rank()));
      });
    }
  }
}

TEST(RankTriplets, OneBadPlaceEndsAllRanks) {
  for (const RankTriplet<E>& bad :
       {RankTriplet<E>{-1, 0, {}}, RankTriplet<E>{0, 600, {}}, RankTriplet<E>{1LL << 40, 0, {}}}) {
    int refused = 0;
    run_on_ranks(3, [&](Communicator& ranks) {
      std::vector<RankTriplet<E>> mine{{0, 0, {}}};
      if (ranks.rank() == 2) mine.push_back(bad);
      try {
        RankAssembly<E>(ranks, Partition::even(600, 3), std::span<const RankTriplet<E>>(mine));
        ADD_FAILURE();
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::out_of_range);
        if (ranks.rank() == 0) {
          EXPECT_EQ(std::string(error.what()).find("rank 2 has a triplet at ("), 0u)
              << error.what();
          ++refused;
        }
      }
    });
    EXPECT_EQ(refused, 1);
  }
}

TEST(RankTriplets, NewValuesAreOfTheSameTriplets) {
  run_on_ranks(2, [&](Communicator& ranks) {
    const std::vector<RankTriplet<E>> mine{{ranks.rank(), 0, {}}, {300, 1, {}}};
    RankAssembly<E> assembly(ranks, Partition::even(512, 2), std::span(mine));
    EXPECT_THROW(assembly.update_values(std::span(mine).first(ranks.rank() == 1 ? 1 : 2)), Error);
  });
}

}  // namespace
}  // namespace heddle::test::rank_triplets
