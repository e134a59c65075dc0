#include "time_scale.hpp"

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../mesh/mesh_summary.hpp"

namespace heddle::heart {

namespace {

using Triangle = std::array<Index, 3>;

constexpr int glyph_height = 5;
constexpr std::string_view glyphs = "0123456789.ms ";
/// Rows from the top; '#' marks a square that is drawn.
constexpr std::array<std::string_view, glyphs.size()> shapes = {
    "###|#.#|#.#|#.#|###", ".#.|##.|.#.|.#.|###",
    "###|..#|###|#..|###", "###|..#|###|..#|###",
    "#.#|#.#|###|..#|..#", "###|#..|###|..#|###",
    "###|#..|###|#.#|###", "###|..#|..#|..#|..#",
    "###|#.#|###|#.#|###", "###|#.#|###|..#|###",
    ".|.|.|.|#",           ".....|##.#.|#.#.#|#.#.#|#.#.#",
    "...|.##|#..|..#|##.", ".|.|.|.|."};

std::string_view shape_of(char character) {
  const std::size_t at = glyphs.find(character);
  return shapes[at < shapes.size() ? at : shapes.size() - 1];
}

/// In squares, including one blank after the character.
int width_of(char character) { return static_cast<int>(shape_of(character).find('|')) + 1; }

int width_of(const std::string& text) {
  int width = -1;
  for (const char character : text) width += width_of(character);
  return width;
}

class Drawing {
 public:
  explicit Drawing(const mesh::DrawnSurface& surface)
      : corner_(surface.mesh.position.begin(), surface.mesh.position.end()),
        triangle_(surface.mesh.triangle.begin(), surface.mesh.triangle.end()),
        colour_(surface.colour) {}

  /// Faces the viewer, with its lower left corner at (x, y).
  void add_rectangle(double x, double y, double width, double height, const mesh::Colour& colour) {
    const auto first = static_cast<Index>(corner_.size());
    for (const auto& [i, j] : {std::pair{0, 0}, {1, 0}, {1, 1}, {0, 1}}) {
      corner_.push_back({x + i * width, y + j * height, 0});
    }
    triangle_.push_back({first, first + 1, first + 2});
    triangle_.push_back({first, first + 2, first + 3});
    colour_.insert(colour_.end(), 2, colour);
  }
  /// Characters without a shape are drawn as blanks.
  void add_text(const std::string& text, double x, double y, double square) {
    constexpr mesh::Colour ink = {0.2, 0.2, 0.2};
    for (const char character : text) {
      const std::string_view shape = shape_of(character);
      const int width = width_of(character);
      for (int k = 0; k < static_cast<int>(shape.size()); ++k) {
        if (shape[static_cast<std::size_t>(k)] != '#') continue;
        const int row = k / width, column = k % width;
        add_rectangle(x + column * square, y + (glyph_height - 1 - row) * square, square, square,
                      ink);
      }
      x += width * square;
    }
  }
  mesh::DrawnSurface drawn() const {
    return {{Array<Point>(std::span<const Point>(corner_)),
             Array<Triangle>(std::span<const Triangle>(triangle_))},
            colour_};
  }

 private:
  std::vector<Point> corner_;
  std::vector<Triangle> triangle_;
  std::vector<mesh::Colour> colour_;
};

std::string text_of(double time) {
  char text[48];
  std::snprintf(text, sizeof text, "%.1f ms", time);
  return text;
}

}  // namespace

mesh::DrawnSurface with_time_scale(const mesh::DrawnSurface& surface,
                                   std::span<const mesh::Colour> bands, double first, double last) {
  const auto [low, high] = mesh::box_of(surface.mesh.position);
  const double width = high[0] - low[0], square = width / 128, gap = 4 * square;
  Drawing drawing(surface);
  const double bar = low[1] - gap - gap, band = width / static_cast<double>(bands.size());
  for (std::size_t i = 0; i < bands.size(); ++i) {
    drawing.add_rectangle(low[0] + static_cast<double>(i) * band, bar, band, gap, bands[i]);
  }
  const double line = bar - (glyph_height + 2) * square;
  const std::string of_first = text_of(first), of_last = text_of(last);
  drawing.add_text(of_first, low[0], line, square);
  drawing.add_text(of_last, high[0] - width_of(of_last) * square, line, square);
  return drawing.drawn();
}

}  // namespace heddle::heart
