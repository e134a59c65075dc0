#include "svg_drawing.hpp"

#include <array>
#include <cstdio>

#include "text_table.hpp"

namespace heddle::report {

namespace {

std::string decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  std::string shown = text;
  if (shown.ends_with(".0")) shown.erase(shown.size() - 2);
  return shown == "-0" ? "0" : shown;
}

std::string dash_of(const char* dash) {
  return *dash ? std::string(" stroke-dasharray=\"") + dash + "\"" : std::string();
}

std::string closed(const char* element, const std::string& hint) {
  if (hint.empty()) return "/>\n";
  return "><title>" + escaped(hint) + "</title></" + element + ">\n";
}

}  // namespace

const char* pattern_of(int dashes) {
  constexpr std::array<const char*, 4> kinds = {"", "7 3", "2 3", "9 3 2 3"};
  return kinds[static_cast<std::size_t>(dashes) % kinds.size()];
}

std::string escaped(const std::string& text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return safe;
}

double text_width(const std::string& text, double of_character) {
  return static_cast<double>(width(text)) * of_character;
}

void Drawing::line(Place a, Place b, const std::string& classes, const char* dash) {
  text_ += "<line x1=\"" + decimal(a.x) + "\" y1=\"" + decimal(a.y) + "\" x2=\"" + decimal(b.x) +
           "\" y2=\"" + decimal(b.y) + "\" class=\"" + classes + "\"" + dash_of(dash) + "/>\n";
}

void Drawing::path(const std::vector<Place>& places, const std::string& classes, const char* dash) {
  std::string d;
  for (const Place& p : places) d += (d.empty() ? "M" : "L") + decimal(p.x) + " " + decimal(p.y);
  text_ += "<path d=\"" + d + "\" class=\"" + classes + "\"" + dash_of(dash) + "/>\n";
}

void Drawing::rectangle(const Box& box, const std::string& classes, const std::string& hint) {
  text_ += "<rect x=\"" + decimal(box.left) + "\" y=\"" + decimal(box.top) + "\" width=\"" +
           decimal(box.right - box.left) + "\" height=\"" + decimal(box.bottom - box.top) +
           "\" class=\"" + classes + "\"" + closed("rect", hint);
}

void Drawing::mark(Mark mark, Place p, int k, const std::string& hint) {
  const std::string filled = "f" + std::to_string(k), hollow = "h" + std::to_string(k);
  switch (mark) {
    case Mark::none:
      break;
    case Mark::dot:
    case Mark::disc:
    case Mark::ring:
      text_ += "<circle cx=\"" + decimal(p.x) + "\" cy=\"" + decimal(p.y) + "\" r=\"" +
               (mark == Mark::dot ? "2" : "4") + "\" class=\"" +
               (mark == Mark::ring ? hollow : filled) + "\"" + closed("circle", hint);
      break;
    case Mark::square:
      rectangle({p.x - 3.5, p.y - 3.5, p.x + 3.5, p.y + 3.5}, filled, hint);
      break;
    case Mark::diamond:
      text_ += "<path d=\"M" + decimal(p.x) + " " + decimal(p.y - 5) + "L" + decimal(p.x + 5) +
               " " + decimal(p.y) + "L" + decimal(p.x) + " " + decimal(p.y + 5) + "L" +
               decimal(p.x - 5) + " " + decimal(p.y) + "Z\" class=\"" + hollow + "\"" +
               closed("path", hint);
      break;
  }
}

void Drawing::text(Place p, const std::string& words, const std::string& classes,
                   const char* anchor, bool upright) {
  text_ += "<text x=\"" + decimal(p.x) + "\" y=\"" + decimal(p.y) + "\" class=\"" + classes +
           "\" text-anchor=\"" + anchor + "\"" +
           (upright ? " transform=\"rotate(-90 " + decimal(p.x) + " " + decimal(p.y) + ")\"" : "") +
           ">" + escaped(words) + "</text>\n";
}

std::string Drawing::finished(const std::string& title, double width, double height) const {
  return "<svg viewBox=\"0 0 " + decimal(width) + " " + decimal(height) +
         "\" style=\"max-width:" + decimal(width) + "px\" role=\"img\" aria-label=\"" +
         escaped(title) + "\">\n" + text_ + "</svg>\n";
}

}  // namespace heddle::report
