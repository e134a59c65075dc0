// Heddle as preconditioners and solvers of deal.II, for its SparseMatrix. A program links deal.II
// and heddle::c.
#pragma once

#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/vector.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "heddle/adapters/system.hpp"

namespace heddle {

struct DealiiData {
  /// Rows of a node, whose entries become blocks: 1, 2, 3, 4 or 6.
  unsigned int dofs_per_node = 1;
  /// True after DoFRenumbering::component_wise. Else the rows of a node lie together, as in an
  /// FESystem of FE_Q of degree 1 or 2.
  bool component_wise = false;
  /// Functions::IdentityFunction, interpolated: candidates of multigrid are motions of a rigid
  /// body.
  dealii::Vector<double> coordinates;
  /// Or vectors that the matrix nearly maps to 0, as from DoFTools::extract_constant_modes.
  std::vector<std::vector<bool>> constant_modes;
  std::vector<std::vector<double>> constant_modes_values;
  /// Texts as for `heddle solve`; empty: chosen for the matrix, multigrid if it is symmetric.
  std::string preconditioner, method;
  /// By name, see docs/reference/settings.md.
  std::map<std::string, std::string> settings;
};

/// The part that both classes below share.
class DealiiSystem {
 public:
  using AdditionalData = DealiiData;

  /// The same data and pattern as before mean new values: multigrid keeps its aggregates.
  template <typename number>
  void initialize(const dealii::SparseMatrix<number>& matrix, const AdditionalData& data = {}) {
    adapters::Options options;
    options.preconditioner = data.preconditioner;
    options.method = data.method;
    options.components = static_cast<int>(data.dofs_per_node);
    options.by_component = data.component_wise;
    options.coordinates.assign(data.coordinates.begin(), data.coordinates.end());
    options.candidates = data.constant_modes_values;
    for (const auto& mode : data.constant_modes) {
      options.candidates.emplace_back(mode.begin(), mode.end());
    }
    options.settings = data.settings;
    std::vector<std::size_t> offsets(1, 0), columns;
    std::vector<double> values;
    for (std::size_t row = 0; row < matrix.m(); ++row) {
      for (auto entry = matrix.begin(row); entry != matrix.end(row); ++entry) {
        columns.push_back(entry->column());
        values.push_back(entry->value());
      }
      offsets.push_back(columns.size());
    }
    if (matrix.m() != matrix.n()) throw std::runtime_error("heddle: the matrix is not square");
    system_.take(options, matrix.m(), offsets.data(), columns.data(), values.data());
  }

  std::size_t m() const { return system_.rows(); }
  std::size_t n() const { return system_.rows(); }

 protected:
  /// Calls `f(to, from)` with the vectors, or copies of those that are no doubles in one piece.
  template <class Vector, class F>
  void on_fields(Vector& to, const Vector& from, const F& f) const {
    if constexpr (std::is_same_v<decltype(to.begin()), double*>) {
      f(system_.field(to.begin(), to.end() - to.begin()),
        system_.field(from.begin(), from.end() - from.begin()));
    } else {
      std::vector<double> u(to.begin(), to.end());
      const std::vector<double> v(from.begin(), from.end());
      f(system_.field(u.data(), u.size()), system_.field(v.data(), v.size()));
      std::copy(u.begin(), u.end(), to.begin());
    }
  }

  mutable adapters::System system_;
};

/// For dealii::SolverCG and others.
class DealiiPreconditioner : public DealiiSystem {
 public:
  template <class Vector>
  void vmult(Vector& dst, const Vector& src) const {
    on_fields(dst, src, [&](const auto& z, const auto& r) { system_.apply(r, z); });
  }
  /// For preconditioners with an adjoint, such as multigrid and jacobi.
  template <class Vector>
  void Tvmult(Vector& dst, const Vector& src) const {
    on_fields(dst, src, [&](const auto& z, const auto& r) { system_.apply(r, z, true); });
  }
};

/// Solves up to the tolerance, or the reduction, of a SolverControl, for the norm of b - A x.
/// Throws SolverControl::NoConvergence.
class DealiiSolver : public DealiiSystem {
 public:
  explicit DealiiSolver(dealii::SolverControl& control) : control_(control) {}

  /// From the guess in x.
  template <class Vector>
  void solve(Vector& x, const Vector& b, bool transposed = false) const {
    const auto* const reduction = dynamic_cast<const dealii::ReductionControl*>(&control_);
    const adapters::Goal goal{reduction != nullptr ? reduction->reduction() : 0,
                              control_.tolerance(), control_.max_steps()};
    on_fields(x, b, [&](const auto& to, const auto& from) {
      const adapters::Solved solved = system_.solve(from, to, goal, transposed);
      control_.check(0, solved.initial_norm);
      control_.check(static_cast<unsigned int>(solved.iterations), solved.norm);
    });
    AssertThrow(control_.last_check() == dealii::SolverControl::success,
                dealii::SolverControl::NoConvergence(control_.last_step(), control_.last_value()));
  }
  template <class Vector>
  void vmult(Vector& dst, const Vector& src) const {
    dst = 0;
    solve(dst, src);
  }
  template <class Vector>
  void Tvmult(Vector& dst, const Vector& src) const {
    dst = 0;
    solve(dst, src, true);
  }

 private:
  dealii::SolverControl& control_;
};

}  // namespace heddle
