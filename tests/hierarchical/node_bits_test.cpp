// The arithmetic with which a GPU makes trees, played on the CPU.
#include "hierarchical/pools/node_bits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <set>
#include <utility>
#include <vector>

#include "heddle/detail/component_rules.hpp"
#include "heddle/entries.hpp"
#include "heddle/kernels/trees/tree_node.hpp"
#include "hierarchical/entry_terms.hpp"
#include "support/random_matrix.hpp"

namespace hierarchical_bits {
namespace {

using namespace heddle;
using namespace heddle::test;

/// Blocks in a range of block rows are numbered by rows and columns, and listed in that order.
TEST(BlockBits, NumberBlocksByRows) {
  Seed seed(81);
  for (const Index columns : {1, 63, 64, 65, 200}) {
    constexpr Index first = 5, end = 24;
    const Offset words_of_row = cuda::BlockBits::words_of(columns);
    std::vector<unsigned long long> bits(static_cast<std::size_t>((end - first) * words_of_row));
    std::vector<Offset> before(bits.size());
    cuda::BlockBits blocks{bits.data(), before.data(), first, end, words_of_row};
    std::set<std::pair<Index, Index>> expected;
    for (int k = 0; k < 150; ++k) {
      const Index row = random_between(first, end - 1, seed.generator);
      const Index column = random_between(0, columns - 1, seed.generator);
      expected.insert({row, column});
      bits[static_cast<std::size_t>(blocks.word_of(row, column))] |=
          cuda::BlockBits::bit_of(column);
    }
    ASSERT_EQ(blocks.words(), static_cast<Offset>(bits.size()));
    for (std::size_t w = 1; w < bits.size(); ++w) {
      before[w] = before[w - 1] + cuda::bit_count(bits[w - 1]);
    }
    Offset number = 0;
    for (const auto& [row, column] : expected) {
      EXPECT_EQ(blocks.number_of(row, column), number++);
    }
    auto next = expected.begin();
    for (Offset word = 0; word < blocks.words(); ++word) {
      blocks.for_each_of(word, [&](Offset of, Index row, Index column) {
        EXPECT_EQ(of, std::distance(expected.begin(), next));
        EXPECT_EQ(std::pair(row, column), *next++);
      });
    }
    EXPECT_EQ(next, expected.end());
    EXPECT_FALSE(blocks.covers(first - 1));
    EXPECT_FALSE(blocks.covers(end));
  }
}

TEST(BlockBits, AddressRowsBeyondFourGigabytes) {
  constexpr Index columns = 1 << 24;
  const cuda::BlockBits blocks{nullptr, nullptr, 0, 1 << 20, cuda::BlockBits::words_of(columns)};
  EXPECT_EQ(blocks.word_of((1 << 20) - 1, columns - 1), (Offset(1) << 38) - 1);
  EXPECT_EQ(blocks.words(), Offset(1) << 38);
}

TEST(PlaceBits, NumberEntriesByRows) {
  Seed seed(82);
  for (const int log2_size : {2, 3, 7, 8}) {
    const NodeShape shape{log2_size, 8};
    const int words = cuda::PlaceBits::words_of(shape.positions());
    ASSERT_LE(words, cuda::PlaceBits::max_words);
    std::vector<unsigned> bits(static_cast<std::size_t>(words)), before(bits.size());
    std::set<int> expected;
    for (int k = 0; k < 90; ++k) {
      const int position =
          random_between(0, static_cast<int>(shape.positions()) - 1, seed.generator);
      expected.insert(position);
      bits[static_cast<std::size_t>(position / 32)] |= cuda::PlaceBits::bit_of(position);
    }
    for (std::size_t w = 1; w < bits.size(); ++w) {
      before[w] = before[w - 1] + static_cast<unsigned>(cuda::bit_count(bits[w - 1]));
    }
    const cuda::PlaceBits places{bits.data(), before.data()};
    int number = 0;
    for (const int position : expected) EXPECT_EQ(places.number_of(position), number++);
    for (int p = 0; p < static_cast<int>(shape.positions()); ++p) {
      EXPECT_EQ(places.has(p), expected.contains(p));
    }
  }
}

template <class E>
E random_entry(Generator& generator) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  E entry;
  for (auto& component : entry.component) {
    component = static_cast<vector_scalar_t<E>>(uniform(generator));
  }
  return entry;
}

/// Products of factors with entries and with their adjoints have the bits of the entries'
/// arithmetic.
template <class E>
void expect_terms(Generator& generator) {
  using S = vector_scalar_t<E>;
  const auto adjoint_map = detail::components_of_adjoint<E>();
  ASSERT_TRUE(adjoint_map);
  EXPECT_TRUE(detail::adds_components<E>());
  const cuda::EntryTerm<S> direct{S(0.7), 0, false, nullptr};
  const cuda::EntryTerm<S> of_adjoint{S(0.7), 0, false, adjoint_map->data()};
  const E a = random_entry<E>(generator), conjugate = adjoint(a);
  for (int k = 0; k < E::components; ++k) {
    EXPECT_EQ(direct(a.component, k), a.component[k] * S(0.7));
    EXPECT_EQ(of_adjoint(a.component, k), conjugate.component[k] * S(0.7));
    const auto from = of_adjoint.source(k);
    EXPECT_EQ(of_adjoint.of_loaded(a.component[from.at], from, a.component, k),
              of_adjoint(a.component, k));
  }
  if constexpr (E::ring == Ring::complex) {
    const cuda::EntryTerm<S> times{S(0.3), S(-1.1), true, adjoint_map->data()};
    for (int k = 0; k < E::components; k += 2) {
      const S re = conjugate.component[k], im = conjugate.component[k + 1];
      EXPECT_EQ(times(a.component, k), re * S(0.3) - im * S(-1.1));
      EXPECT_EQ(times(a.component, k + 1), re * S(-1.1) + im * S(0.3));
      const auto from = times.source(k);
      EXPECT_EQ(times.of_loaded(a.component[from.at], from, a.component, k), times(a.component, k));
    }
  }
}

TEST(EntryTerms, HaveTheBitsOfTheEntries) {
  Seed seed(83);
  expect_terms<real<double>>(seed.generator);
  expect_terms<complex<float>>(seed.generator);
  expect_terms<quaternion<double>>(seed.generator);
  expect_terms<block<double, 3, 3>>(seed.generator);
  expect_terms<block<complex<double>, 3, 3>>(seed.generator);
}

TEST(ComponentsByRows, AreThoseOfTheView) {
  const auto order = detail::components_by_rows<block<double, 2, 3>>();
  EXPECT_EQ(order, (std::vector<int>{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(detail::components_by_rows<quaternion<float>>(), (std::vector<int>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace hierarchical_bits
