// Runs in the release.
// New values as placed by the threads of a GPU's blocks, played on the CPU, against the CPU's own.
#include "matrix/value_tiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "heddle/operator.hpp"
#include "support/random_matrix.hpp"
#include "support/stored_shape.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

std::size_t place(Offset i) { return static_cast<std::size_t>(i); }

/// Bytes that move together, whatever they represent.
template <int bytes>
struct __attribute__((may_alias)) Unit {
  std::uint32_t word[bytes / 4];
};

template <class U, class Map>
void play(const detail::PackedTiles<U, Map>& tiles) {
  for (unsigned tile = 0; tile < tiles.tiles(); ++tile) {
    for (unsigned thread = 0; thread < detail::threads_of_tile; ++thread) tiles.place(tile, thread);
  }
}

template <class Scalar, class Map>
void play(const detail::TransposedTiles<Scalar, Map>& tiles) {
  EXPECT_LE(tiles.shared_bytes(), 48u << 10);
  std::vector<Offset> memory(tiles.shared_bytes() / sizeof(Offset) + 2);
  const auto shared = tiles.shared(memory.data());
  const auto each = [&](const auto& step) {
    for (unsigned thread = 0; thread < detail::threads_of_tile; ++thread) step(thread);
  };
  for (unsigned tile = 0; tile < tiles.tiles(); ++tile) {
    std::fill(memory.begin(), memory.end(), 0x7ddddddddddddddd);
    each([&](unsigned thread) { tiles.find(tile, thread, shared); });
    each([&](unsigned thread) { tiles.gather(tile, thread, shared); });
    each([&](unsigned thread) { tiles.store(tile, thread, shared); });
    EXPECT_EQ(memory.back(), 0x7ddddddddddddddd) << "written past the end of shared memory";
  }
}

detail::UnitOrder unit_order(const EntryShape& shape, int scalars) {
  return {shape.block_rows, shape.block_columns, std::max(1, shape.scalars_of_element() / scalars)};
}

/// The results of all kernels that could take these values.
template <class E, class Map>
std::vector<Array<stored_scalar_t<E>>> placed(const SlicedPattern& pattern, InnerLayout inner,
                                              ComponentOrder order, const Map& map, Offset pieces,
                                              const Array<stored_scalar_t<E>>& values,
                                              const Array<stored_scalar_t<E>>& before) {
  using S = stored_scalar_t<E>;
  constexpr int K = E::components;
  const SlotRule rule = slot_rule(inner, K, pattern.C, pattern.slots, sizeof(S));
  std::vector<Array<S>> results;
  const auto in_pieces = [&](const auto& place) {
    results.push_back(before);
    const Offset at_a_time = std::max<Offset>(1, pattern.entries / pieces);
    for (Offset first = 0; first < pattern.entries; first += at_a_time) {
      const detail::GivenEntries<Map> given{map, first,
                                            std::min(at_a_time, pattern.entries - first)};
      place(given, values.data() + first * K, results.back().data());
    }
  };
  const EntryShape shape = stored_shape<E>(order);
  const int together = shape.block_rows > 1 ? shape.scalars_of_element() : K;
  const auto by_units = [&]<class U>(U /*one*/) {
    if constexpr (sizeof(U) >= sizeof(S)) {
      constexpr int scalars = sizeof(U) / sizeof(S);
      if (together % scalars != 0) return;
      in_pieces([&](const auto& given, const S* from, S* to) {
        play(detail::PackedTiles<U, Map>(given, unit_order(shape, scalars), K / scalars,
                                         pattern.slots, from, to));
      });
    }
  };
  if (!rule.planes && (rule.piece >= K || rule.C == 1)) {
    by_units(Unit<16>{});
    by_units(Unit<8>{});
    by_units(Unit<4>{});
  }
  if (rule.piece <= 4 && (rule.planes || rule.piece < K)) {
    in_pieces([&](const auto& given, const S* from, S* to) {
      play(detail::TransposedTiles<Unit<sizeof(S)>, Map>(given, unit_order(shape, 1), rule, from,
                                                         to));
    });
  }
  EXPECT_FALSE(results.empty());
  return results;
}

template <class E>
void expect_as_on_cpu(const SlicedPattern& pattern, const Plan& plan, ComponentOrder order,
                      Generator& generator) {
  using S = stored_scalar_t<E>;
  constexpr int K = E::components;
  SCOPED_TRACE("K = " + std::to_string(K) + ", scalars of " + std::to_string(sizeof(S)) +
               " bytes, " + (order == row_major ? "row major" : "column major"));
  // All numbers differ, so that none is mistaken for another.
  Array<S> values(place(pattern.entries) * K), poisoned(place(pattern.slots) * K);
  S next = static_cast<S>(random_between(1, 1000, generator));
  for (S& value : values) value = next++;
  for (S& value : poisoned) value = -7;
  Array<S> expected = poisoned;
  place_values_on_cpu<S, K>(pattern, plan.layout.inner, stored_shape<E>(order),
                            std::as_bytes(values.span()), std::as_writable_bytes(expected.span()),
                            Stream{});

  const auto compare = [&](const auto& map, Offset pieces) {
    for (const Array<S>& result :
         placed<E>(pattern, plan.layout.inner, order, map, pieces, values, poisoned)) {
      EXPECT_EQ(result.to_host(), expected.to_host()) << pieces << " pieces";
    }
  };
  for (const Offset pieces : {1, 5}) {
    detail::visit_map(pattern.entry_of_slot, [&](const auto& map) { compare(map, pieces); });
  }
  if (pattern.entry_of_slot.is_identity()) return;
  std::vector<Offset> wide(place(pattern.slots));
  for (Offset slot = 0; slot < pattern.slots; ++slot)
    wide[place(slot)] = pattern.entry_of_slot[slot];
  compare(detail::StoredMap<Offset>{wide.data()}, 2);
}

void expect_as_on_cpu(const Pattern& given, const Plan& plan, Generator& generator) {
  SCOPED_TRACE(to_string(plan));
  const Device cpu = Device::cpu();
  const auto rows = Basis::make(given.view(), plan, cpu);
  const auto columns = given.rows == given.columns ? rows : Basis::natural(given.columns);
  const auto pattern = SlicedPattern::build(given.view(), plan, rows, columns, 8, cpu);
  expect_as_on_cpu<real<float>>(*pattern, plan, row_major, generator);
  expect_as_on_cpu<real<double>>(*pattern, plan, row_major, generator);
  expect_as_on_cpu<complex<double>>(*pattern, plan, row_major, generator);
  expect_as_on_cpu<quaternion<float>>(*pattern, plan, row_major, generator);
  expect_as_on_cpu<quaternion<double>>(*pattern, plan, row_major, generator);
  for (const ComponentOrder order : {row_major, column_major}) {
    expect_as_on_cpu<block<double, 3, 3>>(*pattern, plan, order, generator);
    expect_as_on_cpu<block<float, 3, 3>>(*pattern, plan, order, generator);
    expect_as_on_cpu<block<float, 2, 3>>(*pattern, plan, order, generator);
    expect_as_on_cpu<block<complex<double>, 2, 2>>(*pattern, plan, order, generator);
    if (given.entries() > 200) continue;
    // More components than a tile is wide, and a last piece of three.
    expect_as_on_cpu<block<double, 11, 13>>(*pattern, plan, order, generator);
    expect_as_on_cpu<block<float, 19, 17>>(*pattern, plan, order, generator);
  }
}

TEST(ValueTiles, PutValuesWhereTheCpuDoes) {
  Seed seed(351);
  std::vector<Pattern> patterns;
  for (const PatternRequest& request : odd_patterns()) {
    patterns.push_back(random_pattern(request, seed.generator));
  }
  for (const Pattern& pattern : patterns) {
    for (const char* layout : {"CSR", "columns=given", "ELL", "C=3,sigma=7", "C=32,T=4,sigma=n",
                               "C=33,T=3", "C=64,threshold=2,use=scatter"}) {
      for (const char* inner : {"aos", "soa", "aosoa", "aosoa16"}) {
        expect_as_on_cpu(pattern, parse_plan(std::string(layout) + ",inner=" + inner),
                         seed.generator);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(ValueTiles, AreLargeWhereThereAreManySlots) {
  Seed seed(352);
  const Pattern pattern = random_pattern(
      {.rows = 9000, .columns = 9000, .per_row = 30, .empty_rows = true}, seed.generator);
  ASSERT_GT(pattern.entries(), 512 * 256);
  for (const char* text : {"C=48,sigma=256,inner=soa,use=scatter", "C=32,T=4,sigma=n,inner=aosoa",
                           "C=32,T=4,sigma=n,inner=aosoa16"}) {
    const Plan plan = parse_plan(text);
    SCOPED_TRACE(text);
    const auto rows = Basis::make(pattern.view(), plan, Device::cpu());
    const auto sliced = SlicedPattern::build(pattern.view(), plan, rows, rows, 8, Device::cpu());
    expect_as_on_cpu<quaternion<double>>(*sliced, plan, row_major, seed.generator);
    expect_as_on_cpu<block<double, 3, 3>>(*sliced, plan, column_major, seed.generator);
  }
}

TEST(ValueTiles, TakeValuesOfTheHostInFewPieces) {
  constexpr Offset usual_bytes = Offset(64) << 20;
  for (const Offset entry_bytes : {4, 8, 72, 288, 65535 * 8}) {
    for (const Offset entries : {Offset(1), Offset(31), Offset(33), Offset(1) << 20,
                                 (Offset(1) << 31) - 1, Offset(1) << 40}) {
      const Offset piece = detail::entries_of_piece(entries, entry_bytes);
      SCOPED_TRACE(std::to_string(entries) + " entries of " + std::to_string(entry_bytes));
      EXPECT_GE(piece, 1);
      EXPECT_LE(piece, entries);
      EXPECT_LE((entries + piece - 1) / piece, 32);
      if (entries * entry_bytes <= usual_bytes) {
        EXPECT_EQ(piece, entries);
      }
      // The piece is no larger than necessary.
      EXPECT_LE(piece * entry_bytes, std::max(usual_bytes, (entries / 32 + 1) * entry_bytes));
    }
  }
}

TEST(ValueTiles, DivideExactly) {
  for (const unsigned number : {1u, 2u, 3u, 7u, 9u, 36u, 72u, 144u, 1023u, 65535u}) {
    const detail::Divisor divisor(number);
    for (unsigned n = 0; n < 70000 && n < 0xffffffffu / number; ++n) {
      ASSERT_EQ(divisor.divide(n), n / number) << n << " / " << number;
    }
  }
}

}  // namespace
