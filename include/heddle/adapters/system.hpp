// A host package's matrix of numbers in compressed sparse rows, as blocks with a preconditioner and
// a solver: what the adapters share. C++17, over heddle.h alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "heddle.h"

namespace heddle::adapters {

/// Fields have a number for each row of the matrix, in the host's order.
struct Options {
  std::string preconditioner;       // its text; empty: multigrid if A is symmetric, else auto
  std::string method;               // empty: chosen for the matrix
  int components = 1;               // rows of a node, whose entries are blocks: 1, 2, 3, 4 or 6
  bool by_component = false;        // the first rows of all nodes come first, then all second ones
  std::vector<double> coordinates;  // the field u(x) = x: multigrid's candidates are rigid bodies
  std::vector<std::vector<double>> candidates;  // or these fields
  std::map<std::string, std::string> settings;  // by name, see docs/reference/settings.md

  auto members() const {
    return std::tie(preconditioner, method, components, by_component, coordinates, candidates,
                    settings);
  }
};

/// A solve has converged if |b - A x| is at most `relative` times that of the guess, or `absolute`.
struct Goal {
  double relative = 0, absolute = 0;
  std::int64_t iterations = 0;

  auto members() const { return std::tie(relative, absolute, iterations); }
};

struct Solved {
  heddle_outcome outcome = HEDDLE_CONVERGED;
  std::int64_t iterations = 0;
  double initial_norm = 0, norm = 0;  // of b - A x, for the guess and at the end
};

/// Functions throw `std::runtime_error` with one line. One call at a time.
class System {
 public:
  System() { make(context_, heddle_context_create); }

  /// Takes the rows of a square matrix. The same options and pattern as before mean new values, for
  /// which multigrid keeps its aggregates; else, for trees, and where other values have another
  /// method or preconditioner chosen for them, everything is made anew. Returns true if it was.
  template <class I, class J, class V>
  bool take(const Options& options, std::int64_t rows, const I* offsets, const J* columns,
            const V* values) {
    const bool is_new = !own_.preconditioner || options.members() != options_.members() ||
                        rows != this->rows() ||
                        !std::equal(offsets_.begin(), offsets_.end(), offsets) ||
                        !std::equal(columns_.begin(), columns_.end(), columns);
    if (is_new) {
      own_ = {};
      options_ = options;
      offsets_.assign(offsets, offsets + rows + 1);
      columns_.assign(columns, columns + offsets_.back());
      find_blocks();
    }
    const int size = options_.components * options_.components;
    std::vector<double> entries(block_columns_.size() * size);
    for (std::size_t k = 0; k < places_.size(); ++k) entries[places_[k]] = values[k];
    const auto blocks = static_cast<std::int64_t>(block_columns_.size());
    const heddle_view view = view_of(entries.data(), blocks, HEDDLE_ROW_MAJOR);
    if (!is_new && update(view)) return false;
    make_objects(view);
    return true;
  }

  std::int64_t rows() const { return static_cast<std::int64_t>(offsets_.size()) - 1; }

  /// A vector of the host's that lies in one piece.
  heddle_view field(const double* data, std::int64_t size) const {
    if (size != rows()) {
      throw std::runtime_error("heddle: a vector has " + std::to_string(size) +
                               " numbers, the matrix " + std::to_string(rows()) + " rows");
    }
    return view_of(data, size / options_.components,
                   options_.by_component ? HEDDLE_BY_COMPONENT : HEDDLE_ROW_MAJOR);
  }

  /// z = M^-1 r, or M^-T r.
  void apply(const heddle_view& r, const heddle_view& z, bool transposed = false) const {
    check_made();
    const auto call =
        transposed ? heddle_preconditioner_apply_adjoint : heddle_preconditioner_apply;
    check(call(own_.preconditioner.get(), &r, &z, nullptr));
  }

  /// b - A x, or b - A^T x.
  std::vector<double> residual(const heddle_view& b, const heddle_view& x,
                               bool transposed = false) {
    std::vector<double> r(rows());
    const heddle_view to = field(r.data(), rows());
    check(heddle_operator_apply(objects(transposed).matrix.get(), &x, &to));
    const auto* const given = static_cast<const double*>(b.data);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = given[i] - r[i];
    return r;
  }

  /// Solves A x = b, or A^T x = b, from the guess in x: for what is added to it, since Heddle's own
  /// tolerance is relative to the right-hand side.
  Solved solve(const heddle_view& b, const heddle_view& x, const Goal& goal,
               bool transposed = false) {
    auto* const guess = static_cast<double*>(x.data);
    if (std::all_of(guess, guess + rows(), [](double u) { return u == 0; })) {
      return solve_from_zero(b, x, goal, transposed);
    }
    const std::vector<double> r = residual(b, x, transposed);
    std::vector<double> added(r.size());
    const Solved solved =
        solve_from_zero(field(r.data(), rows()), field(added.data(), rows()), goal, transposed);
    for (std::size_t i = 0; i < added.size(); ++i) guess[i] += added[i];
    return solved;
  }

 private:
  template <class T, void (*destroy)(T**)>
  struct Destroy {
    void operator()(T* object) const { destroy(&object); }
  };
  template <class T, void (*destroy)(T**)>
  using Owned = std::unique_ptr<T, Destroy<T, destroy>>;

  using Choice = std::pair<std::string, std::string>;  // a preconditioner and a method

  /// Made of A, or of its adjoint.
  struct Objects {
    Owned<heddle_operator, heddle_operator_destroy> matrix;
    Owned<heddle_preconditioner, heddle_preconditioner_destroy> preconditioner;
    Owned<heddle_solver, heddle_solver_destroy> solver;
    Goal goal;
  };

  void check(heddle_status status) const {
    if (status == HEDDLE_OK) return;
    std::string message(heddle_message(context_.get(), nullptr, 0), ' ');
    heddle_message(context_.get(), message.data(), message.size() + 1);
    throw std::runtime_error("heddle: " + message);
  }
  void check_made() const {
    if (!own_.preconditioner) throw std::runtime_error("heddle: it has no matrix, or one failed");
  }
  template <class T, class Create>
  void make(T& owned, const Create& create) const {
    typename T::pointer made = nullptr;
    check(create(&made));
    owned.reset(made);
  }

  /// Takes new values. False if everything must be made anew.
  bool update(const heddle_view& values) {
    Objects renewed = std::exchange(own_, {});  // gone, if something fails half-way
    const heddle_status status = heddle_operator_update_values(renewed.matrix.get(), &values);
    if (status == HEDDLE_ERROR_UNSUPPORTED) return false;  // a tree
    check(status);
    if (choice_for(values, renewed.matrix.get()) != choice_) return false;
    check(heddle_preconditioner_update(renewed.preconditioner.get(), nullptr));
    own_ = std::move(renewed);
    return true;
  }

  Solved solve_from_zero(const heddle_view& b, const heddle_view& x, const Goal& goal,
                         bool transposed) {
    Objects& with = objects(transposed);
    if (!with.solver || goal.members() != with.goal.members()) make_solver(with, goal);
    heddle_report report{};
    report.struct_size = sizeof report;
    check(heddle_solver_solve(with.solver.get(), &b, &x, &report));
    return {report.outcome, report.iterations, report.baseline_norm, report.residual_norm};
  }

  /// HEDDLE_NUMBERS for blocks that heddle.h does not have.
  static heddle_entry entry_of(int size) {
    constexpr heddle_entry entries[] = {HEDDLE_REAL,   HEDDLE_BLOCK2,  HEDDLE_BLOCK3,
                                        HEDDLE_BLOCK4, HEDDLE_NUMBERS, HEDDLE_BLOCK6};
    return size < 1 || size > 6 ? HEDDLE_NUMBERS : entries[size - 1];
  }
  heddle_view view_of(const double* data, std::int64_t count, heddle_layout layout) const {
    return {const_cast<double*>(data),
            count,
            entry_of(options_.components),
            HEDDLE_DOUBLE,
            layout,
            HEDDLE_HOST};
  }

  /// Finds the pattern of blocks, and the place of each number among those of all blocks, which lie
  /// row by row.
  void find_blocks() {
    const int size = options_.components;
    if (entry_of(size) == HEDDLE_NUMBERS || rows() % size != 0) {
      throw std::runtime_error("heddle: " + std::to_string(rows()) + " rows in nodes of " +
                               std::to_string(size) +
                               " are no blocks: nodes have 1, 2, 3, 4 or 6 rows");
    }
    const auto is_outside = [&](std::int64_t column) { return column < 0 || column >= rows(); };
    if (std::any_of(columns_.begin(), columns_.end(), is_outside)) {
      throw std::runtime_error("heddle: a matrix of " + std::to_string(rows()) +
                               " rows has more columns: give a square one");
    }
    const std::int64_t nodes = rows() / size;
    const bool by_component = options_.by_component;
    const auto node_of = [=](std::int64_t row) { return by_component ? row % nodes : row / size; };
    block_offsets_.assign(1, 0);
    block_columns_.clear();
    places_.resize(columns_.size());
    for (std::int64_t node = 0; node < nodes; ++node) {
      const auto for_each_number = [&](const auto& visit) {
        for (int c = 0; c < size; ++c) {
          const std::int64_t row = by_component ? c * nodes + node : node * size + c;
          for (std::int64_t k = offsets_[row]; k < offsets_[row + 1]; ++k) visit(k, c);
        }
      };
      for_each_number([&](std::int64_t k, int) { block_columns_.push_back(node_of(columns_[k])); });
      const auto first = block_columns_.begin() + block_offsets_.back();
      std::sort(first, block_columns_.end());
      block_columns_.erase(std::unique(first, block_columns_.end()), block_columns_.end());
      for_each_number([&](std::int64_t k, int c) {
        const std::int64_t column = columns_[k], at = node_of(column);
        const auto block = std::lower_bound(first, block_columns_.end(), at);
        const auto d = by_component ? column / nodes : column % size;
        places_[k] = ((block - block_columns_.begin()) * size + c) * size + d;
      });
      block_offsets_.push_back(static_cast<std::int64_t>(block_columns_.size()));
    }
  }

  void make_settings() {
    make(settings_,
         [&](heddle_settings** made) { return heddle_settings_create(context_.get(), made); });
    for (const auto& [name, value] : options_.settings) {
      check(heddle_settings_set(settings_.get(), name.c_str(), value.c_str()));
    }
  }
  void use_candidates() {
    std::vector<heddle_view> candidates;
    for (const auto& given : options_.candidates) {
      candidates.push_back(field(given.data(), static_cast<std::int64_t>(given.size())));
    }
    check(heddle_settings_use_candidates(
        settings_.get(), static_cast<std::int64_t>(candidates.size()), candidates.data()));
    points_ = options_.coordinates;
    if (points_.empty()) return;
    field(points_.data(), static_cast<std::int64_t>(points_.size()));
    const std::int64_t size = options_.components, nodes = rows() / size;
    for (std::int64_t i = 0; options_.by_component && i < rows(); ++i) {
      points_[i] = options_.coordinates[i % size * nodes + i / size];
    }
    check(heddle_settings_use_coordinates(settings_.get(), points_.data()));
  }

  auto matrix_of(const heddle_view& values) const {
    heddle_pattern pattern{};
    pattern.struct_size = sizeof pattern;
    pattern.rows = pattern.columns = rows() / options_.components;
    pattern.entries = values.count;
    pattern.row = block_offsets_.data();
    pattern.column = block_columns_.data();
    pattern.row_bits = pattern.column_bits = 64;
    Owned<heddle_matrix, heddle_matrix_destroy> matrix;
    make(matrix, [&](heddle_matrix** made) {
      return heddle_matrix_from_csr(context_.get(), &pattern, &values, made);
    });
    return matrix;
  }

  /// The options, and a choice for the values where these leave it open.
  Choice choice_for(const heddle_view& values, const heddle_operator* A) const {
    Choice choice{options_.preconditioner, options_.method};
    auto& [text, method] = choice;
    if (!text.empty() && !method.empty()) return choice;
    const auto matrix = matrix_of(values);
    const auto chosen = [&](const char* preconditioner) -> std::string {
      const char* name = nullptr;
      check(heddle_choose_method(matrix.get(), A, preconditioner, &name));
      return name;
    };
    if (text.empty()) text = chosen("none") == "cg" ? "multigrid" : "auto";
    if (method.empty()) method = chosen(text.c_str());
    return choice;
  }

  void make_objects(const heddle_view& values) {
    own_ = {};
    adjoint_ = {};
    make_settings();
    const auto matrix = matrix_of(values);
    make(own_.matrix, [&](heddle_operator** made) {
      return heddle_operator_create(matrix.get(), settings_.get(), made);
    });
    choice_ = choice_for(values, own_.matrix.get());
    // The library refuses them for a text that has no use for them.
    if (!options_.preconditioner.empty() || choice_.first == "multigrid") use_candidates();
    make_preconditioner(own_);
  }
  void make_preconditioner(Objects& with) const {
    make(with.preconditioner, [&](heddle_preconditioner** made) {
      return heddle_preconditioner_create(with.matrix.get(), choice_.first.c_str(), settings_.get(),
                                          made);
    });
  }

  void make_solver(Objects& with, const Goal& goal) const {
    const auto set = [&](const char* name, double value) {
      check(heddle_settings_set_number(settings_.get(), name, value));
    };
    set("tolerance", std::min(goal.relative, 1 - 1e-15));
    set("absolute_tolerance", goal.absolute);
    set("max_iterations", static_cast<double>(goal.iterations));
    make(with.solver, [&](heddle_solver** made) {
      return heddle_solver_create(with.matrix.get(), choice_.second.c_str(),
                                  with.preconditioner.get(), settings_.get(), made);
    });
    with.goal = goal;
  }

  /// The methods for symmetric matrices solve with the transpose as with the matrix.
  Objects& objects(bool transposed) {
    check_made();
    if (!transposed || choice_.second == "cg" || choice_.second == "minres") return own_;
    if (!adjoint_.preconditioner) {
      make(adjoint_.matrix, [&](heddle_operator** made) {
        return heddle_operator_adjoint(own_.matrix.get(), made);
      });
      make_preconditioner(adjoint_);
    }
    return adjoint_;
  }

  Owned<heddle_context, heddle_context_destroy> context_;
  Owned<heddle_settings, heddle_settings_destroy> settings_;
  Options options_;
  Choice choice_;
  std::vector<double> points_;  // node by node; the settings refer to it
  std::vector<std::int64_t> offsets_ = {0}, columns_;
  std::vector<std::int64_t> block_offsets_, block_columns_, places_;
  Objects own_, adjoint_;
};

}  // namespace heddle::adapters
