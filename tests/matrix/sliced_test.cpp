// Sliced storage compared with a slow oracle written from its definition: the rows of a slice, the
// slot of an entry, and the padding.
#include "heddle/detail/sliced.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "most_of_one_thread.hpp"
#include "support/expect_error.hpp"
#include "support/random_matrix.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

std::size_t at(Offset i) { return static_cast<std::size_t>(i); }

struct Oracle {
  struct Slice {
    std::vector<Index> rows;  // in the user's numbering
    int threads = 1;
    Offset offset = 0;
    Index steps = 0;
  };
  Index C = 1;
  std::vector<Slice> slices;
  std::vector<Offset> slot_of_entry;
  std::vector<Index> column_of_slot;  // -1: padding
};

/// The user's rows in stored order: the row basis, sorted further if the product scatters.
std::vector<Index> stored_rows(const Pattern& pattern, const Plan& plan, const Basis& row_basis) {
  std::vector<Index> rows(at(pattern.rows));
  if (plan.layout.basis == BasisUse::permuted) {
    for (Index i = 0; i < pattern.rows; ++i) rows[at(i)] = row_basis.user_row(i);
    return rows;
  }
  std::iota(rows.begin(), rows.end(), 0);
  const Index window =
      plan.layout.sort_window == Layout::all_rows ? pattern.rows : plan.layout.sort_window;
  for (Index begin = 0; begin < pattern.rows; begin += std::min(window, pattern.rows)) {
    const Index end = std::min<Offset>(pattern.rows, Offset(begin) + window);
    std::stable_sort(rows.begin() + begin, rows.begin() + end,
                     [&](Index a, Index b) { return pattern.length(a) > pattern.length(b); });
  }
  return rows;
}

Oracle oracle(const Pattern& pattern, const Plan& plan, const Basis& row_basis,
              const Basis& column_basis) {
  Oracle result;
  result.C =
      plan.layout.lanes == Layout::all_rows ? std::max<Index>(1, pattern.rows) : plan.layout.lanes;
  const std::vector<Index> rows = stored_rows(pattern, plan, row_basis);
  // Cuts rows into slices. K2: the rows of a slice of T = 1 stay together while T doubles.
  const auto cut = [&](std::size_t begin, std::size_t end, int threads) {
    for (std::size_t row = begin; row < end; ++row) {
      if ((row - begin) % at(result.C / threads) == 0) result.slices.push_back({{}, threads, 0, 0});
      result.slices.back().rows.push_back(rows[row]);
    }
  };
  if (plan.layout.threshold == 0) {
    cut(0, rows.size(), plan.layout.threads_per_row);
  } else {
    for (std::size_t begin = 0; begin < rows.size(); begin += at(result.C)) {
      const std::size_t end = std::min(rows.size(), begin + at(result.C));
      int threads = 1;
      const auto overfull = [&] {
        return std::any_of(rows.begin() + Offset(begin), rows.begin() + Offset(end), [&](Index r) {
          return most_of_one_thread(pattern.length(r), threads) > plan.layout.threshold;
        });
      };
      while (overfull() && result.C % (2 * threads) == 0) threads *= 2;
      cut(begin, end, threads);
    }
  }
  // Assigns the slots of a slice, column by column.
  result.slot_of_entry.assign(at(pattern.entries()), -1);
  Offset offset = 0;
  for (Oracle::Slice& slice : result.slices) {
    slice.offset = offset;
    for (Index row : slice.rows) {
      slice.steps = std::max(slice.steps, most_of_one_thread(pattern.length(row), slice.threads));
    }
    offset += Offset(slice.steps) * result.C;
    result.column_of_slot.resize(at(offset), -1);
    for (std::size_t r = 0; r < slice.rows.size(); ++r) {
      std::vector<std::pair<Index, Offset>> entries;
      for (Offset i = pattern.offsets[at(slice.rows[r])];
           i < pattern.offsets[at(slice.rows[r]) + 1]; ++i) {
        entries.emplace_back(column_basis.position(pattern.column[at(i)]), i);
      }
      if (plan.layout.columns == ColumnOrder::sorted) std::sort(entries.begin(), entries.end());
      for (std::size_t j = 0; j < entries.size(); ++j) {
        // Lanes of the row take entries j, j + T, ...
        const auto thread = j % at(slice.threads), step = j / at(slice.threads);
        const Offset lane = Offset(r) * slice.threads + Offset(thread);
        const Offset slot = slice.offset + Offset(step) * result.C + lane;
        result.slot_of_entry[at(entries[j].second)] = slot;
        result.column_of_slot[at(slot)] = entries[j].first;
      }
    }
  }
  return result;
}

void expect_as_oracle(const SlicedPattern& sliced, const Pattern& pattern, const Plan& plan) {
  const Oracle expected = oracle(pattern, plan, *sliced.row_basis, *sliced.column_basis);
  EXPECT_EQ(sliced.rows, pattern.rows);
  EXPECT_EQ(sliced.columns, pattern.columns);
  EXPECT_EQ(sliced.entries, pattern.entries());
  EXPECT_EQ(sliced.slots, Offset(expected.column_of_slot.size()));
  EXPECT_EQ(sliced.C, expected.C);
  ASSERT_EQ(sliced.slices(), Index(expected.slices.size()));
  ASSERT_GE(sliced.column.size(), at(sliced.slots) + at(SlicedPattern::column_slack));
  EXPECT_EQ(sliced.row_length.empty(), sliced.C == 1 || pattern.rows == 0);

  Index stored = 0;
  for (Index s = 0; s < sliced.slices(); ++s) {
    const Oracle::Slice& slice = expected.slices[at(s)];
    ASSERT_EQ(sliced.offset[at(s)], slice.offset) << "slice " << s;
    ASSERT_EQ(sliced.threads_of(s), slice.threads) << "slice " << s;
    ASSERT_EQ(sliced.first_row_of(s), stored) << "slice " << s;
    for (Index user : slice.rows) {
      EXPECT_EQ(sliced.slice_of(stored), s) << "stored row " << stored;
      if (sliced.C != 1) {
        EXPECT_EQ(sliced.row_length[at(stored)], pattern.length(user)) << "stored row " << stored;
      }
      const Index target = sliced.target.empty() ? stored : sliced.target[at(stored)];
      EXPECT_EQ(target, sliced.row_basis->position(user)) << "stored row " << stored;
      ++stored;
    }
  }
  EXPECT_EQ(sliced.offset[at(sliced.slices())], sliced.slots);
  EXPECT_EQ(stored, pattern.rows);

  std::set<Offset> taken;
  const Array<Offset> slots = slots_of_entries(sliced);
  for (Offset i = 0; i < pattern.entries(); ++i) {
    const Offset slot = slots[at(i)];
    EXPECT_EQ(sliced.entry_of_slot[slot], i);
    ASSERT_EQ(slot, expected.slot_of_entry[at(i)]) << "entry " << i;
    taken.insert(slot);
  }
  EXPECT_EQ(Offset(taken.size()), pattern.entries());
  for (Offset slot = 0; slot < sliced.slots; ++slot) {
    const Index column = expected.column_of_slot[at(slot)];
    EXPECT_EQ(sliced.column[at(slot)], column < 0 ? 0 : column) << "slot " << slot;
    EXPECT_EQ(sliced.entry_of_slot[slot] == EntryMap::padding, column < 0) << "slot " << slot;
  }
}

std::shared_ptr<const SlicedPattern> build(const Pattern& pattern, const Plan& plan,
                                           const Device& device) {
  const auto rows = Basis::make(pattern.view(), plan, device);
  const auto columns = pattern.rows == pattern.columns ? rows : Basis::natural(pattern.columns);
  return SlicedPattern::build(pattern.view(), plan, rows, columns, 8, device);
}

std::vector<Plan> sliced_plans() {
  std::vector<Plan> plans;
  for (const char* text :
       {"CSR", "ELL", "Sl-16", "Sl-32", "pJDS", "K1", "K1r", "K1rs", "K2", "K2r", "K2rs"}) {
    plans.push_back(parse_plan(text));
  }
  for (const char* shape : {"C=1,sigma=7",
                            "C=1,sigma=n,columns=given",
                            "C=1,columns=given",
                            "C=2,sigma=1",
                            "C=3,sigma=7",
                            "C=n,sigma=n",
                            "C=64,sigma=1000000",
                            "C=8,T=1,sigma=n",
                            "C=8,T=2,sigma=7",
                            "C=32,T=8",
                            "C=6,T=3,sigma=4",
                            "C=4,T=4",
                            "C=64,T=64,sigma=n",
                            "C=8,threshold=1",
                            "C=32,threshold=3,sigma=n",
                            "C=12,threshold=2,sigma=5",
                            "C=7,threshold=2",
                            "C=1,threshold=2",
                            "C=64,threshold=100000",
                            "order=rcm,C=8,sigma=16",
                            "order=rcm"}) {
    plans.push_back(parse_plan(shape));
    plans.push_back(parse_plan(std::string(shape) + ",use=scatter"));
  }
  return plans;
}

TEST(SlicedPattern, IsWhatItsDefinitionSays) {
  Seed seed(301);
  for (const PatternRequest& request : odd_patterns()) {
    const Pattern pattern = random_pattern(request, seed.generator);
    for (const Plan& plan : sliced_plans()) {
      const Layout& layout = plan.layout;
      if (layout.basis == BasisUse::user && layout.order != RowOrder::natural) continue;  // below
      SCOPED_TRACE(std::string(request.name) + ", " + to_string(plan));
      expect_as_oracle(*build(pattern, plan, Device::cpu(1)), pattern, plan);
      expect_as_oracle(*build(pattern, plan, Device::cpu(3)), pattern, plan);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(SlicedPattern, IsTheSameWhenATeamBuildsIt) {
  Seed seed(306);
  const Pattern pattern = random_pattern(
      {.rows = 4001, .columns = 4001, .per_row = 6, .dense_row = true, .sorted = false},
      seed.generator);
  for (const char* layout : {"CSR", "K1", "K2rs", "C=8,T=2,sigma=64", "C=3"}) {
    const Plan plan = parse_plan(layout);
    SCOPED_TRACE(layout);
    expect_as_oracle(*build(pattern, plan, Device::cpu(3)), pattern, plan);
  }
}

TEST(SlicedPattern, RectangularOnesScatterOrStayUnsorted) {
  Seed seed(302);
  for (const PatternRequest& request : odd_rectangular_patterns()) {
    const Pattern pattern = random_pattern(request, seed.generator);
    for (const Plan& plan : sliced_plans()) {
      if (plan.layout.order != RowOrder::natural) continue;
      if (plan.layout.basis == BasisUse::permuted && plan.layout.sort_window != 1) continue;
      SCOPED_TRACE(std::string(request.name) + ", " + to_string(plan));
      expect_as_oracle(*build(pattern, plan, Device::cpu(2)), pattern, plan);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(SlicedPattern, LivesInGivenBases) {
  Seed seed(303);
  const auto shuffled = [&](Index n) {
    Array<Index> order(at(n));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), seed.generator);
    return Basis::from_order(std::move(order), Device::cpu());
  };
  const Pattern pattern = random_pattern(
      {.rows = 61, .columns = 94, .empty_rows = true, .sorted = false}, seed.generator);
  const auto rows = shuffled(61), columns = shuffled(94);
  for (const Plan& plan : sliced_plans()) {
    if (plan.layout.order != RowOrder::natural) continue;
    SCOPED_TRACE(to_string(plan));
    for (const auto& [of_rows, of_columns] :
         {std::pair(rows, columns), std::pair(Basis::natural(61), columns),
          std::pair(rows, Basis::natural(94))}) {
      expect_as_oracle(
          *SlicedPattern::build(pattern.view(), plan, of_rows, of_columns, 8, Device::cpu(2)),
          pattern, plan);
    }
  }
  expect_error(ErrorKind::size_mismatch, "a matrix of 61 x 94 does not fit bases of 61 and 61",
               [&] { SlicedPattern::build(pattern.view(), {}, rows, rows, 8, Device::cpu()); });
  expect_error(
      ErrorKind::size_mismatch, "a matrix of 61 x 94 does not fit bases of 94 and 94",
      [&] { SlicedPattern::build(pattern.view(), {}, columns, columns, 8, Device::cpu()); });
}

TEST(SlicedPattern, OneLaneIsCompressedRows) {
  Seed seed(304);
  const Pattern pattern =
      random_pattern({.rows = 77, .columns = 77, .empty_rows = true}, seed.generator);
  const auto csr = build(pattern, parse_plan("CSR"), Device::cpu());
  EXPECT_EQ(csr->slots, pattern.entries());
  EXPECT_TRUE(csr->entry_of_slot.is_identity());
  EXPECT_TRUE(csr->row_length.empty());
  EXPECT_TRUE(std::equal(csr->offset.begin(), csr->offset.end(), pattern.offsets.begin(),
                         pattern.offsets.end()));
  EXPECT_TRUE(std::equal(pattern.column.begin(), pattern.column.end(), csr->column.begin()));
  // Columns that must be sorted need a map; columns in the given order do not.
  const Pattern unsorted =
      random_pattern({.rows = 77, .columns = 77, .per_row = 9, .sorted = false}, seed.generator);
  EXPECT_FALSE(build(unsorted, parse_plan("CSR"), Device::cpu())->entry_of_slot.is_identity());
  EXPECT_TRUE(
      build(unsorted, parse_plan("columns=given"), Device::cpu())->entry_of_slot.is_identity());
}

TEST(SlicedPattern, AllLanesAreEllpack) {
  Seed seed(305);
  const Pattern pattern =
      random_pattern({.rows = 53, .columns = 53, .dense_row = true}, seed.generator);
  const auto ell = build(pattern, parse_plan("ELL"), Device::cpu());
  EXPECT_EQ(ell->slices(), 1);
  EXPECT_EQ(ell->slots, Offset(53) * 53);
  const Array<Offset> slots = slots_of_entries(*ell);
  for (Index row = 0; row < pattern.rows; ++row) {
    for (Index j = 0; j < pattern.length(row); ++j) {
      EXPECT_EQ(slots[at(pattern.offsets[at(row)] + j)], Offset(j) * 53 + row);
    }
  }
}

TEST(SlicedPattern, ALongRowAmongShortOnesGetsAWarp) {
  // A row of 250 among rows of 5.
  Pattern pattern{64, 300, {0}, {}};
  for (Index row = 0; row < 64; ++row) {
    const Index length = row == 40 ? 250 : 5;
    for (Index j = 0; j < length; ++j) pattern.column.push_back(j);
    pattern.offsets.push_back(Offset(pattern.column.size()));
  }
  const auto sliced = build(pattern, parse_plan("C=32,threshold=8"), Device::cpu());
  // Rows 0 to 31 share one slice; each of the others has 32 lanes of its own.
  ASSERT_EQ(sliced->slices(), 1 + 32);
  EXPECT_EQ(sliced->threads_of(0), 1);
  EXPECT_EQ(sliced->offset[1], 5 * 32);
  for (Index s = 1; s < sliced->slices(); ++s) {
    EXPECT_EQ(sliced->threads_of(s), 32);
    EXPECT_EQ(sliced->offset[at(s) + 1] - sliced->offset[at(s)], s == 9 ? 8 * 32 : 32);
  }
}

TEST(SlicedPattern, ThreadsDoubleOnlyAsFarAsTheyMust) {
  for (const auto& [length, threshold, threads] :
       {std::tuple(16, 16, 1), std::tuple(17, 16, 2), std::tuple(32, 16, 2), std::tuple(33, 16, 4),
        std::tuple(5000, 16, 16), std::tuple(3, 1, 4), std::tuple(1, 1, 1), std::tuple(0, 1, 1)}) {
    Pattern pattern{1, 5000, {0, length}, std::vector<Index>(at(length))};
    std::iota(pattern.column.begin(), pattern.column.end(), 0);
    Plan plan{.layout = {.lanes = 16, .threshold = threshold}};
    EXPECT_EQ(build(pattern, plan, Device::cpu())->threads_of(0), threads)
        << length << " entries, threshold " << threshold;
  }
}

TEST(EntryMap, HoldsEntriesOf32And64Bits) {
  constexpr Offset bound = (Offset(1) << 32) - 1;
  EXPECT_TRUE(EntryMap().is_identity());
  EXPECT_EQ(EntryMap()[bound + 5], bound + 5);
  for (Offset entries : {Offset(9), bound, bound + 1, bound * 1000}) {
    EntryMap map(entries, 3, Device::cpu());
    EXPECT_FALSE(map.is_identity());
    for (const Offset slot : {0, 1, 2}) EXPECT_EQ(map[slot], EntryMap::padding);
    map.set(0, entries - 1);
    map.set(2, 4);
    EXPECT_EQ(map[0], entries - 1);
    EXPECT_EQ(map[1], EntryMap::padding);
    EXPECT_EQ(map[2], 4);
    EXPECT_EQ(EntryMap::bytes(entries, 3), entries <= bound ? 12 : 24);
  }
}

TEST(SlotFormula, PutsEveryComponentOnAPlaceOfItsOwn) {
  constexpr Index C = 6;
  constexpr Offset slots = 4 * C;
  constexpr int K = 5;
  const auto expect = [&](InnerLayout inner, int scalar_bytes, auto&& place) {
    const auto formula = slot_formula<K>(inner, C, slots, scalar_bytes);
    std::set<Offset> taken;
    for (Offset slot = 0; slot < slots; ++slot) {
      for (int k = 0; k < K; ++k) {
        const Offset index = formula(slot - slot % C, int(slot % C), k);
        EXPECT_EQ(index, place(slot, k)) << "slot " << slot << ", component " << k;
        taken.insert(index);
      }
    }
    EXPECT_EQ(Offset(taken.size()), slots * K);
    EXPECT_EQ(*taken.rbegin(), slots * K - 1);
  };
  expect(InnerLayout::aos, 8, [&](Offset slot, int k) { return slot * K + k; });
  expect(InnerLayout::soa, 8, [&](Offset slot, int k) { return k * slots + slot; });
  // A step of the slice holds its K pieces of C lanes, one after another.
  expect(InnerLayout::aosoa_component, 8,
         [&](Offset slot, int k) { return slot / C * C * K + k * C + slot % C; });
  // Two doubles per piece, and the fifth alone; four floats, and the fifth alone.
  const auto pieces = [&](int piece) {
    return [=](Offset slot, int k) {
      const int q = k / piece, width = std::min(piece, K - q * piece);
      return slot / C * C * K + Offset(q) * piece * C + slot % C * width + k % piece;
    };
  };
  expect(InnerLayout::aosoa_16, 8, pieces(2));
  expect(InnerLayout::aosoa_16, 4, pieces(4));
  expect(InnerLayout::aosoa_16, 16, pieces(1));
}

}  // namespace
