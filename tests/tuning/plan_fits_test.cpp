// Which plans of other matrices cannot run for a matrix, on devices that need not be present.
#include "tuning/planning/plan_fits.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "heddle/detail/sliced.hpp"
#include "support/tuning/profiles.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

constexpr long long plenty = std::numeric_limits<long long>::max();

/// Rows of this length over quaternions; the columns do not matter.
class Subject {
 public:
  Subject(Index rows, Index columns, Index length) : offsets_(static_cast<std::size_t>(rows) + 1) {
    for (std::size_t row = 0; row < offsets_.size(); ++row) offsets_[row] = Offset(row) * length;
    view_.pattern.rows = rows;
    view_.pattern.columns = columns;
    view_.entry = "quaternion";
    view_.precision = "double";
    view_.entry_bytes = view_.result_bytes = 32;
  }
  Subject& with_longer_last_row(Index by) {
    offsets_.back() += by;
    return *this;
  }
  /// The subject, with the first columns in each row.
  const PlanSubject& view() {
    column_.clear();
    for (std::size_t row = 0; row + 1 < offsets_.size(); ++row) {
      for (Offset i = 0; i < offsets_[row + 1] - offsets_[row]; ++i) {
        column_.push_back(static_cast<Index>(i));
      }
    }
    view_.pattern.offsets = OffsetsView(offsets_.data());
    view_.pattern.column = column_.data();
    return view_;
  }
  std::string why_not(const std::string& plan, const DeviceProperties& device,
                      Objective objective = parse_objective("cg"), long long memory = plenty) {
    return why_it_cannot_run(parse_plan(plan), view(), objective, device, memory);
  }

 private:
  std::vector<Offset> offsets_;
  std::vector<Index> column_;
  PlanSubject view_;
};

DeviceProperties some_cpu() {
  DeviceProperties device;
  device.instructions = "x86-64";
  return device;
}

TEST(PlanFits, WhatShapeAndDeviceAllow) {
  Subject square(1000, 1000, 7), wide(1000, 1001, 7);
  for (const char* plan : {"CSR", "K1rs", "K2rs", "ELL", "order=rcm", "loop=graph"}) {
    EXPECT_EQ(square.why_not(plan, some_cpu()), "") << plan;
    EXPECT_EQ(square.why_not(plan, some_gpu()), "") << plan;
  }
  EXPECT_EQ(wide.why_not("order=rcm", some_cpu()), "order=rcm needs a square matrix");
  EXPECT_EQ(wide.why_not("K1rs", some_cpu()),
            "rows that are sorted in the permuted basis need a square matrix");
  EXPECT_EQ(wide.why_not("K1", some_cpu()), "");
  EXPECT_EQ(wide.why_not("Sl-32", some_gpu()), "");
  EXPECT_EQ(square.why_not("C=6,T=3", some_cpu()), "");
  EXPECT_NE(square.why_not("C=6,T=3", some_gpu()).find("threads-per-row=3"), std::string::npos);
  EXPECT_NE(square.why_not("C=64,T=64", some_gpu()).find("threads-per-row=64"), std::string::npos);
}

TEST(PlanFits, ALoopInOneKernelWhileItsVectorsDo) {
  Subject small(20000, 20000, 7), large(200000, 200000, 7);
  const std::string persistent = "C=32,loop=persistent";
  // 132 blocks of 232448 - 12288 bytes: 6 vectors of 32 bytes up to 151 000 rows, 8 up to 113 000.
  EXPECT_EQ(small.why_not(persistent, some_gpu()), "");
  EXPECT_NE(large.why_not(persistent, some_gpu()).find("loop=persistent"), std::string::npos);
  EXPECT_EQ(large.why_not(persistent, some_gpu(), Objective::product()), "");
  EXPECT_EQ(large.why_not(persistent, some_cpu()), "");
  Subject between(130000, 130000, 7);
  EXPECT_EQ(between.why_not(persistent, some_gpu(), parse_objective("cg")), "");
  EXPECT_NE(between.why_not(persistent, some_gpu(), parse_objective("bicgstab")), "");
  for (const char* layout : {"ELL,", "K1,"}) {
    EXPECT_NE(small.why_not(layout + std::string("loop=persistent"), some_gpu()), "") << layout;
  }
}

TEST(PlanFits, MemoryToTheLastByte) {
  Subject subject(1000, 1000, 7);
  subject.with_longer_last_row(500);
  for (const char* plan : {"CSR", "CSR,stored=float", "ELL", "Sl-32", "K1rs", "K2rs", "C=8,T=4"}) {
    SCOPED_TRACE(plan);
    const Plan parsed = parse_plan(plan);
    const EntryBytes bytes{32, parsed.layout.stored == StoredScalar::single ? 16 : 0};
    const long long needed =
        memory_use(subject.view().pattern, parsed, bytes, Device::cpu()).peak();
    EXPECT_EQ(subject.why_not(plan, some_cpu(), parse_objective("cg"), needed), "");
    const std::string why = subject.why_not(plan, some_cpu(), parse_objective("cg"), needed - 1);
    EXPECT_TRUE(why.starts_with("it needs ")) << why;
  }
  // The check for memory does not compute the order.
  EXPECT_NE(subject.why_not("ELL,order=rcm", some_cpu(), parse_objective("cg"), 1000), "");
}

}  // namespace
