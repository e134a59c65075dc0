// Runs in both builds.
// Operations of a GPU's threads on fields, without a GPU: every element is visited once, and
// operations over chunks agree with those of the CPU.
#include "fields/chunk_operations.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "heddle/vector_operations.hpp"
#include "support/over.hpp"
#include "support/random_matrix.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

/// Calls `body(chunk)` for every thread of a launch, in the order of their indices.
template <class Chunk, class Body>
void for_each_chunk(const cuda::Walk& walk, const Body& body) {
  for (unsigned b = 0; b < walk.blocks(); ++b) {
    for (int step = 0; step < walk.steps; ++step) {
      for (int thread = 0; thread < cuda::threads_of_block; ++thread) {
        const Offset chunk = walk.chunk(b % walk.blocks_of_plane, step, thread);
        if (chunk * Chunk::elements >= walk.elements) continue;
        body(Chunk(walk, b / walk.blocks_of_plane, chunk));
      }
    }
  }
}

/// Applies `operation` as a launch would; returns its sums.
template <Ring R, class S, class Operation>
std::array<double, 8> run(const Operation& operation, const FieldView<S>& shape, int steps) {
  std::array<double, 8> sums{};
  cuda::Walk walk = cuda::walk_over<R>(shape, 1);
  walk.steps = steps;
  walk.blocks_of_plane =
      (walk.blocks_of_plane + static_cast<unsigned>(steps) - 1) / static_cast<unsigned>(steps);
  const auto one = [&](const auto& chunk) { operation(chunk, sums.data()); };
  if (!cuda::is_contiguous<R>(shape)) {
    for_each_chunk<cuda::PlanarChunk<R, S>>(walk, one);
  } else if (reinterpret_cast<std::uintptr_t>(shape.data) % 16 == 0) {
    for_each_chunk<cuda::ContiguousChunk<R, S, true>>(walk, one);
  } else {
    for_each_chunk<cuda::ContiguousChunk<R, S, false>>(walk, one);
  }
  return sums;
}

template <class Case>
class Chunks : public testing::Test {
 protected:
  using S = typename Case::S;
  static constexpr Ring R = Case::ring;

  /// Calls `test(shape, steps)` with a field of zeros, both aligned to 16 bytes and unaligned.
  template <class Test>
  void for_each_shape(const Test& test) {
    for (const Index rows : {0, 1, 31, 257, 1000, 5003}) {
      for (const int components : {1, 2, 3, 4, 8, 9}) {
        if (components % ring_size(R) != 0) continue;
        for (const VectorLayout layout : {VectorLayout::aos, VectorLayout::soa}) {
          for (const int shift : {0, 1}) {
            for (const int steps : {1, 3}) {
              SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(components) +
                           (layout == VectorLayout::aos ? " AoS" : " SoA") + ", shift " +
                           std::to_string(shift) + ", steps " + std::to_string(steps));
              Array<S> memory(static_cast<std::size_t>(rows) * components + 4);
              test(FieldView<S>(memory.data() + shift, rows, components, layout), steps);
              if (this->HasFailure()) return;
            }
          }
        }
      }
    }
  }
};
using Cases = testing::Types<Over<float, Ring::real>, Over<float, Ring::complex>,
                             Over<float, Ring::quaternion>, Over<double, Ring::real>,
                             Over<double, Ring::complex>, Over<double, Ring::quaternion>>;
TYPED_TEST_SUITE(Chunks, Cases);

/// y += 1, and counts the elements.
template <Ring R, class S>
struct Count {
  S* y;

  template <class Chunk>
  void operator()(const Chunk& chunk, double* sum) const {
    auto values = chunk.load(y);
    for (auto& element : values.at) {
      for (S& c : element.component) c += 1;
    }
    chunk.store(y, values);
    sum[0] += chunk.count;
  }
};

TYPED_TEST(Chunks, MeetEveryElementOnce) {
  using S = typename TestFixture::S;
  this->for_each_shape([&](const FieldView<S>& y, int steps) {
    const auto sums = run<TestFixture::R>(Count<TestFixture::R, S>{y.data}, y, steps);
    EXPECT_EQ(sums[0], static_cast<double>(y.scalars() / ring_size(TestFixture::R)));
    for (Offset i = 0; i < y.scalars(); ++i) ASSERT_EQ(y.data[i], S(1)) << i;
    // Nothing beyond the end is written: the array has more room, and was zero.
    EXPECT_EQ(y.data[y.scalars()], S(0));
    EXPECT_EQ(y.data[y.scalars() + 1], S(0));
  });
}

/// For rows shared by ranks: one block for each group of 256 rows, with no elements of other
/// groups.
TYPED_TEST(Chunks, OfGroupsMeetTheirRowsOnce) {
  using S = typename TestFixture::S;
  constexpr Ring R = TestFixture::R;
  this->for_each_shape([&](const FieldView<S>& y, int steps) {
    if (!y.is_aos() || steps > 1) return;
    const cuda::Walk walk = cuda::walk_over_groups<R>(y);
    ASSERT_EQ(walk.blocks(), static_cast<unsigned>(std::max<Index>(1, groups_of(y.size))));
    for (unsigned group = 0; group < walk.blocks(); ++group) {
      double elements = 0;
      for (int thread = 0; thread < cuda::threads_of_block; ++thread) {
        const Count<R, S> count{y.data};
        const auto visit = [&]<class Chunk>() {
          cuda::visit_chunks<Chunk>(walk, group, thread, count, &elements);
        };
        if (reinterpret_cast<std::uintptr_t>(y.data) % 16 == 0) {
          visit.template operator()<cuda::GroupedChunk<R, S, true>>();
        } else {
          visit.template operator()<cuda::GroupedChunk<R, S, false>>();
        }
      }
      const Index rows = std::min<Index>(rows_of_group, y.size - static_cast<Index>(group) * 256);
      EXPECT_EQ(elements, static_cast<double>(rows) * y.components / ring_size(R));
      const Offset met = (Offset(group) * rows_of_group + rows) * y.components;
      for (Offset i = 0; i < y.scalars() + 2; ++i) ASSERT_EQ(y.data[i], S(i < met ? 1 : 0)) << i;
    }
  });
}

TYPED_TEST(Chunks, AgreeWithTheCpu) {
  using S = typename TestFixture::S;
  constexpr Ring R = TestFixture::R;
  using C = Coefficient<R, S>;
  Seed seed(641);
  const Stream stream;
  this->for_each_shape([&](const FieldView<S>& p, int steps) {
    const auto scalars = static_cast<std::size_t>(p.scalars());
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<std::vector<S>> start(4, std::vector<S>(scalars));
    for (auto& values : start) {
      for (S& value : values) value = static_cast<S>(uniform(seed.generator));
    }
    const auto alpha = random_components<C>(seed.generator),
               beta = random_components<C>(seed.generator);
    auto mine = start, theirs = start;
    const auto at = [&](auto& fields, std::size_t i) {
      FieldView<S> view = p;
      view.data = fields[i].data();
      return view;
    };
    const auto read = [&](auto& fields, std::size_t i) {
      return FieldView<const S>(at(fields, i));
    };
    // Numbers are below 32, each with at most 16 roundings.
    const auto expect_same_fields = [&] {
      const double bound = 32 * 16 * static_cast<double>(std::numeric_limits<S>::epsilon());
      for (std::size_t f = 0; f < mine.size(); ++f) {
        for (std::size_t i = 0; i < scalars; ++i) {
          ASSERT_FALSE(!(std::abs(mine[f][i] - theirs[f][i]) <= bound)) << f << ", " << i;
        }
      }
    };
    Reduction<S> reduction(p.size);
    using cuda::Operand;

    const auto product = run<R>(cuda::Dot<R, S>{mine[0].data(), mine[1].data()}, p, steps);
    const auto expected = dot<R, S>(read(theirs, 0), read(theirs, 1), reduction, stream);
    for (int c = 0; c < expected.size; ++c) {
      // Numbers are below 1.
      EXPECT_NEAR(product[static_cast<std::size_t>(c)], expected.component[c],
                  4 * (static_cast<double>(scalars) + 8) * 1e-15);
    }

    run<R>(cuda::Axpby<R, S>{Operand<C>(alpha), mine[0].data(), Operand<C>(beta), mine[3].data()},
           p, steps);
    axpby<S, R>(alpha, read(theirs, 0), beta, at(theirs, 3), stream);
    double along[4];
    C minus;
    for (int k = 0; k < minus.size; ++k) {
      along[k] = static_cast<double>(beta.component[k]);
      minus.component[k] = -beta.component[k];
    }
    run<R>(cuda::SubtractMultiple<R, S>{mine[0].data(), along, mine[2].data()}, p, steps);
    axpby<S, R>(minus, read(theirs, 0), C::from_real(S(1)), at(theirs, 2), stream);
    run<Ring::real>(cuda::Randomize<S>{7, mine[1].data()}, p, steps);
    randomize<S>(at(theirs, 1), 7, stream);
    expect_same_fields();
  });
}

}  // namespace
