// Approximate inverses' values as computed by a GPU, compared with the CPU's, and refused inputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "heddle/approximate_inverse.hpp"
#include "heddle/bicgstab.hpp"
#include "heddle/block_jacobi.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/operator.hpp"
#include "heddle/runtime/defined_operator.hpp"
#include "support/distance.hpp"
#include "support/entry_definitions.hpp"
#include "support/gpu.hpp"
#include "support/message_of.hpp"
#include "support/random_matrix.hpp"

namespace inverse_values_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

/// Every kind of layout and of order.
const char* const plans[] = {"CSR",
                             "pJDS",
                             "C=32,sigma=1",
                             "order=rcm,C=4,sigma=16,vector=soa",
                             "C=4,sigma=16,use=scatter",
                             "C=8,T=2,sigma=8,inner=soa",
                             "C=32,T=4,sigma=n,inner=aosoa16",
                             "C=16,T=4,inner=aosoa,use=scatter",
                             "C=n",
                             "K2rs",
                             "pJDS,iteration-precision=single"};

/// The largest difference relative to the largest value, over all stored values, padding included.
template <class S>
double difference(const detail::SlicedOperator<S>& there, const detail::SlicedOperator<S>& host) {
  const std::size_t size = there.stored_values().size();
  if (size != host.stored_values().size()) return std::nan("");
  std::vector<std::byte> bytes(size);
  detail::copy_bytes(bytes.data(), there.stored_values().data(), size, there.device().stream());
  double most = 0, largest = 0;
  const auto compare = [&]<class T>(T /*one*/) {
    for (std::size_t at = 0; at < size; at += sizeof(T)) {
      T a, b;
      std::memcpy(&a, bytes.data() + at, sizeof(T));
      std::memcpy(&b, host.stored_values().data() + at, sizeof(T));
      const double defect = std::abs(double(a) - double(b));
      if (!(defect <= most)) most = defect;
      largest = std::max(largest, std::abs(double(b)));
    }
  };
  if (there.entry().sizes.stored_bytes == sizeof(float)) {
    compare(float{});
  } else {
    compare(double{});
  }
  return most / largest;
}

/// The tolerance: both devices compute in double.
template <class S>
double digits_of(const detail::SlicedOperator<S>& of) {
  return of.entry().sizes.stored_bytes == sizeof(float) ? 2e-7 : 1e-11;
}

template <class S>
void expect_near(const detail::SlicedOperator<S>& there, const detail::SlicedOperator<S>& host,
                 const char* what) {
  const double defect = difference(there, host);
  EXPECT_FALSE(!(defect <= digits_of(there))) << what << ": " << defect;
}

template <class S>
void expect_same_fsai(const detail::SlicedOperator<S>& A, const detail::SlicedOperator<S>& on_cpu,
                      int power) {
  const Fsai<S> there(A, power), host(on_cpu, power);
  expect_near(there.factor(), host.factor(), "G");
  expect_near(there.adjoint_factor(), host.adjoint_factor(), "G*");
}
template <class S>
void expect_same_isai(const detail::SlicedOperator<S>& A, const detail::SlicedOperator<S>& on_cpu,
                      int power) {
  const Isai<S> there(A, power), host(on_cpu, power);
  expect_near(there.inverse(), host.inverse(), "M");
}

/// Natural groups, groups of a few rows, and single rows.
template <class S>
void expect_same_blocks(const detail::SlicedOperator<S>& A,
                        const detail::SlicedOperator<S>& on_cpu) {
  for (const int entries : {0, 3, 1}) {
    SCOPED_TRACE(entries);
    const BlockJacobi<S> there(A, entries), host(on_cpu, entries);
    expect_near(there.inverse(), host.inverse(), "blocks");
  }
}
template <class S>
std::vector<std::byte> bytes_of(const detail::SlicedOperator<S>& of) {
  std::vector<std::byte> all(of.stored_values().size());
  detail::copy_bytes(all.data(), of.stored_values().data(), all.size(), of.device().stream());
  return all;
}

template <class E>
class InverseValuesOnGpu : public OnGpu {};
using Entries = testing::Types<real<double>, complex<double>, quaternion<double>,
                               block<double, 2, 2>, block<double, 3, 3>, block<double, 4, 4>,
                               block<double, 6, 6>, block<complex<double>, 3, 3>, real<float>,
                               quaternion<float>, block<float, 3, 3>>;
TYPED_TEST_SUITE(InverseValuesOnGpu, Entries);

/// Power 1 gives rows of a few entries, power 3 rows of up to all columns.
TYPED_TEST(InverseValuesOnGpu, AreThoseOfTheCpu) {
  using E = TypeParam;
  Seed seed(4601);
  const auto matrix = random_positive_definite_matrix<E>(203, 4, seed.generator, 0.8);
  for (const std::string plan : plans) {
    SCOPED_TRACE(plan);
    if (sizeof(stored_scalar_t<E>) == sizeof(float) && plan.ends_with("single")) continue;
    const Operator<E> on_cpu(matrix, parse_plan(plan)), A(matrix, parse_plan(plan), this->device);
    for (const int power : {1, 2}) {
      expect_same_fsai(A, on_cpu, power);
      expect_same_isai(A, on_cpu, power);
    }
    expect_same_blocks(A, on_cpu);
  }
  const Operator<E> on_cpu(matrix, Plan{}), A(matrix, Plan{}, this->device);
  expect_same_fsai(A, on_cpu, 3);
  expect_same_isai(A, on_cpu, 3);
}

/// An arrow: its last rows name every column, more than shared memory can hold.
TYPED_TEST(InverseValuesOnGpu, OfRowsOfEveryLength) {
  using E = TypeParam;
  constexpr int K = E::components;
  Seed seed(4602);
  constexpr Index n = 301;
  Pattern pattern{n, n, {0}, {}};
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const bool is_long = std::max(i, j) >= n - 2 || (std::max(i, j) % 100 == 99);
      if (i == j || is_long || std::max(i, j) - std::min(i, j) < std::min(i, j) % 13) {
        pattern.column.push_back(j);
      }
    }
    pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
  }
  auto matrix = random_matrix_of<E>(pattern, seed.generator);
  const auto entry = [&](Index i, Index j) {
    const auto begin = pattern.column.begin() + pattern.offsets[std::size_t(i)];
    const auto end = pattern.column.begin() + pattern.offsets[std::size_t(i) + 1];
    return std::lower_bound(begin, end, j) - pattern.column.begin();
  };
  for (Index i = 0; i < n; ++i) {
    for (Offset at = pattern.offsets[std::size_t(i)]; at < pattern.offsets[std::size_t(i) + 1];
         ++at) {
      const Index j = pattern.column[std::size_t(at)];
      auto* const values = matrix.values().data() + at * K;
      if (i == j) {
        const E one = one_entry<E>();
        for (int k = 0; k < K; ++k) {
          values[k] = static_cast<stored_scalar_t<E>>(2000 * double(one.component[k]));
        }
      } else if (j < i) {
        if constexpr (requires(E e) { adjoint(e); }) {
          const E other = adjoint(matrix.entry(entry(j, i)));
          std::copy_n(other.component, K, values);
        }
      }
    }
  }
  for (const char* plan : {"CSR", "pJDS", "C=32,T=4,sigma=n,inner=aosoa16"}) {
    SCOPED_TRACE(plan);
    const Operator<E> on_cpu(matrix, parse_plan(plan)), A(matrix, parse_plan(plan), this->device);
    if constexpr (requires(E e) { adjoint(e); }) expect_same_fsai(A, on_cpu, 1);
    // Long rows make the CPU slow for systems of blocks.
    if (K <= 9) expect_same_isai(A, on_cpu, 1);
  }
}

class InverseValues : public OnGpu {};

TEST_F(InverseValues, OfDualQuaternions) {
  using E = dual_quaternion<double>;
  Seed seed(4603);
  const auto matrix = random_dominant_matrix<E>({.rows = 97, .columns = 97}, seed.generator);
  for (const char* plan : {"CSR", "pJDS", "order=rcm,C=8,inner=aosoa16"}) {
    SCOPED_TRACE(plan);
    const Operator<E> on_cpu(matrix, parse_plan(plan)), A(matrix, parse_plan(plan), device);
    expect_same_isai(A, on_cpu, 1);
    expect_same_isai(A, on_cpu, 2);
    expect_same_blocks(A, on_cpu);
  }
}

/// Natural groups of a dense Hermitian, symmetric or other block, of as many numbers as may be.
TEST_F(InverseValues, OfBlocksKeepTheirSymmetry) {
  using E = complex<double>;
  constexpr std::size_t n = 16;
  Seed seed(4608);
  auto matrix = random_positive_definite_matrix<E>(n, 40, seed.generator);
  for (const double sign : {-1.0, 1.0}) {
    SCOPED_TRACE(sign);
    const Operator<E> on_cpu(matrix, parse_plan("CSR")), A(matrix, parse_plan("CSR"), device);
    const BlockJacobi<double> blocks(A, n);
    expect_near(blocks.inverse(), BlockJacobi<double>(on_cpu, n).inverse(), "blocks");
    const std::vector<std::byte> bytes = bytes_of<double>(blocks.inverse());
    std::vector<double> values(2 * n * n);
    ASSERT_EQ(bytes.size(), values.size() * sizeof(double));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        EXPECT_EQ(values[2 * (n * i + j)], values[2 * (n * j + i)]);
        EXPECT_EQ(values[2 * (n * i + j) + 1], sign * values[2 * (n * j + i) + 1]);
      }
    }
    // The next time, symmetric: no longer conjugated below the diagonal.
    for (Index i = 0; i < Index(n); ++i) {
      for (Offset at = matrix.offsets()[std::size_t(i)]; at < matrix.offsets()[std::size_t(i) + 1];
           ++at) {
        if (matrix.column()[std::size_t(at)] < i) matrix.values()[std::size_t(2 * at + 1)] *= -1;
      }
    }
  }
}

TEST_F(InverseValues, OfDefinedEntries) {
  Seed seed(4604);
  for (const char* plan : {"pJDS", "order=rcm,C=8,inner=aosoa16"}) {
    SCOPED_TRACE(plan);
    const auto compare = [&](const auto& matrix, const Definition& definition, bool has_factor) {
      const DefinedOperator<double> there(as_defined(matrix, definition), parse_plan(plan), device),
          host(as_defined(matrix, definition), parse_plan(plan), Device::cpu());
      expect_same_isai<double>(there, host, 2);
      expect_same_blocks<double>(there, host);
      if (has_factor) expect_same_fsai<double>(there, host, 2);
    };
    compare(random_positive_definite_matrix<quaternion<double>>(150, 4, seed.generator),
            quaternion_definition(), true);
    const auto split =
        random_dominant_matrix<complex<double>>({.rows = 40, .columns = 40}, seed.generator);
    compare(split, split_complex_definition(), false);
    // Its Cholesky factor is not of this kind: refused in the same words as on the CPU.
    const auto refusal = [&](const Device& where) {
      const DefinedOperator<double> A(as_defined(split, split_complex_definition()),
                                      parse_plan(plan), where);
      return message_of([&] { Fsai<double>{A}; });
    };
    EXPECT_EQ(refusal(device), refusal(Device::cpu()));
  }
}

TEST_F(InverseValues, AreRefusedInTheWordsOfTheCpu) {
  using E = block<double, 2, 2>;
  Seed seed(4605);
  const auto good = random_positive_definite_matrix<E>(90, 4, seed.generator);
  const auto with_diagonal = [&](std::vector<Index> rows, double value) {
    auto matrix = good;
    for (const Index row : rows) {
      for (Offset at = matrix.offsets()[std::size_t(row)];
           at < matrix.offsets()[std::size_t(row) + 1]; ++at) {
        const bool is_diagonal = matrix.column()[std::size_t(at)] == row;
        double* const entry = matrix.values().data() + at * 4;
        if (is_diagonal || value == 0) std::fill_n(entry, 4, 0.0);
        if (is_diagonal) entry[0] = entry[3] = value;
      }
    }
    return matrix;
  };
  for (const char* plan :
       {"CSR", "pJDS", "order=rcm,C=4,sigma=16,vector=soa", "C=4,sigma=16,use=scatter"}) {
    SCOPED_TRACE(plan);
    for (const double value : {-1.0, 0.0, std::nan(""), 1e-320}) {
      SCOPED_TRACE(value);
      const auto matrix = with_diagonal({71, 17, 53}, value);
      const auto words = [&](const Device& where, bool is_factor) {
        Operator<E> A(good, parse_plan(plan), where);
        Fsai<double> fsai(A);
        Isai<double> isai(A);
        A.update_values(matrix);
        return message_of([&] {
          if (is_factor) {
            fsai.refresh();
          } else {
            isai.refresh();
          }
        });
      };
      const auto words_of_blocks = [&](const Device& where) {
        Operator<E> A(good, parse_plan(plan), where);
        BlockJacobi<double> blocks(A, 3);
        A.update_values(matrix);
        return message_of([&] { blocks.refresh(); });
      };
      EXPECT_EQ(words(device, true), words(Device::cpu(), true));
      EXPECT_EQ(words_of_blocks(device), words_of_blocks(Device::cpu()));
      if (value > -1) {
        EXPECT_EQ(words(device, false), words(Device::cpu(), false));
      }
    }
  }
}

/// Renewed in place, with the same bits as a new inverse.
TEST_F(InverseValues, AreRenewedInPlace) {
  using E = block<double, 3, 3>;
  Seed seed(4606);
  auto matrix = random_positive_definite_matrix<E>(300, 5, seed.generator, 0.8);
  Operator<E> A(matrix, parse_plan("pJDS"), device);
  Fsai<double> fsai(A, 2);
  Isai<double> isai(A, 2);
  BlockJacobi<double> blocks(A);
  const std::byte* const places[] = {
      fsai.factor().stored_values().data(), fsai.adjoint_factor().stored_values().data(),
      isai.inverse().stored_values().data(), blocks.inverse().stored_values().data()};
  for (double& value : matrix.values()) value *= 1.5;
  A.update_values(matrix);
  fsai.refresh();
  isai.refresh();
  blocks.refresh();
  const Fsai<double> other(A, 2);
  const Isai<double> general(A, 2);
  const BlockJacobi<double> other_blocks(A);
  EXPECT_EQ(bytes_of<double>(fsai.factor()), bytes_of<double>(other.factor()));
  EXPECT_EQ(bytes_of<double>(fsai.adjoint_factor()), bytes_of<double>(other.adjoint_factor()));
  EXPECT_EQ(bytes_of<double>(isai.inverse()), bytes_of<double>(general.inverse()));
  EXPECT_EQ(fsai.factor().stored_values().data(), places[0]);
  EXPECT_EQ(fsai.adjoint_factor().stored_values().data(), places[1]);
  EXPECT_EQ(isai.inverse().stored_values().data(), places[2]);
  EXPECT_EQ(bytes_of<double>(blocks.inverse()), bytes_of<double>(other_blocks.inverse()));
  EXPECT_EQ(blocks.inverse().stored_values().data(), places[3]);
}

/// New values and their inverse within a graph.
template <class Inverse>
void expect_renewed_by_a_graph(Status of_indefinite) {
  using E = complex<double>;
  Seed seed(4607);
  constexpr Index rows = 400;
  const OwnStream stream;
  const Device own = Device::cuda(0, stream.get());
  const auto first = random_positive_definite_matrix<E>(rows, 5, seed.generator, 0.8);
  Operator<E> A(first, parse_plan("pJDS,loop=graph"), own);
  ConjugateGradient<double> solver(A, Inverse(A));
  Array<double> values(std::span<const double>(first.values()), own);
  Field<E> b(rows, own), x(rows, own);
  Array<DeviceReport> report(1, own);
  const auto queue = [&] {
    A.update_values(values);
    solver.enqueue(b.view(), x.view(), report.data());
  };
  solver.prepare_enqueue(b.view(), x.view(), report.data());
  own.synchronize();
  const OwnGraph graph(stream.get(), queue);
  if (testing::Test::HasFailure()) return;
  for (int replay = 0; replay < 3; ++replay) {
    SCOPED_TRACE(replay);
    auto matrix = first;
    for (double& value : matrix.values()) value *= 1 + 1000 * replay;
    const Field<E> right = random_field<E>(rows, seed.generator);
    detail::copy_bytes(values.data(), matrix.values().data(), values.size() * sizeof(double),
                       own.stream());
    copy<double>(right.view(), b.view(), own.stream());
    fill<double>(0.0, x.view(), own.stream());
    graph.launch(stream.get());
    own.synchronize();
    EXPECT_EQ(report.to_host()[0].status, Status::converged);
    const Operator<E> on_cpu(matrix, parse_plan("pJDS"));
    ConjugateGradient<double> other(on_cpu, Inverse(on_cpu));
    Field<E> expected(rows);
    const Report host = other.solve(right.view(), expected.view());
    ASSERT_TRUE(host.converged()) << host;
    EXPECT_LE(std::abs(report.to_host()[0].iterations - host.iterations), 3);
    const std::vector<double> reference(expected.scalars().begin(), expected.scalars().end());
    EXPECT_FALSE(!(distance(x.scalars().to_host(), reference) <= 1e-8));
  }
  // An indefinite matrix ends the solve.
  std::vector<double> negative(first.values().begin(), first.values().end());
  for (double& value : negative) value = -value;
  detail::copy_bytes(values.data(), negative.data(), negative.size() * sizeof(double),
                     own.stream());
  graph.launch(stream.get());
  own.synchronize();
  EXPECT_EQ(report.to_host()[0].status, of_indefinite);
}

TEST_F(InverseValues, AreRenewedByAGraph) {
  expect_renewed_by_a_graph<Fsai<double>>(Status::breakdown);
}
TEST_F(InverseValues, OfBlocksAreRenewedByAGraph) {
  expect_renewed_by_a_graph<BlockJacobi<double>>(Status::indefinite);
}

}  // namespace
}  // namespace inverse_values_gpu
