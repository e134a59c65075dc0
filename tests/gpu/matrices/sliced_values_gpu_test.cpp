// Values placed into sliced storage by a GPU, compared with the CPU's: bit for bit.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "heddle/operator.hpp"
#include "sliced_pattern.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"
#include "support/refusing_memory.hpp"
#include "support/stored_shape.hpp"

namespace sliced_values_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

using ValuesOnGpu = OnGpu;

/// One pattern as stored by the CPU and by the GPU.
struct Stored {
  Stored(const Pattern& pattern, const char* layout)
      : name(layout),
        on_cpu(build(pattern.view(), parse_plan(layout), Device::cpu())),
        on_gpu(build(pattern.view(), parse_plan(layout), Device::cuda())) {}

  const char* name;
  std::shared_ptr<const SlicedPattern> on_cpu, on_gpu;
};

template <class E>
void expect_same_values(const Stored& pattern, InnerLayout inner, ComponentOrder order,
                        Generator& generator) {
  using S = stored_scalar_t<E>;
  constexpr std::size_t K = E::components;
  SCOPED_TRACE(std::string(pattern.name) + ", inner layout " +
               std::to_string(static_cast<int>(inner)) + ", K = " + std::to_string(K) +
               ", scalars of " + std::to_string(sizeof(S)) + " bytes, " +
               (order == ComponentOrder::row_major ? "row major" : "column major"));
  const Device gpu = Device::cuda(), cpu = Device::cpu();
  const Offset entries = pattern.on_cpu->entries;
  std::vector<S> given(at(entries) * K + 1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (S& value : given) value = static_cast<S>(uniform(generator));
  const std::vector<S> poison(at(pattern.on_cpu->slots) * K, S(-7));
  const Array<S> values(std::span<const S>(given), gpu);

  // Also one scalar further: values aligned only to a scalar.
  for (const std::size_t first : {0, 1}) {
    std::vector<S> expected = poison;
    const std::size_t scalars = at(entries) * K;
    const EntryShape shape = stored_shape<E>(order);
    place_values_on_cpu<S, E::components>(
        *pattern.on_cpu, inner, shape,
        std::as_bytes(std::span<const S>(given).subspan(first, scalars)),
        std::as_writable_bytes(std::span<S>(expected)), cpu.stream());
    const auto expect_placed = [&](const S* from, Offset buffer_entries, const Stream& stream) {
      Array<S> placed(std::span<const S>(poison), gpu);
      place_values_on_gpu(*pattern.on_gpu, inner, shape,
                          std::as_bytes(std::span<const S>(from, scalars)),
                          std::as_writable_bytes(placed.span()), stream, buffer_entries);
      EXPECT_EQ(placed.to_host(), expected) << "through a buffer of " << buffer_entries;
    };
    expect_placed(values.data() + first, 0, gpu.stream());
    expect_placed(given.data() + first, 0, gpu.stream());
    expect_placed(given.data() + first, entries / 3 + 1, gpu.stream());
    if (entries < 20) expect_placed(given.data() + first, 1, gpu.stream());
    // If no GPU memory is left, the values pass through the host's.
    RefusingMemory memory(gpu.memory());
    memory.allow(0);
    Stream short_of_memory = gpu.stream();
    short_of_memory.memory = &memory;
    expect_placed(given.data() + first, entries / 3 + 1, short_of_memory);
  }
}

constexpr InnerLayout inner_layouts[] = {InnerLayout::aos, InnerLayout::soa,
                                         InnerLayout::aosoa_component, InnerLayout::aosoa_16};

/// Entries of 1, 2, 4, 8 and 9 scalars, and blocks stored by columns.
void expect_same_values(const Stored& pattern, Generator& generator) {
  for (const InnerLayout inner : inner_layouts) {
    expect_same_values<real<float>>(pattern, inner, row_major, generator);
    expect_same_values<real<double>>(pattern, inner, row_major, generator);
    expect_same_values<complex<float>>(pattern, inner, row_major, generator);
    expect_same_values<complex<double>>(pattern, inner, row_major, generator);
    expect_same_values<quaternion<float>>(pattern, inner, row_major, generator);
    expect_same_values<quaternion<double>>(pattern, inner, row_major, generator);
    expect_same_values<dual_quaternion<float>>(pattern, inner, row_major, generator);
    expect_same_values<dual_quaternion<double>>(pattern, inner, row_major, generator);
    for (const ComponentOrder order : {row_major, column_major}) {
      expect_same_values<block<float, 3, 3>>(pattern, inner, order, generator);
      expect_same_values<block<double, 3, 3>>(pattern, inner, order, generator);
      expect_same_values<block<float, 2, 3>>(pattern, inner, order, generator);
      expect_same_values<block<complex<double>, 3, 3>>(pattern, inner, order, generator);
    }
  }
}

TEST_F(ValuesOnGpu, LieWhereTheCpuPutsThem) {
  Seed seed(1107);
  std::vector<PatternRequest> requests = odd_patterns();
  requests.push_back(
      {.name = "a very long row", .rows = 300, .columns = 300, .dense_row = true, .sorted = false});
  requests.push_back(
      {.name = "long rows", .rows = 90, .columns = 700, .per_row = 220, .sorted = false});
  for (const PatternRequest& request : requests) {
    SCOPED_TRACE(request.name);
    const Pattern pattern = random_pattern(request, seed.generator);
    for (const char* layout :
         {"CSR", "columns=given", "C=1,sigma=n,use=scatter", "ELL", "C=n,sigma=n,use=scatter",
          "C=3,sigma=7,use=scatter", "Sl-32", "C=32,T=4,sigma=64,use=scatter", "K2",
          "C=64,sigma=n,use=scatter", "C=64,T=4", "C=64,threshold=2,sigma=256,use=scatter"}) {
      expect_same_values(Stored(pattern, layout), seed.generator);
      if (HasFailure()) return;
    }
    if (pattern.rows != pattern.columns) continue;
    for (const char* layout : {"pJDS", "K2rs", "order=rcm,C=32,T=2"}) {
      expect_same_values(Stored(pattern, layout), seed.generator);
      if (HasFailure()) return;
    }
  }
}

TEST_F(ValuesOnGpu, MayHaveMoreComponentsThanATileIsWide) {
  Seed seed(1109);
  const Pattern pattern =
      random_pattern({.rows = 150, .columns = 150, .per_row = 9, .sorted = false}, seed.generator);
  for (const char* layout : {"CSR", "C=32,T=4,sigma=n"}) {
    const Stored stored(pattern, layout);
    for (const InnerLayout inner : inner_layouts) {
      for (const ComponentOrder order : {row_major, column_major}) {
        expect_same_values<block<double, 11, 13>>(stored, inner, order, seed.generator);
        expect_same_values<block<float, 19, 17>>(stored, inner, order, seed.generator);
      }
    }
  }
}

TEST_F(ValuesOnGpu, FillManyLargeTiles) {
  Seed seed(1110);
  const Pattern pattern = random_pattern(
      {.rows = 30000, .columns = 30000, .per_row = 12, .empty_rows = true}, seed.generator);
  for (const char* layout : {"C=32,T=4,sigma=n", "C=64,sigma=1024", "K2rs"}) {
    const Stored stored(pattern, layout);
    for (const InnerLayout inner : inner_layouts) {
      expect_same_values<quaternion<double>>(stored, inner, row_major, seed.generator);
      expect_same_values<block<double, 3, 3>>(stored, inner, column_major, seed.generator);
    }
  }
}

TEST_F(ValuesOnGpu, OfTheHostMayBeMoreThanItsBufferHolds) {
  Seed seed(1108);
  const Pattern pattern =
      random_pattern({.rows = 60000, .columns = 60000, .per_row = 9}, seed.generator);
  ASSERT_GT(pattern.entries() * 144, 64 << 20);
  expect_same_values<block<complex<double>, 3, 3>>(Stored(pattern, "pJDS"), InnerLayout::aosoa_16,
                                                   row_major, seed.generator);
}

}  // namespace
}  // namespace sliced_values_gpu
