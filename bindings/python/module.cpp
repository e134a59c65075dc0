// The module heddle._heddle: the objects of heddle.h, which release the interpreter's lock while
// they work. heddle/*.py builds the user's interface on it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "arrays.hpp"
#include "call.hpp"
#include "eigen.hpp"
#include "gpu_arrays.hpp"
#include "heddle.h"
#include "matrix.hpp"
#include "operator.hpp"
#include "profile.hpp"
#include "rank_solver.hpp"
#include "settings.hpp"
#include "solver.hpp"
#include "xla.hpp"

using namespace heddle_python;
using namespace nb::literals;

namespace {

/// Reports to the garbage collector the objects that a T keeps: functions often refer to their
/// solver.
template <class T>
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  for (const nb::object* const kept : nb::inst_ptr<T>(self)->references()) Py_VISIT(kept->ptr());
  return 0;
}
template <class T>
int clear(PyObject* self) {
  for (nb::object* const kept : nb::inst_ptr<T>(self)->references()) {
    const nb::object goes = std::move(*kept);
  }
  return 0;
}
template <class T>
PyType_Slot collected[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse<T>)},
                           {Py_tp_clear, reinterpret_cast<void*>(clear<T>)},
                           {0, nullptr}};

void add_matrices(nb::module_& m) {
  nb::class_<Exported>(m, "Exported")
      .def(nb::init<nb::handle>())
      .def_prop_ro("address", &Exported::address)
      .def_prop_ro("shape", &Exported::shape)
      .def_prop_ro("strides", &Exported::strides)
      .def_prop_ro("dtype", &Exported::dtype)
      .def_prop_ro("writable", &Exported::writable);
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
      .def("memory", &Matrix::memory)
      .def("arrays", &arrays_of)
      .def("describe", &Matrix::describe)
      .def("best_ranks", &Matrix::best_ranks)
      .def("info", &Matrix::info)
      .def("advice", &Matrix::advice)
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
}

void add_settings(nb::module_& m) {
  nb::class_<Settings>(m, "Settings")
      .def(nb::init<const nb::dict&>(), "texts"_a = nb::dict())
      .def("set", &Settings::set)
      .def("use_arrays", &Settings::use_arrays, nb::arg().none(), nb::arg().none())
      .def_prop_ro("json", &Settings::json);
  constexpr std::size_t capacity = std::size_t(1) << 16;
  m.def("settings_table", [] { return text_of(heddle_settings_table, capacity); });
}

void add_profiles(nb::module_& m) {
  nb::class_<Profile>(m, "Profile")
      .def_static("tune", &Profile::tune, nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(),
                  nb::arg().none())
      .def("evaluate", &Profile::evaluate, nb::arg(), nb::arg(), nb::arg().none())
      .def_static("read", &Profile::read)
      .def("write", &Profile::write)
      .def("choose", &Profile::choose)
      .def_prop_ro("json", &Profile::json);
}

void add_operators(nb::module_& m) {
  nb::class_<Operator>(m, "Operator", nb::type_slots(collected<Operator>))
      .def_static("of_matrix", &Operator::of_matrix)
      .def_static("of_function", &Operator::of_function, nb::arg(), nb::arg(), nb::arg(), nb::arg(),
                  nb::arg(), nb::arg().none(), nb::arg())
      .def("adjoint", &Operator::adjoint)
      .def("shifted", &Operator::shifted)
      .def("edited", &Operator::edited)
      .def("update_values", &Operator::update_values)
      .def("update_values_at", &Operator::update_values_at, nb::arg(), nb::arg(), nb::arg() = 0)
      .def("apply", &Operator::apply, nb::arg().noconvert(), nb::arg().noconvert())
      .def("apply_at", &Operator::apply_at)
      .def("measure", &Operator::measure)
      .def("wait_for", &Operator::wait_for)
      .def_prop_ro("gpu", &Operator::gpu)
      .def_prop_ro("stream", &Operator::stream)
      .def_ro("rows", &Operator::rows)
      .def_ro("columns", &Operator::columns)
      .def_prop_ro("plan", &Operator::plan);
  nb::class_<Preconditioner>(m, "Preconditioner", nb::type_slots(collected<Preconditioner>))
      .def_static("named", &Preconditioner::named)
      .def_static("of_function", &Preconditioner::of_function)
      .def("apply_at", &Preconditioner::apply_at)
      .def("update", &Preconditioner::update);
}

void add_solvers(nb::module_& m) {
  nb::class_<Solver>(m, "Solver", nb::type_slots(collected<Solver>))
      .def_static("make", &Solver::make, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
                  nb::arg())
      .def("solve", &Solver::solve, nb::arg().noconvert(), nb::arg().noconvert(), nb::arg(),
           nb::arg().none())
      .def("solve_at", &Solver::solve_at, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
           nb::arg().none())
      .def("solve_all", &Solver::solve_all, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
           nb::arg(), nb::arg().none())
      .def("iterate", &Solver::iterate, nb::arg().noconvert())
      .def("set_null_space", &Solver::set_null_space)
      .def("prepare_enqueue", &Solver::prepare_enqueue)
      .def("enqueue", &Solver::enqueue, nb::arg(), nb::arg(), nb::arg(), nb::arg() = 0)
      .def("wait", &Solver::wait)
      .def("cancel", &Solver::cancel)
      .def("summary", &Solver::summary);
  nb::class_<RankSolver>(m, "RankSolver", nb::type_slots(collected<RankSolver>))
      .def_static("make", &RankSolver::make, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
                  nb::arg(), nb::arg(), nb::arg(), nb::arg().none())
      .def("solve", &RankSolver::solve, nb::arg().noconvert(), nb::arg().noconvert(), nb::arg(),
           nb::arg().none())
      .def("solve_at", &RankSolver::solve_at, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
           nb::arg().none())
      .def("solve_all", &RankSolver::solve_all, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
           nb::arg(), nb::arg().none());
  nb::class_<LeastSquares>(m, "LeastSquares")
      .def_static("make", &LeastSquares::make)
      .def("solve", &LeastSquares::solve, nb::arg(), nb::arg(), nb::arg().none());
  m.def("mass_operator", &mass_operator);
  m.def("eigen_solve", &eigen_solve, nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(),
        nb::arg().noconvert(), nb::arg().none());
}

}  // namespace

NB_MODULE(_heddle, m) {
  // Objects that the user's modules keep at exit are no leaks of this module.
  nb::set_leak_warnings(false);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&Absence::end));
  m.attr("version") = heddle_version();
  constexpr std::size_t capacity = std::size_t(1) << 12;
  m.def("configuration", [] { return text_of(heddle_configuration, capacity); });
  m.def("entry_scalars", [](const std::string& e) { return heddle_entry_scalars(entry_named(e)); });
  m.def("row_scalars", [](const std::string& e) { return heddle_row_scalars(entry_named(e)); });
  m.def("status_name", [](int status) {
    const char* const name = heddle_status_name(static_cast<heddle_status>(status));
    return name == nullptr ? "unknown" : name;
  });
  m.def("choose_preconditioner", &choose_preconditioner);
  m.def("choose_other_method", &choose_other_method);
  m.def("choose_method", &choose_method, nb::arg(), nb::arg().none(), nb::arg());
  nb::list outcomes;
  while (const char* const name =
             heddle_outcome_name(static_cast<heddle_outcome>(nb::len(outcomes)))) {
    outcomes.append(name);
  }
  m.attr("outcomes") = outcomes;
  m.def("xla_handlers", &xla::handlers);

  add_settings(m);
  add_matrices(m);
  add_profiles(m);
  add_operators(m);
  add_solvers(m);
}
