// Sliced storage built by a GPU, compared with the CPU's: every array bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "heddle/operator.hpp"
#include "sliced_pattern.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

namespace sliced_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

using SlicedOnGpu = OnGpu;
using CheckOnGpu = SlicedOnGpu;

/// A pattern's arrays with offsets of type T, in the memory of a device.
template <class T>
struct Arrays {
  Arrays(const Pattern& pattern, const Device& device)
      : rows(pattern.rows), columns(pattern.columns) {
    const std::vector<T> narrowed(pattern.offsets.begin(), pattern.offsets.end());
    offsets = Array<T>(std::span<const T>(narrowed), device);
    column = Array<Index>(std::span<const Index>(pattern.column), device);
  }
  PatternView view() const { return {rows, columns, OffsetsView(offsets.data()), column.data()}; }

  Index rows, columns;
  Array<T> offsets;
  Array<Index> column;
};

std::vector<Offset> entries_of_slots(const SlicedPattern& pattern) {
  const EntryMap& map = pattern.entry_of_slot;
  const Stream stream = pattern.offset.device().stream();
  std::vector<Offset> entries(at(pattern.slots));
  std::iota(entries.begin(), entries.end(), Offset(0));
  if (map.narrow() != nullptr) {
    std::vector<unsigned> narrow(entries.size());
    detail::copy_bytes(narrow.data(), map.narrow(), narrow.size() * sizeof(unsigned), stream);
    std::copy(narrow.begin(), narrow.end(), entries.begin());
  } else if (map.wide() != nullptr) {
    detail::copy_bytes(entries.data(), map.wide(), entries.size() * sizeof(Offset), stream);
  }
  return entries;
}

std::vector<Index> user_rows(const Basis& basis) {
  std::vector<Index> rows;
  for (Index i = 0; i < basis.size(); ++i) rows.push_back(basis.user_row(i));
  return rows;
}

void expect_same_memory(const MemoryUse& gpu, const MemoryUse& cpu) {
  EXPECT_EQ(gpu.values, cpu.values);
  EXPECT_EQ(gpu.columns, cpu.columns);
  EXPECT_EQ(gpu.slices, cpu.slices);
  EXPECT_EQ(gpu.row_lengths, cpu.row_lengths);
  EXPECT_EQ(gpu.permutation, cpu.permutation);
  EXPECT_EQ(gpu.value_map, cpu.value_map);
  EXPECT_EQ(gpu.slots, cpu.slots);
  EXPECT_EQ(gpu.total(), cpu.total());
}

void expect_same(const SlicedPattern& gpu, const SlicedPattern& cpu) {
  EXPECT_EQ(gpu.rows, cpu.rows);
  EXPECT_EQ(gpu.columns, cpu.columns);
  EXPECT_EQ(gpu.entries, cpu.entries);
  EXPECT_EQ(gpu.slots, cpu.slots);
  EXPECT_EQ(gpu.C, cpu.C);
  EXPECT_EQ(gpu.T, cpu.T);
  EXPECT_EQ(gpu.offset.to_host(), cpu.offset.to_host());
  EXPECT_EQ(gpu.first_row.to_host(), cpu.first_row.to_host());
  EXPECT_EQ(gpu.threads.to_host(), cpu.threads.to_host());
  EXPECT_EQ(gpu.row_length.to_host(), cpu.row_length.to_host());
  EXPECT_EQ(gpu.column.to_host(), cpu.column.to_host());
  EXPECT_EQ(gpu.target.to_host(), cpu.target.to_host());
  EXPECT_EQ(gpu.entry_of_slot.is_identity(), cpu.entry_of_slot.is_identity());
  EXPECT_EQ(entries_of_slots(gpu), entries_of_slots(cpu));
  EXPECT_EQ(slots_of_entries(gpu).to_host(), slots_of_entries(cpu).to_host());
  EXPECT_EQ(user_rows(*gpu.row_basis), user_rows(*cpu.row_basis));
  EXPECT_EQ(user_rows(*gpu.column_basis), user_rows(*cpu.column_basis));
  expect_same_memory(gpu.memory, cpu.memory);
  if (cpu.rows == cpu.columns) {
    EXPECT_EQ(diagonal_slots(gpu).to_host(), diagonal_slots(cpu).to_host());
  }
}

/// Builds from arrays on host and GPU, with offsets of 32 and 64 bits; `some` selects two of these.
void expect_as_on_cpu(const Pattern& pattern, const Plan& plan, int some = -1) {
  const Device gpu = Device::cuda(), cpu = Device::cpu();
  const auto expected = build(pattern.view(), plan, cpu);
  const auto compare = [&](const auto& arrays) {
    expect_same(*build(arrays.view(), plan, gpu), *expected);
    expect_same_memory(memory_use(arrays.view(), plan, 8, gpu), expected->memory);
  };
  if (some != 0) compare(Arrays<std::int32_t>(pattern, cpu));
  if (some != 0) compare(Arrays<std::int64_t>(pattern, gpu));
  if (some != 1) compare(Arrays<std::int32_t>(pattern, gpu));
  if (some != 1) compare(Arrays<std::int64_t>(pattern, cpu));
}

std::vector<Plan> layouts() {
  std::vector<Plan> plans;
  for (const char* text :
       {"CSR", "ELL", "Sl-16", "Sl-32", "pJDS", "K1", "K1r", "K1rs", "K2", "K2r", "K2rs"}) {
    plans.push_back(parse_plan(text));
  }
  for (const char* text : {"C=1,sigma=64",
                           "C=1,columns=given",
                           "C=1,sigma=n,columns=given",
                           "C=4,T=4,sigma=256",
                           "C=8,T=8",
                           "C=16,T=2,sigma=64",
                           "C=32,T=8,sigma=n,columns=given",
                           "C=33,T=3,sigma=n",
                           "C=33,sigma=256",
                           "C=64,T=4,sigma=n",
                           "C=64,sigma=1000000",
                           "C=n,sigma=n",
                           "C=6,T=6,sigma=5",
                           "C=1,threshold=2",
                           "C=12,threshold=2,sigma=7",
                           "C=33,threshold=1",
                           "C=32,threshold=3,sigma=64",
                           "C=64,threshold=1,sigma=n",
                           "C=64,threshold=100000",
                           "C=8,threshold=4,columns=given",
                           "order=rcm",
                           "order=rcm,C=32,sigma=64"}) {
    plans.push_back(parse_plan(text));
    plans.push_back(parse_plan(std::string(text) + ",use=scatter"));
  }
  return plans;
}

TEST_F(SlicedOnGpu, IsAsTheCpuBuildsIt) {
  Seed seed(1101);
  std::vector<PatternRequest> requests = odd_patterns();
  requests.push_back({.name = "long rows",
                      .rows = 450,
                      .columns = 450,
                      .per_row = 220,
                      .empty_rows = true,
                      .dense_row = true,
                      .sorted = false});
  int some = 0;
  for (const PatternRequest& request : requests) {
    const Pattern pattern = random_pattern(request, seed.generator);
    for (const Plan& plan : layouts()) {
      SCOPED_TRACE(std::string(request.name) + ", " + to_string(plan));
      expect_as_on_cpu(pattern, plan, some++ % 2);
      if (HasFailure()) return;
    }
  }
}

TEST_F(SlicedOnGpu, RectangularOnesScatterOrStayUnsorted) {
  Seed seed(1102);
  for (const PatternRequest& request : odd_rectangular_patterns()) {
    const Pattern pattern = random_pattern(request, seed.generator);
    for (const Plan& plan : layouts()) {
      if (plan.layout.order != RowOrder::natural) continue;
      if (plan.layout.basis == BasisUse::permuted && plan.layout.sort_window != 1) continue;
      SCOPED_TRACE(std::string(request.name) + ", " + to_string(plan));
      expect_as_on_cpu(pattern, plan);
      if (HasFailure()) return;
    }
  }
}

TEST_F(SlicedOnGpu, LivesInGivenBases) {
  Seed seed(1103);
  const Device gpu = Device::cuda(), cpu = Device::cpu();
  const auto shuffled = [&](Index n, const Device& device) {
    std::vector<Index> order(at(n));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), seed.generator);
    return Basis::from_order(Array<Index>(std::span<const Index>(order), device), device);
  };
  const Pattern pattern = random_pattern(
      {.rows = 300, .columns = 300, .per_row = 9, .empty_rows = true, .sorted = false},
      seed.generator);
  const Arrays<std::int64_t> arrays(pattern, gpu);
  const auto rows = shuffled(300, cpu), columns = shuffled(300, gpu);
  for (const Plan& plan : layouts()) {
    if (plan.layout.order != RowOrder::natural) continue;
    SCOPED_TRACE(to_string(plan));
    for (const auto& [of_rows, of_columns] :
         {std::pair(rows, columns), std::pair(rows, rows), std::pair(Basis::natural(300), columns),
          std::pair(rows, Basis::natural(300))}) {
      expect_same(*SlicedPattern::build(arrays.view(), plan, of_rows, of_columns, 8, gpu),
                  *SlicedPattern::build(pattern.view(), plan, of_rows, of_columns, 8, cpu));
    }
    if (HasFailure()) return;
  }
}

TEST_F(SlicedOnGpu, SortsMoreLongRowsThanOneBatchHolds) {
  Seed seed(1104);
  Pattern pattern{30, 200000, {0}, {}};
  std::vector<Index> columns(200000);
  std::iota(columns.begin(), columns.end(), 0);
  for (Index row = 0; row < pattern.rows; ++row) {
    if (row % 8 == 0) std::shuffle(columns.begin(), columns.end(), seed.generator);
    const Index length = row % 4 == 3 ? row : 199990 + row % 11;
    pattern.column.insert(pattern.column.end(), columns.begin(), columns.begin() + length);
    pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
  }
  ASSERT_GT(pattern.entries(), 1 << 22);
  expect_as_on_cpu(pattern, parse_plan("C=8,threshold=100"), 0);
  expect_as_on_cpu(pattern, parse_plan("C=32,sigma=n,use=scatter"), 1);
}

std::string complaint(const PatternView& pattern, const Device& device) {
  try {
    check_pattern(pattern, device);
    return "";
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.kind())) + ": " + error.what();
  }
}

TEST_F(CheckOnGpu, NamesTheFaultsThatTheCpuNames) {
  Seed seed(1105);
  const Device gpu = Device::cuda(), cpu = Device::cpu();
  for (const bool long_rows : {false, true}) {
    const Pattern good = random_pattern({.rows = 200,
                                         .columns = 700,
                                         .per_row = long_rows ? 300 : 9,
                                         .dense_row = true,
                                         .sorted = false},
                                        seed.generator);
    const auto compare = [&](const Pattern& pattern, bool is_bad) {
      const std::string expected = complaint(pattern.view(), cpu);
      EXPECT_EQ(expected.empty(), !is_bad) << expected;
      EXPECT_EQ(complaint(Arrays<std::int32_t>(pattern, gpu).view(), gpu), expected);
      EXPECT_EQ(complaint(Arrays<std::int64_t>(pattern, gpu).view(), gpu), expected);
      EXPECT_EQ(complaint(Arrays<std::int64_t>(pattern, cpu).view(), gpu), expected);
    };
    compare(good, false);
    for (int trial = 0; trial < 30; ++trial) {
      SCOPED_TRACE(trial);
      const auto any = [&](Offset below) {
        return at(random_between(0, static_cast<int>(below) - 1, seed.generator));
      };
      Pattern bad = good;
      bad.column[any(bad.entries())] = trial % 2 == 0 ? -1 : bad.columns + trial;
      compare(bad, true);

      bad = good;
      std::size_t row = 0;
      do {
        row = any(bad.rows);
      } while (bad.length(static_cast<Index>(row)) < 2);
      const auto begin = at(bad.offsets[row]), length = at(bad.offsets[row + 1]) - begin;
      const std::size_t first = any(static_cast<Offset>(length) - 1);
      bad.column[begin + length - 1] = bad.column[begin + first];
      compare(bad, true);

      bad = good;
      bad.offsets[row] = bad.offsets[row + 1] + 1;
      compare(bad, true);
    }
    Pattern shifted = good;
    shifted.offsets[0] = 1;
    compare(shifted, true);
  }
}

TEST_F(SlicedOnGpu, IsRefusedOverTheMemoryLimit) {
  Seed seed(1106);
  const Device gpu = Device::cuda(), cpu = Device::cpu();
  const Pattern pattern = random_pattern(
      {.rows = 200, .columns = 200, .dense_row = true, .sorted = false}, seed.generator);
  const auto complaint_of = [](const PatternView& view, const Plan& plan, int entry_bytes,
                               const Device& device, long long limit) -> std::string {
    const auto basis = Basis::make(view, plan, device);
    try {
      SlicedPattern::build(view, plan, basis, basis, entry_bytes, device, limit);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::memory);
      return error.what();
    }
  };
  const Arrays<std::int32_t> arrays(pattern, gpu);
  for (const char* text : {"ELL", "Sl-32", "CSR", "pJDS", "K2rs"}) {
    SCOPED_TRACE(text);
    const Plan plan = parse_plan(text);
    const MemoryUse use = memory_use(arrays.view(), plan, 72, gpu);
    EXPECT_EQ(use.peak(), use.total());
    EXPECT_EQ(complaint_of(arrays.view(), plan, 72, gpu, use.total()), "");
    for (const long long limit : {1000LL, use.total() - 1}) {
      const std::string expected = complaint_of(pattern.view(), plan, 72, cpu, limit);
      EXPECT_NE(expected, "");
      EXPECT_EQ(complaint_of(arrays.view(), plan, 72, gpu, limit), expected);
    }
    // Entries are small: the buffers for sorting while columns are built outweigh the values.
    const MemoryUse small = memory_use(pattern.view(), plan, 1, gpu);
    if (small.peak() == small.total()) continue;
    EXPECT_EQ(complaint_of(pattern.view(), plan, 1, gpu, small.peak()), "");
    const std::string refusal = complaint_of(pattern.view(), plan, 1, gpu, small.peak() - 1);
    EXPECT_NE(refusal.find(" more while it is built, available are "), std::string::npos)
        << refusal;
  }
}

}  // namespace
}  // namespace sliced_gpu
