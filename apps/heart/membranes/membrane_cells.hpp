// The cells of a tissue: one or several membrane models, and the stimuli that excite them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cells.hpp"
#include "heddle/array.hpp"
#include "models.hpp"

namespace heddle::heart {

/// A region's model, as a case names it.
struct MembraneChoice {
  std::string model = "ten-tusscher-panfilov";
  std::map<std::string, double> parameters = {};  // by name, replacing the model's own
  std::string type = {};                          // type of cells; empty: the model's first

  bool operator==(const MembraneChoice&) const = default;
};

/// Returns the chosen model. Throws `Error` (usage, not_finite) in one line that lists the
/// available models, types or parameters.
AnyModel model_of(const MembraneChoice& choice);
std::vector<std::string> model_names();

/// One cell per node, numbered like the fields of the tissue.
class MembraneCells {
 public:
  /// `region_of_cell` has an index into `regions` for each cell. Throws like `model_of`, and
  /// (out_of_range) for a region that does not exist.
  MembraneCells(std::span<const MembraneChoice> regions,
                std::span<const std::uint16_t> region_of_cell, const Device& device);

  /// Takes at most `max_stimuli`, and a mask for each cell: bit k is set if stimulus k acts there.
  /// Throws `Error` (usage, size_mismatch) for meaningless input.
  void set_stimuli(std::span<const Stimulus> stimuli, std::span<const std::uint32_t> mask_of_cell);

  Offset cells() const { return cells_; }
  /// In mV, for each cell.
  std::vector<double> resting_potential() const;

  /// Advances V in mV and the cells' own variables from time t to t + dt (ms): gates by Rush and
  /// Larsen's formula, V and all others by Euler's, V += dt (J - I_ion), or both at the rates in
  /// the middle of the step, which takes twice as long. `potential` and `time`, a single number,
  /// are in the device's memory. On a GPU this queues a kernel for each model and returns; nothing
  /// is allocated. NaN reaches V of its own cell, and no other cell. `diffused` is added to the
  /// potential first; null for none.
  void advance(double* potential, const double* time, double dt, const Stream& stream,
               CellRule rule = CellRule::euler, const BeforeDiffusion& next = {},
               const double* diffused = nullptr);

  /// From now on, models that support it take functions of the potential from tables, only for
  /// steps of dt by this rule; see potential_table.hpp. `advance` throws `Error` (usage) for other
  /// steps, before any cell is advanced.
  void tabulate(double dt, CellRule rule = CellRule::euler);
  /// True if any model uses tables.
  bool is_tabulated() const;

  /// All variables except V, bit by bit: model by model, variable by variable, cell by cell.
  std::vector<double> state() const;
  /// Throws `Error` (size_mismatch) for a state of other cells.
  void set_state(std::span<const double> state);

  /// In ms. A longer step is unstable in some part of an action potential.
  double largest_step() const;
  /// Models, types and numbers of cells, for reports.
  std::string description() const;

 private:
  struct Group {
    AnyModel model;
    MembraneChoice choice;
    Offset first = 0;  // among all cells, in the order of `node_`
    Offset count = 0;
    Offset state = 0;  // where its planes begin
    Offset plane = 0;
    std::shared_ptr<const Array<float>> tables;  // one after the other; null without tables
  };
  int states(const Group& group) const;
  CellTables tables_of(const Group& group) const;
  /// Calls `plane(numbers)` for each variable of each group, in the order of `state()`.
  template <class Plane>
  void for_each_plane(std::vector<double>& padded, const Plane& plane) const;

  Device device_;
  Offset cells_ = 0;
  std::vector<Group> groups_;
  Array<Index> node_;  // empty where there is one group
  std::vector<Index> node_on_host_;
  Array<double> state_;
  Array<std::uint32_t> mask_;  // in the order of `node_`
  Array<Stimulus> stimuli_;
  double tabulated_ = 0;  // the step that tables are made for; 0 without tables
};

}  // namespace heddle::heart
