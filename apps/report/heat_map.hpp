// Times over two axes of few values each, as coloured cells with their figures in them.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace heddle::report {

inline constexpr int heat_colours = 9;

/// Cells wear the classes `q1` (least) to `q9` and their figures `t1` to `t9`, logarithmically
/// between the two ends; those without a value are an outline, `none`, and the least of all is
/// framed.
struct HeatMap {
  struct Cell {
    double value = 0;   // seconds, positive
    std::string label;  // of at most five characters, in the unit that the title names
    std::string hint;   // shown where a pointer rests on it
  };
  struct Panel {
    std::string name;                                     // above it
    std::string x_label, y_label;                         // with units
    std::vector<std::string> x;                           // columns, from the left
    std::vector<std::string> y;                           // rows, from the bottom
    std::vector<std::vector<std::optional<Cell>>> cells;  // by row, then column
  };

  std::string title;          // for those who hear the page
  std::string value_label;    // above the legend, with the unit
  std::vector<Panel> panels;  // side by side, one scale of colours for all
};

/// Empty where no cell has a value.
std::string svg(const HeatMap& map);

}  // namespace heddle::report
