// Times over two axes of few values each, as coloured cells that contain their figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace heddle::report {

inline constexpr int heat_colours = 9;

/// Cells have the classes `q1` (least) to `q9` and their figures `t1` to `t9`, logarithmically
/// between the two ends. Cells without a value are an outline, `none`, and the least of all is
/// framed.
struct HeatMap {
  struct Cell {
    double value = 0;   // seconds, positive
    std::string label;  // at most five characters, in the unit that the title names
    std::string hint;   // shown under a resting pointer
  };
  struct Panel {
    std::string name;                                     // above the panel
    std::string x_label, y_label;                         // with units
    std::vector<std::string> x;                           // columns, from the left
    std::vector<std::string> y;                           // rows, from the bottom
    std::vector<std::vector<std::optional<Cell>>> cells;  // by row, then column
  };

  std::string title;          // for screen readers
  std::string value_label;    // above the legend, with the unit
  std::vector<Panel> panels;  // side by side, one colour scale for all
};

/// Empty if no cell has a value.
std::string svg(const HeatMap& map);

}  // namespace heddle::report
