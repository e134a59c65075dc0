// Elements of SVG, coloured by the classes of the page that holds them, so that one text serves
// light and dark. Classes: `ink` and `faint` (text), `axis`, `grid` and `limit` (strokes), and for
// series k from 1 to 6 `s<k>` (stroke), `f<k>` (fill) and `h<k>` (hollow: stroked, filled with the
// page's background).
#pragma once

#include <string>
#include <vector>

namespace heddle::report {

inline constexpr int series_colours = 6;
/// The k of a series' classes, for any number.
inline int class_of(int colour) { return colour % series_colours + 1; }
/// A dash pattern for any number; 0 is a solid line, few are distinguishable.
const char* pattern_of(int dashes);

/// Writes <, >, & and quotes as entities, and drops the control characters that XML forbids.
std::string escaped(const std::string& text);

inline constexpr double character = 7.0;  // pixels of a wide character at size 12
inline constexpr double small_character = 6.2;
inline constexpr double line_height = 18;
/// Approximate, in pixels.
double text_width(const std::string& text, double of_character = character);

struct Place {
  double x = 0, y = 0;
};

struct Box {
  double left, top, right, bottom;
  bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

/// A dot suits hundreds of points.
enum class Mark { none, dot, disc, ring, square, diamond };

/// Elements in drawing order.
class Drawing {
 public:
  void line(Place a, Place b, const std::string& classes, const char* dash = "");
  void path(const std::vector<Place>& places, const std::string& classes, const char* dash);
  /// A pointer resting on it shows `hint`, unless that is empty.
  void rectangle(const Box& box, const std::string& classes, const std::string& hint);
  void mark(Mark mark, Place p, int k, const std::string& hint);
  /// `anchor`: start, middle, end. The baseline goes through `p`.
  void text(Place p, const std::string& words, const std::string& classes, const char* anchor,
            bool upright = false);

  /// The whole figure; `title` is for screen readers.
  std::string finished(const std::string& title, double width, double height) const;

 private:
  std::string text_;
};

}  // namespace heddle::report
