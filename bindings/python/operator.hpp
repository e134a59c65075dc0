// Operators and preconditioners for Python, from matrices and from functions.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "arrays.hpp"
#include "call.hpp"
#include "gpu_arrays.hpp"
#include "heddle.h"
#include "matrix.hpp"
#include "settings.hpp"

namespace heddle_python {

/// The Python function at `place` of the tuple `user`: `function(x, y)` writes y; x and y are the
/// solver's own memory. On a GPU the function gets their addresses.
template <int place>
int call_python(void* user, const heddle_view* x, const heddle_view* y) {
  if (Absence::is_over()) return 1;
  const nb::gil_scoped_acquire held;
  try {
    const std::int32_t scalars = heddle_row_scalars(x->entry);
    const nb::handle function = PyTuple_GetItem(static_cast<PyObject*>(user), place);
    if (x->location == HEDDLE_DEVICE) {
      function(reinterpret_cast<std::uintptr_t>(x->data),
               reinterpret_cast<std::uintptr_t>(y->data));
      return 0;
    }
    const nb::object none = nb::none();
    function(array_over(x->data, x->count, scalars, x->entry, x->precision, none, false),
             array_over(y->data, y->count, scalars, y->entry, y->precision, none, true));
    return 0;
  } catch (...) {
    raised = std::current_exception();
    return 1;
  }
}

struct Operator {
  SharedContext context;
  Owned<heddle_operator, heddle_operator_destroy> A;
  nb::object function;  // empty for an operator of a matrix
  heddle_entry entry = HEDDLE_REAL;
  heddle_precision precision = HEDDLE_DOUBLE;
  std::int64_t rows = 0, columns = 0;

  std::array<nb::object*, 1> references() { return {&function}; }
  static Operator of_matrix(const Matrix& matrix, const Settings& settings) {
    Operator made;
    made.context = matrix.context;
    const heddle_view values = matrix.arrays().second;
    made.entry = values.entry;
    made.precision = values.precision;
    call(made.context,
         [&] { return heddle_operator_create(matrix.matrix.own, settings.get(), &made.A.own); });
    made.find_size();
    return made;
  }
  /// `adjoint` may be None.
  static Operator of_function(std::int64_t rows, std::int64_t columns, const std::string& entry,
                              const std::string& precision, const nb::object& function,
                              const nb::object& adjoint, const Settings& settings) {
    Operator made;
    made.context = std::make_shared<Context>();
    made.entry = entry_named(entry);
    made.precision = precision_named(precision);
    made.function = nb::make_tuple(function, adjoint);
    check(made.context,
          heddle_operator_from_callbacks(made.context->own, settings.get(), rows, columns,
                                         made.entry, made.precision, call_python<0>,
                                         adjoint.is_none() ? nullptr : call_python<1>,
                                         made.function.ptr(), &made.A.own));
    made.find_size();
    return made;
  }
  /// An operator that `make(result)` makes from this one.
  template <class F>
  Operator other(const F& make) const {
    Operator made;
    made.context = context;
    made.function = function;
    made.entry = entry;
    made.precision = precision;
    call(context, [&] { return make(&made.A.own); });
    made.find_size();
    return made;
  }
  Operator adjoint() const {
    return other([&](heddle_operator** made) { return heddle_operator_adjoint(A.own, made); });
  }
  Operator shifted(double sigma) const {
    return other(
        [&](heddle_operator** made) { return heddle_operator_shifted(A.own, sigma, made); });
  }
  /// For a tree: the operator with entries set, added and removed. Each kind is given by rows,
  /// columns and, except the last, entries.
  Operator edited(const Contiguous& set_row, const Contiguous& set_column,
                  const Contiguous& set_data, const Contiguous& add_row,
                  const Contiguous& add_column, const Contiguous& add_data,
                  const Contiguous& remove_row, const Contiguous& remove_column) const {
    const auto places = [&](const Contiguous& row, const Contiguous& column) {
      heddle_pattern pattern{};
      pattern.struct_size = sizeof pattern;
      pattern.rows = rows;
      pattern.columns = columns;
      pattern.entries = static_cast<std::int64_t>(row.size());
      pattern.row = row.data();
      pattern.column = column.data();
      pattern.row_bits = index_bits(row, "row");
      pattern.column_bits = index_bits(column, "col");
      return pattern;
    };
    const heddle_pattern set = places(set_row, set_column), add = places(add_row, add_column),
                         remove = places(remove_row, remove_column);
    const heddle_view to = values_of(set_data, entry), more = values_of(add_data, entry);
    const heddle_edits edits{sizeof edits, &set, &to, &add, &more, &remove};
    return other(
        [&](heddle_operator** made) { return heddle_operator_edited(A.own, &edits, made); });
  }
  void find_size() { check(context, heddle_operator_size(A.own, &rows, &columns)); }
  void update_values(const Contiguous& data) {
    const heddle_view values = values_of(data, entry);
    call(context, [&] { return heddle_operator_update_values(A.own, &values); });
  }
  /// Takes `entries` entries from the GPU's memory, which have been read when this returns. With a
  /// stream they are read once it has come so far, and before the next solve is enqueued there.
  void update_values_at(const Place& data, std::int64_t entries, std::uintptr_t stream) {
    const heddle_view values = view_at(data, entries, entry, precision);
    if (stream != 0) wait_for(stream);
    call(context, [&] {
      const heddle_status status = heddle_operator_update_values(A.own, &values);
      return status != HEDDLE_OK || stream != 0 ? status : heddle_operator_synchronize(A.own);
    });
  }
  void apply(const Contiguous& x, const Writable& y) const {
    const std::int32_t scalars = heddle_row_scalars(entry);
    const heddle_view from = view_of(x, entry, scalars, "x"), to = view_of(y, entry, scalars, "y");
    call(context, [&] { return heddle_operator_apply(A.own, &from, &to); });
  }
  void apply_at(const Place& x, const Place& y) const {
    const heddle_view from = view_at(x, columns, entry, precision),
                      to = view_at(y, rows, entry, precision);
    call(context, [&] { return heddle_operator_apply(A.own, &from, &to); });
  }
  std::int32_t gpu() const { return heddle_operator_gpu(A.own); }
  std::uintptr_t stream() const {
    return reinterpret_cast<std::uintptr_t>(heddle_operator_stream(A.own));
  }
  /// Quartiles of seconds, the same with cold caches, bytes moved, and the triad's bandwidth.
  nb::tuple measure(int repetitions, bool cold, bool triad) const {
    heddle_product_times times{};
    times.struct_size = sizeof times;
    call(context, [&] {
      return heddle_operator_measure(A.own, repetitions, cold ? 1 : 0, triad ? 1 : 0, &times);
    });
    return nb::make_tuple(times.lower_quartile, times.median, times.upper_quartile,
                          times.cold_lower_quartile, times.cold_median, times.cold_upper_quartile,
                          times.moved_bytes, times.triad_bandwidth);
  }
  void wait_for(std::uintptr_t stream) const {
    call(context, [&] { return heddle_operator_wait_for(A.own, reinterpret_cast<void*>(stream)); });
  }
  std::string plan() const {
    return text_of(
        [&](char* to, std::size_t capacity) { return heddle_operator_plan(A.own, to, capacity); });
  }
};

struct Preconditioner {
  SharedContext context;
  Owned<heddle_preconditioner, heddle_preconditioner_destroy> preconditioner;
  nb::object function;
  heddle_entry entry = HEDDLE_REAL;
  heddle_precision precision = HEDDLE_DOUBLE;
  std::int64_t rows = 0;

  Preconditioner() = default;
  explicit Preconditioner(const Operator& A)
      : context(A.context), entry(A.entry), precision(A.precision), rows(A.rows) {}

  std::array<nb::object*, 1> references() { return {&function}; }
  static Preconditioner named(const Operator& A, const std::string& text,
                              const Settings& settings) {
    Preconditioner made(A);
    settings.point_to_arrays(A.rows, A.entry, A.precision);
    call(made.context, [&] {
      return heddle_preconditioner_create(A.A.own, c_text(text), settings.get(),
                                          &made.preconditioner.own);
    });
    return made;
  }
  static Preconditioner of_function(const Operator& A, const nb::object& function, bool varies) {
    Preconditioner made(A);
    made.function = nb::make_tuple(function);
    check(made.context,
          heddle_preconditioner_from_callback(A.A.own, call_python<0>, made.function.ptr(),
                                              varies ? 1 : 0, &made.preconditioner.own));
    return made;
  }
  /// `stream`: a cudaStream_t, 0 for the operator's own.
  void apply_at(const Place& r, const Place& z, bool adjoint, std::uintptr_t stream) const {
    const heddle_view from = view_at(r, rows, entry, precision),
                      to = view_at(z, rows, entry, precision);
    const auto apply = adjoint ? heddle_preconditioner_apply_adjoint : heddle_preconditioner_apply;
    call(context,
         [&] { return apply(preconditioner.own, &from, &to, reinterpret_cast<void*>(stream)); });
  }
  void update(std::uintptr_t stream) const {
    call(context, [&] {
      return heddle_preconditioner_update(preconditioner.own, reinterpret_cast<void*>(stream));
    });
  }
};

}  // namespace heddle_python
