// The account of memory compared with real allocations, counted by a memory resource of the test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory_resource>
#include <string>
#include <vector>

#include "heddle/operator.hpp"
#include "support/expect_error.hpp"
#include "support/random_matrix.hpp"

namespace memory_use_test {
namespace {

using namespace heddle;
using namespace heddle::test;

class CountingMemory final : public std::pmr::memory_resource {
 public:
  long long live = 0;
  long long peak = 0;
  int allocations = 0;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    live += static_cast<long long>(bytes);
    peak = std::max(peak, live);
    ++allocations;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override {
    live -= static_cast<long long>(bytes);
    std::pmr::new_delete_resource()->deallocate(data, bytes, alignment);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
};

const std::vector<const char*> layouts = {"CSR",
                                          "ELL",
                                          "Sl-16",
                                          "Sl-32",
                                          "pJDS",
                                          "K1",
                                          "K1r",
                                          "K1rs",
                                          "K2",
                                          "K2r",
                                          "K2rs",
                                          "columns=given",
                                          "sigma=n",
                                          "C=3,sigma=7,use=scatter",
                                          "C=1,sigma=7,use=scatter",
                                          "C=1,threshold=2",
                                          "C=8,T=4,sigma=n",
                                          "C=64,threshold=1",
                                          "order=rcm,C=8,sigma=16",
                                          "C=8,inner=aosoa16",
                                          "stored=float",
                                          "K2rs,inner=aosoa16,stored=float",
                                          "K1,inner=aosoa16,iteration-precision=scaled"};

bool fits(const PatternRequest& request, const Plan& plan) {
  return request.rows == request.columns || plan.layout.basis == BasisUse::user ||
         (plan.layout.sort_window == 1 && plan.layout.order == RowOrder::natural);
}

template <class E>
void expect_exact_account(const PatternRequest& request, const char* text, Generator& generator) {
  const Plan plan = parse_plan(text);
  if (!fits(request, plan)) return;
  SCOPED_TRACE(std::string(request.name) + ", " + text);
  const CsrMatrix<E> matrix = random_matrix<E>(request, generator);
  CountingMemory memory;
  const Device device = Device::cpu(2, &memory);
  const MemoryUse predicted =
      memory_use(matrix.view().pattern(), plan, Operator<E>::entry_bytes(plan), device);
  EXPECT_EQ(memory.live, 0);
  {
    const Operator<E> built(matrix, plan, device);
    EXPECT_EQ(memory.live, predicted.total());
    EXPECT_EQ(built.memory().total(), predicted.total());
    EXPECT_EQ(built.memory().values, predicted.values);
    EXPECT_EQ(built.memory().copy, predicted.copy);
    const StoredScalar stored = plan.layout.stored;
    const bool in_words = stored != StoredScalar::own && stored != StoredScalar::single;
    const bool in_floats = stored == StoredScalar::single && sizeof(E) > 4 && predicted.slots > 0;
    EXPECT_EQ(predicted.copy > 0, in_words || in_floats);
    EXPECT_EQ(built.memory().columns, predicted.columns);
    EXPECT_EQ(built.memory().slices, predicted.slices);
    EXPECT_EQ(built.memory().row_lengths, predicted.row_lengths);
    EXPECT_EQ(built.memory().permutation, predicted.permutation);
    EXPECT_EQ(built.memory().value_map, predicted.value_map);
    EXPECT_EQ(built.memory().slots, predicted.slots);
    EXPECT_EQ(built.pattern().slots, predicted.slots);
    EXPECT_EQ(predicted.product() + predicted.copy + predicted.permutation + predicted.value_map,
              predicted.total());

    // Another matrix with this pattern allocates only its values; new values allocate nothing.
    const long long before = memory.live;
    Operator<E> second(built, matrix);
    EXPECT_EQ(memory.live - before, predicted.values + predicted.copy);
    const int allocations = memory.allocations;
    second.update_values(matrix);
    EXPECT_EQ(memory.allocations, allocations);
  }
  EXPECT_EQ(memory.live, 0);
}

TEST(MemoryUse, IsWhatAnOperatorAllocates) {
  Seed seed(401);
  std::vector<PatternRequest> requests = odd_patterns();
  const auto rectangular = odd_rectangular_patterns();
  requests.insert(requests.end(), rectangular.begin(), rectangular.end());
  for (const PatternRequest& request : requests) {
    for (const char* text : layouts) {
      expect_exact_account<quaternion<double>>(request, text, seed.generator);
      expect_exact_account<real<float>>(request, text, seed.generator);
    }
  }
}

TEST(MemoryUse, CountsASharedBasisOnceAndTwoBasesApart) {
  Seed seed(402);
  using E = real<double>;
  const auto matrix = random_matrix<E>({.rows = 40, .columns = 40}, seed.generator);
  CountingMemory memory;
  CsrView<E> view = matrix.view();
  view.device = Device::cpu(1, &memory);
  const auto order = [&](Index first) {
    Array<Index> rows(40, view.device);
    for (Index i = 0; i < 40; ++i) rows[static_cast<std::size_t>(i)] = (i + first) % 40;
    return Basis::from_order(std::move(rows), view.device);
  };
  const auto a = order(3), b = order(7);
  const Plan plan = parse_plan("Sl-16");
  EXPECT_EQ(Operator<E>(view, plan, a).memory().permutation, 2 * 40 * 4);
  EXPECT_EQ(Operator<E>(view, plan, a, b).memory().permutation, 4 * 40 * 4);
  const Operator<E> kept(view, plan, a, b);
  EXPECT_EQ(memory.live, kept.memory().total());
}

TEST(MemoryUse, ReadsInOneLine) {
  const MemoryUse use{.values = 3 << 20,
                      .columns = 1536,
                      .slices = 1023,
                      .row_lengths = 0,
                      .permutation = 5LL << 30,
                      .value_map = 10};
  EXPECT_EQ(to_string(use),
            "5.0 GiB (values 3.0 MiB, columns 1.5 KiB, slices 1023 B, row lengths 0 B, "
            "permutation 5.0 GiB, value map 10 B)");
}

TEST(MemoryUse, ReadsInOneLineWithACopy) {
  EXPECT_EQ(to_string(MemoryUse{.values = 3 << 20, .copy = 3 << 19}),
            "4.5 MiB (values 3.0 MiB, copy of values 1.5 MiB, columns 0 B, slices 0 B, row lengths "
            "0 B, permutation 0 B, value map 0 B)");
}

TEST(MemoryUse, RefusesBeforeAllocating) {
  Seed seed(403);
  using E = block<double, 3, 3>;
  const auto matrix =
      random_matrix<E>({.rows = 200, .columns = 200, .dense_row = true}, seed.generator);
  const auto pattern = matrix.view().pattern();
  const auto needs = [&](const char* text) {
    const Plan plan = parse_plan(text);
    return memory_use(pattern, plan, Operator<E>::entry_bytes(plan), Device::cpu());
  };
  for (const char* text : {"ELL", "Sl-32", "CSR", "pJDS", "K1", "K2rs", "pJDS,stored=float"}) {
    SCOPED_TRACE(text);
    const Plan plan = parse_plan(text);
    const MemoryUse use = needs(text);
    CountingMemory memory;
    CsrView<E> view = matrix.view();
    view.device = Device::cpu(1, &memory);
    EXPECT_NO_THROW(Operator<E>(view, plan, use.total()));
    memory = {};
    expect_error(ErrorKind::memory,
                 "this plan needs " + to_string(use) + ", available are 1000 B; no plan fits",
                 [&] { Operator<E>(view, plan, 1000); });
    EXPECT_EQ(memory.live, 0);
    // The account needs the order of the rows, for this plan and for the plans that it suggests;
    // nothing of the matrix itself is allocated.
    EXPECT_LE(memory.peak, use.permutation + 2 * 200 * 4);
    try {
      Operator<E>(view, plan, use.total() - 1);
      ADD_FAILURE() << "one byte short, and built";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::memory);
    }
  }
}

TEST(MemoryUse, RefusalNamesWhatWouldFit) {
  Seed seed(404);
  using E = real<double>;
  const auto matrix =
      random_matrix<E>({.rows = 300, .columns = 300, .dense_row = true}, seed.generator);
  const auto pattern = matrix.view().pattern();
  const auto readable = [](const MemoryUse& use) {
    const std::string text = to_string(use);
    return text.substr(0, text.find(" ("));
  };
  const auto use = [&](const char* text) {
    return memory_use(pattern, parse_plan(text), sizeof(E), Device::cpu());
  };
  const long long limit = std::max({use("CSR").total(), use("Sl-32").total(), use("pJDS").total()});
  ASSERT_LT(limit, use("ELL").total());
  MemoryUse as_limit;
  as_limit.values = limit;
  expect_error(ErrorKind::memory,
               "this plan needs " + to_string(use("ELL")) + ", available are " +
                   readable(as_limit) + "; these fit: CSR (" + readable(use("CSR")) + "), Sl-32 (" +
                   readable(use("Sl-32")) + "), pJDS (" + readable(use("pJDS")) + ")",
               [&] { Operator<E>(matrix.view(), parse_plan("ELL"), limit); });
  // A suggested plan is accepted.
  EXPECT_NO_THROW(Operator<E>(matrix.view(), parse_plan("CSR"), use("CSR").total()));
}

TEST(MemoryUse, CountsBeyond32Bits) {
  const std::vector<std::int32_t> offsets{0, 2, 3};
  const std::vector<Index> column{0, 1, 1};
  const PatternView pattern{2, 2, OffsetsView(offsets.data()), column.data()};
  const MemoryUse use = memory_use(pattern, parse_plan("ELL"), 1 << 30, Device::cpu());
  EXPECT_EQ(use.values, 4LL << 30);
}

}  // namespace
}  // namespace memory_use_test
