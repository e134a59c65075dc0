// The module heddle._heddle: the objects of heddle.h, with the interpreter's lock given up while
// they work. heddle/*.py makes of it what users see.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "heddle.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

/// What a callback raised in this thread, to be raised again once the library has returned.
thread_local std::exception_ptr raised;

void raise_again() {
  if (raised) std::rethrow_exception(std::exchange(raised, nullptr));
}

[[noreturn]] void raise(heddle_status status, const std::string& message) {
  const nb::object error =
      nb::module_::import_("heddle._errors").attr("of_status")(static_cast<int>(status), message);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

/// Of a matrix, and of all that is made of it.
struct Context {
  heddle_context* own = nullptr;
  Context() {
    if (heddle_context_create(&own) != HEDDLE_OK) throw std::bad_alloc();
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { heddle_context_destroy(&own); }
};
using SharedContext = std::shared_ptr<Context>;

void check(const SharedContext& context, heddle_status status) {
  raise_again();
  if (status == HEDDLE_OK) return;
  std::string message(heddle_message(context->own, nullptr, 0), '\0');
  heddle_message(context->own, message.data(), message.size() + 1);
  raise(status, message);
}

/// Calls the library without the interpreter's lock.
template <class F>
void call(const SharedContext& context, const F& f) {
  heddle_status status{};
  {
    const nb::gil_scoped_release released;
    status = f();
  }
  check(context, status);
}

/// Owns an object of heddle.h.
template <class T, void (*destroy)(T**)>
struct Owned {
  T* own = nullptr;
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Owned(Owned&& other) noexcept : own(std::exchange(other.own, nullptr)) {}
  ~Owned() { destroy(&own); }
};

// Arrays ------------------------------------------------------------------------------------------

using Contiguous = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Writable = nb::ndarray<nb::c_contig, nb::device::cpu>;

/// Scalars of an array of real or complex numbers, and their precision.
template <class A>
heddle_view view_of(const A& array, heddle_entry entry, std::int32_t scalars, const char* name) {
  const nb::dlpack::dtype type = array.dtype();
  const bool is_complex = type.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Complex);
  const bool is_real = type.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float);
  const int bits = is_complex ? type.bits / 2 : type.bits;
  if (!(is_real || is_complex) || (bits != 32 && bits != 64) || type.lanes != 1) {
    raise(HEDDLE_ERROR_SIZE_MISMATCH,
          std::string(name) + " is an array of neither floats nor doubles");
  }
  const std::size_t numbers = array.size() * (is_complex ? 2 : 1);
  if (numbers % static_cast<std::size_t>(scalars) != 0) {
    raise(HEDDLE_ERROR_SIZE_MISMATCH, std::string(name) + " has " + std::to_string(numbers) +
                                          " scalars, which do not fill rows or entries of " +
                                          std::to_string(scalars));
  }
  return {const_cast<void*>(static_cast<const void*>(array.data())),
          static_cast<std::int64_t>(numbers / static_cast<std::size_t>(scalars)),
          entry,
          bits == 32 ? HEDDLE_SINGLE : HEDDLE_DOUBLE,
          HEDDLE_ROW_MAJOR,
          HEDDLE_HOST};
}
template <class A>
heddle_view values_of(const A& array, heddle_entry entry) {
  return view_of(array, entry, heddle_entry_scalars(entry), "data");
}

std::int32_t index_bits(const Contiguous& indices, const char* name) {
  const nb::dlpack::dtype type = indices.dtype();
  if (type.code != static_cast<std::uint8_t>(nb::dlpack::dtype_code::Int) ||
      (type.bits != 32 && type.bits != 64)) {
    raise(HEDDLE_ERROR_USAGE, std::string(name) + " is an array of neither int32 nor int64");
  }
  return type.bits;
}

heddle_entry entry_named(const std::string& name) {
  for (int number = 0; heddle_entry_name(static_cast<heddle_entry>(number)) != nullptr; ++number) {
    if (name == heddle_entry_name(static_cast<heddle_entry>(number))) {
      return static_cast<heddle_entry>(number);
    }
  }
  std::string names;
  for (int number = 0; heddle_entry_name(static_cast<heddle_entry>(number)) != nullptr; ++number) {
    names += std::string(number == 0 ? " " : ", ") +
             heddle_entry_name(static_cast<heddle_entry>(number));
  }
  raise(HEDDLE_ERROR_USAGE, "no entry is named '" + name + "'; there are:" + names);
}
heddle_precision precision_named(const std::string& name) {
  if (name == "single") return HEDDLE_SINGLE;
  if (name == "double") return HEDDLE_DOUBLE;
  raise(HEDDLE_ERROR_USAGE, "no precision is named '" + name + "'; there are: single, double");
}

bool has_complex_numbers(heddle_entry entry) {
  return entry == HEDDLE_COMPLEX || entry == HEDDLE_COMPLEX_BLOCK3;
}

/// NumPy's view of memory: `scalars` numbers a row, as complex ones where the entry has them.
nb::object array_over(void* data, std::int64_t rows, std::int32_t scalars, heddle_entry entry,
                      heddle_precision precision, nb::handle owner, bool writable) {
  const bool is_complex = has_complex_numbers(entry);
  const auto numbers = static_cast<std::size_t>(is_complex ? scalars / 2 : scalars);
  const std::size_t shape[] = {static_cast<std::size_t>(rows), numbers};
  const auto code = is_complex ? nb::dlpack::dtype_code::Complex : nb::dlpack::dtype_code::Float;
  const int bits = (precision == HEDDLE_SINGLE ? 32 : 64) * (is_complex ? 2 : 1);
  const nb::dlpack::dtype type{static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits), 1};
  const std::size_t dimensions = numbers == 1 ? 1 : 2;
  if (writable) {
    return nb::cast(nb::ndarray<nb::numpy>(data, dimensions, shape, owner, nullptr, type),
                    nb::rv_policy::reference);
  }
  return nb::cast(nb::ndarray<nb::numpy, nb::ro>(data, dimensions, shape, owner, nullptr, type),
                  nb::rv_policy::reference);
}

// Matrices ----------------------------------------------------------------------------------------

struct Matrix {
  SharedContext context = std::make_shared<Context>();
  Owned<heddle_matrix, heddle_matrix_destroy> matrix;

  using Assemble = decltype(&heddle_matrix_from_csr);
  static Matrix assemble(Assemble function, const std::string& entry, std::int64_t rows,
                         std::int64_t columns, const Contiguous& row, const Contiguous& column,
                         const Contiguous& data, bool are_offsets) {
    Matrix made;
    const heddle_view values = values_of(data, entry_named(entry));
    heddle_pattern pattern{};
    pattern.struct_size = sizeof pattern;
    pattern.rows = rows;
    pattern.columns = columns;
    pattern.entries = static_cast<std::int64_t>(column.size());
    pattern.row = row.data();
    pattern.column = column.data();
    pattern.row_bits = index_bits(row, are_offsets ? "indptr" : "row");
    pattern.column_bits = index_bits(column, are_offsets ? "indices" : "col");
    const std::int64_t given = static_cast<std::int64_t>(row.size());
    if (given != (are_offsets ? rows + 1 : pattern.entries)) {
      raise(HEDDLE_ERROR_SIZE_MISMATCH,
            are_offsets ? "indptr has " + std::to_string(given) + " numbers, and the matrix " +
                              std::to_string(rows) + " rows"
                        : "row and col have " + std::to_string(given) + " and " +
                              std::to_string(pattern.entries) + " numbers");
    }
    call(made.context,
         [&] { return function(made.context->own, &pattern, &values, &made.matrix.own); });
    return made;
  }
  static Matrix read(const std::string& path, const std::string& entry,
                     const std::string& precision) {
    Matrix made;
    const heddle_entry kind = entry_named(entry);
    const heddle_precision width = precision_named(precision);
    call(made.context, [&] {
      return heddle_matrix_read(made.context->own, path.c_str(), kind, width, &made.matrix.own);
    });
    return made;
  }
  static Matrix generate(const std::string& problem, std::int64_t size, std::uint64_t seed) {
    Matrix made;
    call(made.context, [&] {
      return heddle_matrix_generate(made.context->own, problem.c_str(), size, seed,
                                    &made.matrix.own);
    });
    return made;
  }
  void write(const std::string& path) const {
    call(context, [&] { return heddle_matrix_write(matrix.own, path.c_str()); });
  }
  void update_values(const Contiguous& data) {
    const heddle_view values = values_of(data, arrays().second.entry);
    call(context, [&] { return heddle_matrix_update_values(matrix.own, &values); });
  }
  std::pair<heddle_pattern, heddle_view> arrays() const {
    heddle_pattern pattern{};
    pattern.struct_size = sizeof pattern;
    heddle_view values{};
    check(context, heddle_matrix_arrays(matrix.own, &pattern, &values));
    return {pattern, values};
  }
  nb::dict info() const {
    heddle_info info{};
    info.struct_size = sizeof info;
    call(context, [&] { return heddle_matrix_info(matrix.own, &info); });
    nb::dict told;
    told["rows"] = info.rows;
    told["columns"] = info.columns;
    told["entries"] = info.entries;
    told["entry"] = heddle_entry_name(info.entry);
    told["precision"] = info.precision == HEDDLE_SINGLE ? "single" : "double";
    told["shortest_row"] = info.shortest_row;
    told["longest_row"] = info.longest_row;
    told["mean_row"] = info.mean_row;
    told["empty_rows"] = info.empty_rows;
    told["bandwidth"] = info.bandwidth;
    told["missing_diagonal"] = info.missing_diagonal;
    told["singular_diagonal"] = info.singular_diagonal;
    told["symmetric_pattern"] = info.symmetric_pattern != 0;
    told["has_adjoint"] = info.has_adjoint != 0;
    told["hermitian_defect"] = info.hermitian_defect;
    return told;
  }
};

nb::tuple arrays_of(nb::handle_t<Matrix> self) {
  const auto [pattern, values] = nb::cast<const Matrix&>(self).arrays();
  const std::size_t offsets = static_cast<std::size_t>(pattern.rows) + 1;
  const auto entries = static_cast<std::size_t>(pattern.entries);
  return nb::make_tuple(
      nb::cast(nb::ndarray<nb::numpy, const std::int64_t>(pattern.row, 1, &offsets, self),
               nb::rv_policy::reference),
      nb::cast(nb::ndarray<nb::numpy, const std::int32_t>(pattern.column, 1, &entries, self),
               nb::rv_policy::reference),
      array_over(values.data, values.count, heddle_entry_scalars(values.entry), values.entry,
                 values.precision, self, false));
}

// Operators and preconditioners -------------------------------------------------------------------

/// `function(x, y)` of Python's writes y; x and y are the solver's own memory.
int call_python(void* user, const heddle_view* x, const heddle_view* y) {
  const nb::gil_scoped_acquire held;
  try {
    const std::int32_t scalars = heddle_row_scalars(x->entry);
    const nb::handle function(static_cast<PyObject*>(user));
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
  nb::object function;  // of one without a matrix
  heddle_entry entry = HEDDLE_REAL;
  std::int64_t rows = 0, columns = 0;

  static Operator of_matrix(const Matrix& matrix, const std::string& device, int threads,
                            std::uintptr_t stream, const std::optional<std::string>& plan) {
    Operator made;
    made.context = matrix.context;
    made.entry = matrix.arrays().second.entry;
    heddle_operator_options options;
    heddle_operator_options_init(&options);
    options.device = device.c_str();
    options.threads = threads;
    options.stream = reinterpret_cast<void*>(stream);
    options.plan = plan ? plan->c_str() : nullptr;
    call(made.context,
         [&] { return heddle_operator_create(matrix.matrix.own, &options, &made.A.own); });
    made.find_size();
    return made;
  }
  static Operator of_function(std::int64_t rows, const std::string& entry,
                              const std::string& precision, nb::object function) {
    Operator made;
    made.context = std::make_shared<Context>();
    made.entry = entry_named(entry);
    made.function = std::move(function);
    check(made.context, heddle_operator_from_callback(made.context->own, rows, made.entry,
                                                      precision_named(precision), call_python,
                                                      made.function.ptr(), &made.A.own));
    made.find_size();
    return made;
  }
  Operator adjoint() const {
    Operator made;
    made.context = context;
    made.entry = entry;
    call(context, [&] { return heddle_operator_adjoint(A.own, &made.A.own); });
    made.find_size();
    return made;
  }
  void find_size() { check(context, heddle_operator_size(A.own, &rows, &columns)); }
  void update_values(const Contiguous& data) {
    const heddle_view values = values_of(data, entry);
    call(context, [&] { return heddle_operator_update_values(A.own, &values); });
  }
  void apply(const Contiguous& x, const Writable& y) const {
    const std::int32_t scalars = heddle_row_scalars(entry);
    const heddle_view from = view_of(x, entry, scalars, "x"), to = view_of(y, entry, scalars, "y");
    call(context, [&] { return heddle_operator_apply(A.own, &from, &to); });
  }
  std::string plan() const {
    std::string text(heddle_operator_plan(A.own, nullptr, 0), '\0');
    heddle_operator_plan(A.own, text.data(), text.size() + 1);
    return text;
  }
};

struct Preconditioner {
  SharedContext context;
  Owned<heddle_preconditioner, heddle_preconditioner_destroy> preconditioner;
  nb::object function;

  static Preconditioner named(const Operator& A, const std::string& text) {
    Preconditioner made;
    made.context = A.context;
    call(made.context, [&] {
      return heddle_preconditioner_create(A.A.own, text.c_str(), &made.preconditioner.own);
    });
    return made;
  }
  static Preconditioner of_function(const Operator& A, nb::object function, bool varies) {
    Preconditioner made;
    made.context = A.context;
    made.function = std::move(function);
    check(made.context,
          heddle_preconditioner_from_callback(A.A.own, call_python, made.function.ptr(),
                                              varies ? 1 : 0, &made.preconditioner.own));
    return made;
  }
};

// Solvers -----------------------------------------------------------------------------------------

/// What a running solve asks after each iteration: the caller's function, and now and then whether
/// the user has pressed Ctrl-C.
struct Watch {
  bool at_work = false;  // guarded by the interpreter's lock
  PyObject* function = nullptr;
  std::chrono::steady_clock::time_point asked;

  static int observe(void* user, const heddle_progress* progress) {
    Watch& watch = *static_cast<Watch*>(user);
    const auto now = std::chrono::steady_clock::now();
    constexpr std::chrono::milliseconds patience(50);
    if (watch.function == nullptr && now - watch.asked < patience) return 0;
    const nb::gil_scoped_acquire held;
    try {
      if (now - watch.asked >= patience) {
        watch.asked = now;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
      }
      if (watch.function != nullptr) {
        nb::handle(watch.function)(progress->iteration, progress->relative_residual);
      }
      return 0;
    } catch (...) {
      raised = std::current_exception();
      return 1;
    }
  }
};

struct Solver {
  SharedContext context;
  std::unique_ptr<Watch> watch = std::make_unique<Watch>();
  nb::object of, preconditioner;  // whose functions must live as long
  heddle_entry entry = HEDDLE_REAL;
  Owned<heddle_solver, heddle_solver_destroy> solver;

  static Solver make(nb::handle_t<Operator> A, const std::string& method, nb::handle preconditioner,
                     double tolerance, double absolute_tolerance, std::int64_t max_iterations,
                     int restart, double time_limit, bool record_history) {
    Solver made;
    const auto& matrix = nb::cast<const Operator&>(A);
    made.context = matrix.context;
    made.of = nb::borrow(A);
    made.preconditioner = nb::borrow(preconditioner);
    made.entry = matrix.entry;
    heddle_solver_options options;
    heddle_solver_options_init(&options);
    options.tolerance = tolerance;
    options.absolute_tolerance = absolute_tolerance;
    options.max_iterations = max_iterations;
    options.restart = restart;
    options.time_limit = time_limit;
    options.record_history = record_history ? 1 : 0;
    options.observer = Watch::observe;
    options.user = made.watch.get();
    const heddle_preconditioner* const own =
        preconditioner.is_none()
            ? nullptr
            : nb::cast<const Preconditioner&>(preconditioner).preconditioner.own;
    call(made.context, [&] {
      return heddle_solver_create(matrix.A.own, method.c_str(), own, &options, &made.solver.own);
    });
    return made;
  }

  /// From x, or from zero. The outcome by name, and numbers of the report.
  nb::tuple solve(const Contiguous& b, const Writable& x, bool from_zero, nb::handle callback) {
    const std::int32_t scalars = heddle_row_scalars(entry);
    const heddle_view from = view_of(b, entry, scalars, "b"), to = view_of(x, entry, scalars, "x");
    heddle_report report{};
    report.struct_size = sizeof report;
    if (std::exchange(watch->at_work, true)) {
      raise(HEDDLE_ERROR_BUSY, "this solver is at work in another call; it serves one");
    }
    watch->function = callback.is_none() ? nullptr : callback.ptr();
    watch->asked = std::chrono::steady_clock::now();
    heddle_status status{};
    {
      const nb::gil_scoped_release released;
      if (from_zero) std::memset(to.data, 0, x.nbytes());
      status = heddle_solver_solve(solver.own, &from, &to, &report);
    }
    watch->at_work = false;
    check(context, status);
    return nb::make_tuple(heddle_outcome_name(report.outcome), report.iterations, report.residual,
                          report.residual_norm, report.backward_error, report.seconds);
  }
  nb::object history() const {
    const double* values = nullptr;
    std::int64_t count = 0;
    check(context, heddle_solver_history(solver.own, &values, &count));
    const auto size = static_cast<std::size_t>(count);
    return nb::cast(nb::ndarray<nb::numpy, const double>(values, 1, &size, nb::none()),
                    nb::rv_policy::copy);
  }
  std::string summary() const {
    std::string text(heddle_solver_summary(solver.own, nullptr, 0), '\0');
    heddle_solver_summary(solver.own, text.data(), text.size() + 1);
    return text;
  }
};

std::string choose_method(const Matrix& matrix, const Operator& A,
                          const std::string& preconditioner) {
  const char* method = nullptr;
  call(matrix.context, [&] {
    return heddle_choose_method(matrix.matrix.own, A.A.own, preconditioner.c_str(), &method);
  });
  return method;
}

}  // namespace

NB_MODULE(_heddle, m) {
  m.attr("version") = heddle_version();
  m.def("entry_scalars", [](const std::string& e) { return heddle_entry_scalars(entry_named(e)); });
  m.def("row_scalars", [](const std::string& e) { return heddle_row_scalars(entry_named(e)); });
  m.def("status_name", [](int status) {
    const char* const name = heddle_status_name(static_cast<heddle_status>(status));
    return name == nullptr ? "unknown" : name;
  });
  m.def("choose_method", &choose_method);

  nb::class_<Matrix>(m, "Matrix")
      .def_static("from_csr",
                  [](const std::string& entry, std::int64_t rows, std::int64_t columns,
                     const Contiguous& indptr, const Contiguous& indices, const Contiguous& data) {
                    return Matrix::assemble(heddle_matrix_from_csr, entry, rows, columns, indptr,
                                            indices, data, true);
                  })
      .def_static("from_triplets",
                  [](const std::string& entry, std::int64_t rows, std::int64_t columns,
                     const Contiguous& row, const Contiguous& column, const Contiguous& data) {
                    return Matrix::assemble(heddle_matrix_from_triplets, entry, rows, columns, row,
                                            column, data, false);
                  })
      .def_static("read", &Matrix::read)
      .def_static("generate", &Matrix::generate)
      .def("write", &Matrix::write)
      .def("update_values", &Matrix::update_values)
      .def("arrays", &arrays_of)
      .def("info", &Matrix::info)
      .def_prop_ro("entry",
                   [](const Matrix& self) { return heddle_entry_name(self.arrays().second.entry); })
      .def_prop_ro("precision",
                   [](const Matrix& self) {
                     return self.arrays().second.precision == HEDDLE_SINGLE ? "single" : "double";
                   })
      .def_prop_ro("shape", [](const Matrix& self) {
        const auto pattern = self.arrays().first;
        return nb::make_tuple(pattern.rows, pattern.columns);
      });
  nb::class_<Operator>(m, "Operator")
      .def_static("of_matrix", &Operator::of_matrix, "matrix"_a, "device"_a, "threads"_a,
                  "stream"_a, "plan"_a.none())
      .def_static("of_function", &Operator::of_function)
      .def("adjoint", &Operator::adjoint)
      .def("update_values", &Operator::update_values)
      .def("apply", &Operator::apply, nb::arg().noconvert(), nb::arg().noconvert())
      .def_ro("rows", &Operator::rows)
      .def_ro("columns", &Operator::columns)
      .def_prop_ro("plan", &Operator::plan);
  nb::class_<Preconditioner>(m, "Preconditioner")
      .def_static("named", &Preconditioner::named)
      .def_static("of_function", &Preconditioner::of_function);
  nb::class_<Solver>(m, "Solver")
      .def_static("make", &Solver::make, "A"_a, "method"_a, "preconditioner"_a.none(),
                  "tolerance"_a, "absolute_tolerance"_a, "max_iterations"_a, "restart"_a,
                  "time_limit"_a, "record_history"_a)
      .def("solve", &Solver::solve, nb::arg().noconvert(), nb::arg().noconvert(), nb::arg(),
           nb::arg().none())
      .def("history", &Solver::history)
      .def("summary", &Solver::summary);
}
