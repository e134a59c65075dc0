// Runs in both builds.
// 16-bit columns: the same bits as with 32-bit columns, in slices that have room for them and in
// slices that do not.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heddle/operator.hpp"
#include "support/systems/two_kinds_of_rows.hpp"
#include "support/where_it_runs.hpp"

namespace short_columns {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
void expect_same_bits(Index rows, Index far, const std::string& text, Generator& generator) {
  SCOPED_TRACE(std::to_string(rows) + " rows, each " + std::to_string(far) + "th far, " + text);
  const CsrMatrix<E> matrix =
      random_matrix_of<E>(pattern_of_two_kinds(rows, far, generator), generator);
  const Device device = Device::cpu(2);
  const Plan wide = parse_plan(text), narrow = parse_plan(text + ",column-bits=16");
  const Operator<E> with_wide(matrix, wide, device), with_narrow(matrix, narrow, device);
  using S = vector_scalar_t<E>;
  const Field<E> x = random_field<E>(columns_of_two_kinds, generator);
  const auto product = [&](const Operator<E>& A) {
    Field<E> to(rows, device, A.plan().layout.vector);
    A.apply(S(1), x.view(), S(0), to.view(), device.stream());
    return to.scalars().to_host();
  };
  EXPECT_EQ(product(with_narrow), product(with_wide));
  const SlicedPattern& A = with_narrow.pattern();
  EXPECT_EQ(A.short_column.size(), static_cast<std::size_t>(A.slots));
  EXPECT_TRUE(with_wide.pattern().short_column.empty());
  // Check each column again from its 16 bits.
  Offset fitting = 0;
  for (Index slice = 0; slice < A.slices(); ++slice) {
    const auto s = static_cast<std::size_t>(slice);
    const Index base = A.column_base[s];
    if (base < 0) continue;
    fitting += A.offset[s + 1] - A.offset[s];
    for (Offset slot = A.offset[s]; slot < A.offset[s + 1]; ++slot) {
      const auto i = static_cast<std::size_t>(slot);
      if (!A.entry_of_slot.is_identity() && A.entry_of_slot[slot] == EntryMap::padding) continue;
      ASSERT_EQ(base + A.short_column[i], A.column[i]);
    }
  }
  const MemoryUse predicted =
      memory_use(matrix.view().pattern(), narrow, Operator<E>::entry_bytes(narrow), device);
  EXPECT_EQ(predicted.short_slots, A.C <= 64 ? fitting : 0);  // wider slices are read in 32 bits
  EXPECT_EQ(with_narrow.memory().short_slots, predicted.short_slots);
  EXPECT_EQ(with_narrow.memory().total(), predicted.total());
  EXPECT_EQ(with_narrow.memory().product(), predicted.product());
  EXPECT_EQ(predicted.total() - with_wide.memory().total(), 2 * A.slots + 4LL * A.slices());
}

TEST(ShortColumns, HaveTheBitsOfWideOnes) {
  HEDDLE_RELEASE_ONLY();
  Seed seed(2301);
  for (const Index rows : {1, 37, 601}) {
    for (const Index far : {1, 3, 40, 1000}) {
      for (const char* text :
           {"CSR", "C=8,entry-layout=soa", "C=7", "C=4,threads-per-row=2",
            "C=16,entry-layout=aosoa", "C=n", "CSR,prefetch-x=0,prefetch-matrix=0",
            "C=8,threshold=2", "C=4,sigma=64,basis=user,entry-layout=aosoa16"}) {
        expect_same_bits<real<double>>(rows, far, text, seed.generator);
      }
      expect_same_bits<quaternion<double>>(rows, far, "C=4,entry-layout=aosoa16", seed.generator);
    }
  }
}

/// In 300 rows of 300 entries, the first 256 have too many to write out.
TEST(ShortColumns, CountWhatAProductReads) {
  constexpr Index n = 300;
  Pattern dense{.rows = n, .columns = n, .offsets = {0}, .column = {}};
  for (Index row = 0; row < n; ++row) {
    for (Index column = 0; column < n; ++column) dense.column.push_back(column);
    dense.offsets.push_back(static_cast<Offset>(dense.column.size()));
  }
  Seed seed(2303);
  const auto matrix = random_matrix_of<real<double>>(dense, seed.generator);
  const Plan plan = parse_plan("CSR,column-bits=16");
  const Operator<real<double>> A(matrix, plan);
  const MemoryUse predicted =
      memory_use(dense.view(), plan, Operator<real<double>>::entry_bytes(plan), Device::cpu());
  EXPECT_EQ(A.memory().short_slots, Offset{n - 256} * n);
  EXPECT_EQ(predicted.short_slots, Offset{n - 256} * n);
}

}  // namespace
}  // namespace short_columns
