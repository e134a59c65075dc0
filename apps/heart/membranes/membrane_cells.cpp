#include "membrane_cells.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "advance_cells.hpp"
#include "heddle/error.hpp"

namespace heddle::heart {

namespace {

std::string text_of(const MembraneChoice& choice, const AnyModel& model) {
  return std::visit(
      [&]<class M>(const M&) {
        std::string text(M::name);
        if (M::types.size() > 1) {
          text += " (" + (choice.type.empty() ? std::string(M::types[0]) : choice.type) + ")";
        }
        if (!choice.parameters.empty()) {
          text += " with " + std::to_string(choice.parameters.size()) + " custom parameter" +
                  (choice.parameters.size() == 1 ? "" : "s");
        }
        return text;
      },
      model);
}

double start_of(const AnyModel& model, int variable) {
  return std::visit([&](const auto& of_cells) { return of_cells.start(variable); }, model);
}

void check_stimulus(const Stimulus& s, std::size_t k) {
  const std::string name = "stimulus " + std::to_string(k);
  for (const double value : {s.start, s.duration, s.amplitude, s.period}) {
    if (!std::isfinite(value)) {
      throw Error(ErrorKind::not_finite, name + " has a value that is not finite");
    }
  }
  if (s.duration <= 0) throw Error(ErrorKind::usage, name + " has no duration");
  if (s.period != 0 && s.period < s.duration) {
    throw Error(ErrorKind::usage, name + " has a period that is shorter than its duration");
  }
  if (s.count < 0) throw Error(ErrorKind::usage, name + " has a count below 0");
}

}  // namespace

MembraneCells::MembraneCells(std::span<const MembraneChoice> regions,
                             std::span<const std::uint16_t> region_of_cell, const Device& device)
    : device_(device), cells_(static_cast<Offset>(region_of_cell.size())) {
  if (region_of_cell.size() > static_cast<std::size_t>(std::numeric_limits<Index>::max())) {
    throw Error(ErrorKind::usage, "there are more cells than an index can number");
  }
  for (const MembraneChoice& choice : regions) {
    Group& group = groups_.emplace_back();
    group.model = model_of(choice);
    group.choice = choice;
  }
  for (const std::uint16_t region : region_of_cell) {
    if (region >= regions.size()) {
      throw Error(ErrorKind::out_of_range, "a cell is in region " + std::to_string(region) +
                                               " of " + std::to_string(regions.size()) +
                                               ", counted from 0");
    }
    ++groups_[region].count;
  }
  Offset first = 0, numbers = 0;
  std::vector<Offset> next;
  for (Group& group : groups_) {
    group.first = first;
    next.push_back(first);
    first += group.count;
    group.plane = (group.count + cells_of_plane - 1) / cells_of_plane * cells_of_plane;
    group.state = numbers;
    numbers += states(group) * group.plane;
  }
  node_on_host_.resize(region_of_cell.size());
  for (std::size_t i = 0; i < region_of_cell.size(); ++i) {
    node_on_host_[static_cast<std::size_t>(next[region_of_cell[i]]++)] = static_cast<Index>(i);
  }
  std::erase_if(groups_, [](const Group& group) { return group.count == 0; });
  if (groups_.size() > 1) node_ = Array<Index>(std::span<const Index>(node_on_host_), device_);

  std::vector<double> start(static_cast<std::size_t>(numbers));
  for (const Group& group : groups_) {
    for (int k = 0; k < states(group); ++k) {
      std::fill_n(start.begin() + group.state + k * group.plane, group.plane,
                  start_of(group.model, k + 1));
    }
  }
  state_ = Array<double>(std::span<const double>(start), device_);
}

int MembraneCells::states(const Group& group) const {
  return std::visit([]<class M>(const M&) { return states_of<M>; }, group.model);
}

void MembraneCells::set_stimuli(std::span<const Stimulus> stimuli,
                                std::span<const std::uint32_t> mask_of_cell) {
  if (stimuli.size() > max_stimuli) {
    throw Error(ErrorKind::usage, "there are " + std::to_string(stimuli.size()) +
                                      " stimuli; at most " + std::to_string(max_stimuli) +
                                      " are possible");
  }
  if (mask_of_cell.size() != node_on_host_.size()) {
    throw Error(ErrorKind::size_mismatch, "stimulus masks for " +
                                              std::to_string(mask_of_cell.size()) + " of " +
                                              std::to_string(cells_) + " cells");
  }
  for (std::size_t k = 0; k < stimuli.size(); ++k) check_stimulus(stimuli[k], k);
  std::vector<std::uint32_t> mask;
  for (const Index node : node_on_host_) {
    mask.push_back(mask_of_cell[static_cast<std::size_t>(node)]);
    if (static_cast<std::size_t>(std::bit_width(mask.back())) > stimuli.size()) {
      throw Error(ErrorKind::out_of_range,
                  "cell " + std::to_string(node) + " has a stimulus that does not exist");
    }
  }
  mask_ = stimuli.empty() ? Array<std::uint32_t>()
                          : Array<std::uint32_t>(std::span<const std::uint32_t>(mask), device_);
  stimuli_ = Array<Stimulus>(stimuli, device_);
}

std::vector<double> MembraneCells::resting_potential() const {
  std::vector<double> V(node_on_host_.size());
  for (const Group& group : groups_) {
    for (Offset i = group.first; i < group.first + group.count; ++i) {
      V[static_cast<std::size_t>(node_on_host_[static_cast<std::size_t>(i)])] =
          start_of(group.model, 0);
    }
  }
  return V;
}

void MembraneCells::advance(double* potential, const double* time, double dt, const Stream& stream,
                            CellRule rule, const BeforeDiffusion& next, const double* diffused) {
  if (is_tabulated() && shortest_stage(rule, dt) != tabulated_) {
    throw Error(ErrorKind::usage, "the membranes' tables were made for another step");
  }
  for (const Group& group : groups_) {
    const CellData data{.count = group.count,
                        .node = node_.empty() ? nullptr : node_.data() + group.first,
                        .state = state_.data() + group.state,
                        .plane = group.plane,
                        .mask = mask_.empty() ? nullptr : mask_.data() + group.first,
                        .stimulus = stimuli_.data(),
                        .stimuli = static_cast<int>(stimuli_.size()),
                        .potential = potential,
                        .time = time,
                        .dt = dt,
                        .rule = rule,
                        .tables = tables_of(group),
                        .diffused = diffused,
                        .next = next};
    (stream.on_gpu() ? advance_on_gpu : advance_on_cpu)(group.model, data, stream);
  }
}

void MembraneCells::tabulate(double dt, CellRule rule) {
  tabulated_ = shortest_stage(rule, dt);
  for (Group& group : groups_) group.tables.reset();
  for (Group& group : groups_) {
    const auto equal = std::find_if(groups_.begin(), groups_.end(), [&](const Group& other) {
      return other.tables != nullptr && other.choice == group.choice;
    });
    if (equal != groups_.end()) {
      group.tables = equal->tables;
      continue;
    }
    std::visit(
        [&]<class M>(const M& model) {
          if constexpr (TabulatedModel<M>) {
            static_assert(M::tables.size() <= max_tables);
            std::vector<float> all;
            for (std::size_t k = 0; k < M::tables.size(); ++k) {
              const std::size_t before = all.size();
              all.resize(before + static_cast<std::size_t>(M::tables[k].floats()));
              model.fill(static_cast<int>(k), tabulated_, all.data() + before);
            }
            group.tables =
                std::make_shared<const Array<float>>(std::span<const float>(all), device_);
          }
        },
        group.model);
  }
}

bool MembraneCells::is_tabulated() const {
  return std::any_of(groups_.begin(), groups_.end(),
                     [](const Group& group) { return group.tables != nullptr; });
}

CellTables MembraneCells::tables_of(const Group& group) const {
  CellTables tables{.dt = tabulated_};
  if (group.tables == nullptr) return tables;
  std::visit(
      [&]<class M>(const M&) {
        if constexpr (TabulatedModel<M>) {
          const float* next = group.tables->data();
          for (std::size_t k = 0; k < M::tables.size(); ++k) {
            tables.table[k] = next;
            next += M::tables[k].floats();
          }
        }
      },
      group.model);
  return tables;
}

template <class Plane>
void MembraneCells::for_each_plane(std::vector<double>& padded, const Plane& plane) const {
  for (const Group& group : groups_) {
    for (int k = 0; k < states(group); ++k) {
      plane(std::span(padded).subspan(static_cast<std::size_t>(group.state + k * group.plane),
                                      static_cast<std::size_t>(group.count)));
    }
  }
}

std::vector<double> MembraneCells::state() const {
  std::vector<double> padded = state_.to_host(), state;
  for_each_plane(padded, [&](std::span<double> plane) {
    state.insert(state.end(), plane.begin(), plane.end());
  });
  return state;
}

void MembraneCells::set_state(std::span<const double> state) {
  std::vector<double> padded = state_.to_host();
  std::size_t wanted = 0;
  for_each_plane(padded, [&](std::span<double> plane) { wanted += plane.size(); });
  if (state.size() != wanted) {
    throw Error(ErrorKind::size_mismatch, "the state has " + std::to_string(state.size()) +
                                              " numbers, but the cells have " +
                                              std::to_string(wanted));
  }
  std::size_t at = 0;
  for_each_plane(padded, [&](std::span<double> plane) {
    std::copy_n(state.begin() + static_cast<std::ptrdiff_t>(at), plane.size(), plane.begin());
    at += plane.size();
  });
  // Copied in place, because recorded work of a GPU continues to use this memory.
  detail::copy_bytes(state_.data(), padded.data(), padded.size() * sizeof(double),
                     device_.stream());
}

double MembraneCells::largest_step() const {
  double least = std::numeric_limits<double>::infinity();
  for (const Group& group : groups_) {
    least = std::min(
        least, std::visit([](const auto& model) { return model.largest_step(); }, group.model));
  }
  return least;
}

std::string MembraneCells::description() const {
  std::string text;
  for (const Group& group : groups_) {
    text += (text.empty() ? "" : "; ") + text_of(group.choice, group.model) + ": " +
            std::to_string(group.count) + (group.count == 1 ? " cell" : " cells");
  }
  return text;
}

}  // namespace heddle::heart
