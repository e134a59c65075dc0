// Impossible fields and views are refused; a moved-from field is empty; views that share memory are
// detected.
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "heddle/entries.hpp"
#include "heddle/field.hpp"
#include "heddle/vector_operations.hpp"

namespace {

using namespace heddle;
using Q = quaternion<double>;

template <class F>
void expect_refused(ErrorKind kind, const F& f) {
  try {
    f();
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
  }
}

TEST(FieldMisuse, RefusesSizesThatNoFieldHas) {
  expect_refused(ErrorKind::size_mismatch, [] { Field<Q> field(-5); });
  expect_refused(ErrorKind::size_mismatch,
                 [] { Field<Q> field(4, Device::cpu(), VectorLayout::aos, Basis::natural(5)); });
  std::vector<double> scalars(8);
  expect_refused(ErrorKind::size_mismatch, [&] { FieldView<double> view(scalars.data(), -1); });
  expect_refused(ErrorKind::size_mismatch, [&] { FieldView<double> view(scalars.data(), 8, 0); });
  expect_refused(ErrorKind::size_mismatch, [&] {
    FieldView<double> view(scalars.data(), 2, 4, VectorLayout::aos, Basis::natural(3));
  });
  expect_refused(ErrorKind::memory, [] { Array<double> array(~std::size_t(0) / 4); });
  expect_refused(ErrorKind::memory, [] { Array<char> array(~std::size_t(0) - 64); });
}

TEST(FieldMisuse, RefusesNullPointersToScalars) {
  expect_refused(ErrorKind::usage, [] { FieldView<double> view(nullptr, 3); });
  FieldView<const double> none(nullptr, 0);
  EXPECT_EQ(none.scalars(), 0);
  // Members that are set one by one are checked when the view is used.
  Field<real<double>> y(3);
  FieldView<double> made;
  made.size = 3;
  expect_refused(ErrorKind::usage, [&] { copy<double>(y, made, Device::cpu().stream()); });
}

TEST(FieldMisuse, WhatWasMovedFromIsEmpty) {
  Array<int> array(7);
  const Array<int> taken(std::move(array));
  EXPECT_EQ(taken.size(), 7u);
  EXPECT_EQ(array.size(), 0u);
  EXPECT_TRUE(array.span().empty());
  array = Array<int>(3);
  EXPECT_EQ(array.size(), 3u);

  Field<Q> field(6, Device::cpu(), VectorLayout::soa, Basis::natural(6));
  const Field<Q> moved = std::move(field);
  EXPECT_EQ(moved.size(), 6);
  EXPECT_EQ(field.size(), 0);
  EXPECT_EQ(field.view().scalars(), 0);
  const Field<Q> copied = field;
  EXPECT_EQ(copied.size(), 0);
  field = moved;
  EXPECT_EQ(field.size(), 6);
}

/// The addresses of a view's scalars, one by one.
std::set<const double*> places(const FieldView<double>& view) {
  std::set<const double*> all;
  for (Index row = 0; row < view.size; ++row) {
    for (int k = 0; k < view.components; ++k) all.insert(&view.at(row, k));
  }
  return all;
}

TEST(FieldMisuse, OverlapIsWhatTheScalarsSay) {
  std::vector<double> memory(200);
  struct Shape {
    Index size;
    int components;
    Offset entry_stride;
    Offset component_stride;
  };
  const Shape shapes[] = {{5, 1, 1, 1},  {5, 1, 3, 1},  {4, 3, 3, 1}, {4, 3, 1, 4}, {4, 2, 6, 1},
                          {4, 2, 6, 2},  {3, 2, 1, 11}, {4, 2, 7, 3}, {4, 3, 9, 3}, {5, 1, -2, 1},
                          {4, 2, -6, 1}, {0, 2, 2, 1},  {1, 4, 4, 1}};
  for (const Shape& shape : shapes) {
    for (int apart = -60; apart <= 60; ++apart) {
      FieldView<double> a;
      a.data = memory.data() + 90;
      a.size = shape.size;
      a.components = shape.components;
      a.entry_stride = shape.entry_stride;
      a.component_stride = shape.component_stride;
      FieldView<double> b = a;
      b.data += apart;
      const auto of_a = places(a);
      bool share = false;
      for (const double* place : places(b)) share = share || of_a.count(place) > 0;
      EXPECT_EQ(overlap(a, b), share) << shape.entry_stride << " " << apart;
      EXPECT_EQ(overlap(FieldView<const double>(b), a), share);
    }
  }
  // With other strides, the address ranges decide.
  const FieldView<double> row(memory.data(), 10), block(memory.data() + 9, 4, 2),
      after(memory.data() + 10, 4, 2);
  EXPECT_TRUE(overlap(row, block));
  EXPECT_FALSE(overlap(row, after));
}

#if HEDDLE_ASSERTIONS
TEST(FieldMisuse, ChecksElementAccessWithoutNdebug) {
  Field<Q> field(3);
  const auto view = field.view();
  EXPECT_DEATH(view.at(3, 0), "does not hold");
  EXPECT_DEATH(view.at(0, 4), "does not hold");
  EXPECT_DEATH(view.at(-1, 0), "does not hold");
  EXPECT_DEATH(field[3], "does not hold");
  EXPECT_DEATH(field.scalars()[12], "does not hold");
}
#endif

}  // namespace
