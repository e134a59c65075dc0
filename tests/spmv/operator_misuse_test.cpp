// Operands that share memory, wrong numbers of values, and null pointers in a matrix's arrays.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "heddle/operator.hpp"
#include "heddle/runtime/defined_operator.hpp"
#include "heddle/triplets.hpp"
#include "support/entry_definitions.hpp"
#include "support/expect_error.hpp"

namespace heddle::test {
namespace {

using E = real<double>;
using B = block<double, 3, 3>;

/// Rows of one to three entries, with components that count up from `first`.
template <class Entry>
CsrMatrix<Entry> band(Index n, double first = 1) {
  std::vector<Triplet<Entry>> triplets;
  const auto add = [&](Index row, Index column) {
    Entry entry;
    for (auto& c : entry.component) c = static_cast<stored_scalar_t<Entry>>(first++);
    triplets.push_back({row, column, entry});
  };
  for (Index i = 0; i < n; ++i) {
    add(i, i);
    if (i > 2) add(i, i - 3);
    if (i % 2 == 0 && i + 1 < n) add(i, i + 1);
  }
  return assemble<Entry>(n, n, std::span<const Triplet<Entry>>(triplets)).matrix;
}

template <class Entry>
std::vector<double> image_of_ones(const Operator<Entry>& matrix) {
  Field<Entry> x(matrix.columns()), y(matrix.rows());
  const Stream stream = Device::cpu().stream();
  fill<double>(1, x.view(), stream);
  matrix.apply(1, x.view(), 0, y.view(), stream);
  return y.scalars().to_host();
}

template <class A>
void expect_apart(const A& matrix, int components) {
  const Index n = matrix.rows();
  std::vector<double> memory(static_cast<std::size_t>(3 * n * components));
  const FieldView<double> x(memory.data(), n, components);
  const FieldView<double> shifted(memory.data() + 1, n, components);
  const FieldView<double> apart(memory.data() + n * components, n, components);
  Reduction<double> reduction(n, Device::cpu());
  const Stream stream = Device::cpu().stream();
  for (const FieldView<double>& y : {x, shifted}) {
    expect_error(ErrorKind::usage, [&] { matrix.apply(1, x, 0, y, stream); });
    expect_error(ErrorKind::usage, [&] { matrix.apply_dot(x, y, reduction, stream); });
    expect_error(ErrorKind::usage, [&] { matrix.residual(apart, x, y, reduction, stream); });
  }
  expect_error(ErrorKind::usage, [&] {
    matrix.residual(x, apart, shifted, reduction, stream);  // overlap, but are not equal
  });
  EXPECT_NO_THROW(matrix.apply(1, x, 0, apart, stream));
  EXPECT_NO_THROW(matrix.residual(apart, x, apart, reduction, stream));
}

TEST(OperatorMisuse, OperandsHaveMemoryOfTheirOwn) {
  expect_apart(Operator<E>(band<E>(20), parse_plan("CSR")), 1);
  expect_apart(Operator<B>(band<B>(20), parse_plan("CSR")), 3);
  expect_apart(
      DefinedOperator<double>(as_defined(band<quaternion<double>>(20), quaternion_definition()),
                              parse_plan("CSR"), Device::cpu()),
      4);
}

TEST(OperatorMisuse, PermuteNeedsAnotherPlace) {
  Field<E> x(4);
  Array<Index> order(4);
  for (Index i = 0; i < 4; ++i) order[static_cast<std::size_t>(i)] = 3 - i;
  const FieldView<double> reordered(x.scalars().data(), 4, 1, VectorLayout::aos,
                                    Basis::from_order(std::move(order), Device::cpu()));
  const Stream stream = Device::cpu().stream();
  expect_error(ErrorKind::usage, [&] { permute<double>(x.view(), reordered, 1, stream); });
  const FieldView<double> tail(x.scalars().data() + 1, 3), head(x.scalars().data(), 3);
  expect_error(ErrorKind::usage, [&] { copy<double>(head, tail, stream); });
  EXPECT_NO_THROW(permute<double>(x.view(), x.view(), 2, stream));
}

TEST(OperatorMisuse, NewValuesAreCounted) {
  const CsrMatrix<B> first = band<B>(9), second = band<B>(9, 100), longer = band<B>(10);
  Operator<B> matrix(first, parse_plan("Sl-32"));
  const auto expected = image_of_ones(Operator<B>(second, parse_plan("Sl-32")));
  const auto before = image_of_ones(matrix);
  ASSERT_NE(before, expected);

  const std::vector<double> scalars = second.values().to_host();
  std::vector<B> entries;
  for (Offset i = 0; i < second.entries(); ++i) entries.push_back(second.entry(i));
  const auto expect_taken = [&](const EntryValues<B>& values) {
    EXPECT_EQ(image_of_ones(Operator<B>(matrix, values)), expected);
    matrix.update_values(values);
    EXPECT_EQ(image_of_ones(matrix), expected);
    matrix.update_values(first);
    EXPECT_EQ(image_of_ones(matrix), before);
  };
  expect_taken(scalars);
  expect_taken(second.values());
  expect_taken({scalars.data(), scalars.size()});
  expect_taken(entries);
  expect_taken(second);

  const long long generation = matrix.generation();
  const std::span<const double> all = scalars;
  const std::span<const B> some(entries.data(), entries.size() - 1);
  const auto expect_left = [&](ErrorKind kind, const auto& values) {
    expect_error(kind, [&] { matrix.update_values(values); });
    expect_error(kind, [&] { Operator<B> other(matrix, values); });
    EXPECT_EQ(matrix.generation(), generation);
    EXPECT_EQ(image_of_ones(matrix), before);
  };
  expect_left(ErrorKind::size_mismatch, all.first(all.size() - 1));
  expect_left(ErrorKind::size_mismatch, longer.values());
  expect_left(ErrorKind::size_mismatch, some);
  expect_left(ErrorKind::size_mismatch, longer);
  expect_left(ErrorKind::size_mismatch, CsrMatrix<B>());
  expect_error(ErrorKind::usage, [&] { matrix.update_values({nullptr, scalars.size()}); });
  // The number of entries is the same, but the shape is another one.
  const CsrMatrix<B> wide(9, 10, first.offsets(), first.column(), first.values());
  expect_left(ErrorKind::size_mismatch, wide);
}

TEST(OperatorMisuse, EntriesAndMatricesAreRowMajorWhateverTheMatrixWas) {
  const CsrMatrix<B> matrix = band<B>(5);
  Array<double> by_columns = matrix.values();
  for (std::size_t i = 0; i < by_columns.size(); ++i) {
    const std::size_t k = i % 9;
    by_columns[i] = matrix.values()[i - k + k % 3 * 3 + k / 3];
  }
  CsrView<B> view = matrix;
  view.values = by_columns.data();
  view.order = column_major;
  Operator<B> from_columns(view, parse_plan("CSR"));
  const auto expected = image_of_ones(from_columns);
  for (const EntryValues<B>& values : {EntryValues<B>(by_columns), EntryValues<B>(matrix)}) {
    from_columns.update_values(values);
    EXPECT_EQ(image_of_ones(from_columns), expected);
  }
}

TEST(OperatorMisuse, ValuesAreCountedWhereTheyArePlaced) {
  const Operator<B> matrix(band<B>(9), parse_plan("Sl-32"));
  const SlicedPattern& pattern = matrix.pattern();
  const auto entries = static_cast<std::size_t>(pattern.entries) * 9;
  const auto slots = static_cast<std::size_t>(pattern.slots) * 9;
  std::vector<double> from(entries + 1), to(slots + 1);
  const auto place = [&](std::size_t given, std::size_t taken) {
    place_values_on_cpu<double, 9>(pattern, InnerLayout::aos, matrix.entry().stored(),
                                   std::as_bytes(std::span(from).first(given)),
                                   std::as_writable_bytes(std::span(to).first(taken)), Stream{});
  };
  EXPECT_NO_THROW(place(entries, slots));
  expect_error(ErrorKind::size_mismatch, [&] { place(entries - 1, slots); });
  expect_error(ErrorKind::size_mismatch, [&] { place(entries + 1, slots); });
  expect_error(ErrorKind::size_mismatch, [&] { place(entries, slots - 1); });
}

TEST(OperatorMisuse, NullPointersToAMatrixAreRefused) {
  const CsrMatrix<E> matrix = band<E>(6);
  const auto expect_refused_view = [](ErrorKind kind, const CsrView<E>& view) {
    expect_error(kind, [&] { Operator<E> refused(view, parse_plan("CSR")); });
  };
  CsrView<E> view = matrix;
  view.offsets = OffsetsView();
  expect_refused_view(ErrorKind::usage, view);
  view = matrix;
  view.column = nullptr;
  expect_refused_view(ErrorKind::usage, view);
  view = matrix;
  view.values = nullptr;
  expect_refused_view(ErrorKind::usage, view);
  view = matrix;
  view.rows = -1;
  expect_refused_view(ErrorKind::size_mismatch, view);
  EXPECT_EQ(Operator<E>(CsrView<E>{}, parse_plan("CSR")).rows(), 0);
  expect_error(ErrorKind::size_mismatch, [] { Basis::natural(-1); });
}

}  // namespace
}  // namespace heddle::test
