// The levels of a multigrid: matrices of tiles on the host, to compute them with, and operators on
// the device, which a cycle multiplies by.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "aggregates.hpp"
#include "coloured_rows.hpp"
#include "heddle/detail/sliced_jacobi.hpp"
#include "heddle/multigrid.hpp"
#include "heddle/polynomial.hpp"
#include "number_cycle.hpp"
#include "solvers/operators/extreme_eigenvalues.hpp"
#include "solvers/operators/operator_field.hpp"
#include "solvers/tiles/entry_tiles.hpp"
#include "solvers/tiles/level_spectrum.hpp"
#include "solvers/tiles/tile_products.hpp"

namespace heddle::cuda {
template <class S>
class LevelValues;
}

namespace heddle::detail {

/// An entry of a level, and its numbers.
template <class S>
struct LevelEntry {
  EntryTableHandle<S> table;
  EntryTiles tiles;
};

/// Entries of the finest level, of P from the next one to it, and of the coarser levels.
template <class S>
struct LevelEntries {
  LevelEntry<S> finest, between, coarse;
};

/// The entries for a matrix with `candidates` candidates, 0 for the constants. Throws `Error`
/// (unsupported) for an entry, or a number of candidates, that has no levels.
template <class S>
LevelEntries<S> level_entries(const SlicedOperator<S>& matrix, std::size_t candidates);

/// True if the plan stores floats: only such a plan has refused values outside their range.
template <class S>
bool keeps_floats(const SlicedOperator<S>& matrix) {
  return matrix.plan().layout.stored == StoredScalar::single && matrix.entry().narrow != nullptr;
}

/// The plan for a part of the hierarchy on a GPU, by the number and length of its rows, for which
/// A's plan would leave most multiprocessors idle. Layout of vectors and order of entries are A's.
/// On an H200, P* to a coarsest level of 14 rows took 0.24 ms with two threads per row.
Plan plan_of_rows(Index rows, Offset entries, const Plan& of_matrix);

/// The levels as a preconditioner of the matrix, whose fields have scalars S.
template <class S>
class Levels {
 public:
  Levels() = default;
  Levels(const Levels&) = delete;
  Levels& operator=(const Levels&) = delete;
  virtual ~Levels() = default;

  virtual void refresh() = 0;
  virtual const Preconditioner<S>& cycle() const = 0;
  virtual const SlicedOperator<S>& matrix() const = 0;
  virtual MultigridReport report() const = 0;
};

template <class S>
class Hierarchy final : public Levels<S> {
 public:
  Hierarchy(const SlicedOperator<S>& matrix, const MultigridOptions& options,
            std::span<const FieldView<const S>> candidates)
      : Hierarchy(matrix, matrix, options, candidates) {}
  /// `source`: the original that `matrix` copies, on the same pattern, or `matrix` itself. Levels
  /// are computed from its values, which the caller brings to the copy before each `refresh`.
  template <class T>
  Hierarchy(const SlicedOperator<S>& matrix, const SlicedOperator<T>& source,
            const MultigridOptions& options, std::span<const FieldView<const T>> candidates);

  void refresh() override;
  const Preconditioner<S>& cycle() const override { return *cycle_; }
  const SlicedOperator<S>& matrix() const override { return matrix_; }
  MultigridReport report() const override;

  struct Level {
    int number = 0;  // counted from the finest
    Index rows = 0;
    Offset entries = 0;
    LevelEntry<S> entry;
    TileMatrix matrix;  // like those below, has pattern and values if the host computes
    std::shared_ptr<SlicedOperator<S>> product;
    // For a level that is smoothed.
    std::shared_ptr<SlicedJacobi<S>> jacobi;
    std::shared_ptr<Preconditioner<S>> before, after;  // each the adjoint of the other
    std::shared_ptr<Chebyshev<S>> polynomial;          // both are made of it; or null
    std::optional<SpectralInterval> interval;          // the polynomial's, if there is one
    std::shared_ptr<FirstNumbers<S>> first_numbers;  // the polynomial's, if a `NumberCycle` runs it
    Array<Coefficient<Ring::real, S>> numbers;       // numbers of its recurrence, in A's memory
    ColouredRows colours;                            // for Gauss-Seidel
    std::shared_ptr<ColouredOperators<S>> sweeps;
    TileMatrix norms, norm_inverses;  // D plus off-diagonal norms, for l1-Jacobi
    std::shared_ptr<SlicedOperator<S>> by_norms;
    UnsetArray<double> inverses;  // inverses of the diagonal's tiles
    double largest = 0;           // largest eigenvalue of D^-1 A
    int new_estimates = 0;        // times it was estimated anew since the set-up
    std::optional<SpectrumRoom> room;
    double strength = 0;  // strength that aggregated its rows
    // Between this level and the next one, if there is one.
    TileMatrix tentative, prolongation, image, restriction;  // image: A P
    ProductPlaces to_prolongation, to_image, to_coarse;      // for A T, A P and P* A P
    Array<Offset> place;             // place of P's tiles in the restriction
    Array<double> diagonal, scales;  // see `energy_scales`
    std::shared_ptr<SlicedOperator<S>> interpolate, restrict;
    LevelEntry<S> adjoint_entry;  // entry of `restrict`
    // For a level that is solved.
    TileMatrix inverse_tiles;
    std::shared_ptr<SlicedOperator<S>> inverse;
  };

  /// The levels, from the finest.
  const std::vector<std::unique_ptr<Level>>& levels() const { return levels_; }

 private:
  void check_matrix() const;
  /// Result of `of` for the source.
  template <class Of>
  auto of_source(const Of& of) const {
    if constexpr (std::is_same_v<S, float>) {
      if (wide_) return of(*wide_);
    }
    return of(matrix_);
  }
  template <class T>
  UnsetArray<double> read_candidates(const SlicedOperator<T>& source,
                                     std::span<const FieldView<const T>> candidates) const;
  void add_finest();
  void read_pattern();
  void compute(UnsetArray<double>* candidates);
  void extend(Level& level, UnsetArray<double>& candidates, double strength);
  Level& add_coarse(Level& level, Index count);
  void make_operators(Level& level, Level& coarse, const PatternView& prolongation,
                      const PatternView& restriction, const PatternView& matrix);
  std::optional<Aggregates> aggregate_rows(
      Level& level, double strength, const std::function<Aggregates(double)>& aggregate) const;
  void remember_reach();
  void make_values();
  void read_matrix(Level& finest);
  bool is_hermitian();
  void check_hermitian();
  long long bytes_of_refresh() const;
  template <class T>
  bool set_up_on_gpu(const SlicedOperator<T>& source,
                     std::span<const FieldView<const T>> candidates);
  template <class T>
  bool read_candidates_on_gpu(const SlicedOperator<T>& source,
                              std::span<const FieldView<const T>> candidates);
  bool make_levels_on_gpu();
  bool extend_on_gpu(Level& level, double strength);
  bool smooth_on_gpu(Level& level, const RitzValues<S>& found);
  void bring_to_host();
  bool refresh_on_gpu();
  void smooth(Level& level, bool estimates);
  void estimate_largest(Level& level, bool estimates);
  void place_numbers(Level& level, int degree);
  void smooth_by_polynomial(Level& level, int degree, int sweeps);
  void make_polynomial(Level& level, int degree, int sweeps);
  int degree_of_polynomial() const {
    return options_.smoother == Smoother::jacobi ? 0 : options_.degree;
  }
  void smooth_by_norms(Level& level);
  bool smooth_by_colours(Level& level);
  std::shared_ptr<Preconditioner<S>> repeated(const Level& level,
                                              std::shared_ptr<Preconditioner<S>> part,
                                              int sweeps) const;
  void transfer(Level& level, Level& coarse);
  void solve(Level& level);
  std::span<const double> scales_below(const Level& level) const;
  bool is_solved(const Level& level) const;
  std::shared_ptr<Preconditioner<S>> make_level_cycle(Level& level,
                                                      std::shared_ptr<Preconditioner<S>> coarse);
  void make_cycle();
  bool make_cycle_of_steps();
  long long host_bytes(const Level& level) const;
  long long device_bytes(const Level& level) const;
  void put_values(const TileMatrix& from, const LevelEntry<S>& entry, SlicedOperator<S>& to);
  std::shared_ptr<SlicedOperator<S>> make_operator(const PatternView& rows,
                                                   const EntryTableHandle<S>& entry,
                                                   std::shared_ptr<const Basis> row_basis,
                                                   std::shared_ptr<const Basis> column_basis) const;

  SlicedOperator<S> matrix_;
  std::optional<SlicedOperator<double>> wide_;  // the source, if that is another matrix
  MultigridOptions options_;
  Device host_;
  Plan plan_;  // plan of the operators that the hierarchy adds
  LevelEntry<S> finest_, between_, coarse_;
  double rounding_ = 0;  // rounding of energies, relative to what they came from
  Array<Offset> slots_;  // slots of the finest level's entries in A; empty if in order
  SetupScratch scratch_;
  std::vector<OperatorField<S>> probes_;  // for the check that A is Hermitian
  Reduction<S> reduction_;
  std::vector<std::unique_ptr<Level>> levels_;
  std::shared_ptr<Preconditioner<S>> cycle_;
  std::shared_ptr<cuda::LevelValues<S>> on_gpu_;  // if the GPU has set up the levels
  bool is_refreshed_on_gpu_ = false;
  long long generation_ = -1;
  bool remembers_reach_ = false;
  double setup_seconds_ = 0;
};

}  // namespace heddle::detail
