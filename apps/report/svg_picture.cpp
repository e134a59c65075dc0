#include "svg_picture.hpp"

#include <cstdio>

#include "text_table.hpp"

namespace heddle::report {

namespace {

// The light half of the style of pages (page.cpp), without variables: few programs except browsers
// support those.
constexpr const char* light_style = R"(
text{font:12px Helvetica,Arial,"DejaVu Sans",sans-serif}
.small{font-size:11px}.title{font-size:16px;font-weight:600}
.ink,.title{fill:#1b1f24}.faint{fill:#59636e}
.axis{stroke:#59636e;stroke-width:1}.grid{stroke:#e1e5ea;stroke-width:1}
.limit{stroke:#1b1f24;stroke-width:1.2;stroke-dasharray:6 4}
.line{fill:none;stroke-width:1.8;stroke-linejoin:round}.thin{stroke-width:1}
.s1{stroke:#0072b2}.s2{stroke:#c8500a}.s3{stroke:#00845f}
.s4{stroke:#a8478a}.s5{stroke:#8a6d00}.s6{stroke:#2f6fdd}
.f1{fill:#0072b2}.f2{fill:#c8500a}.f3{fill:#00845f}.f4{fill:#a8478a}.f5{fill:#8a6d00}.f6{fill:#2f6fdd}
.h1,.h2,.h3,.h4,.h5,.h6{fill:#ffffff;stroke-width:1.8}
.h1{stroke:#0072b2}.h2{stroke:#c8500a}.h3{stroke:#00845f}
.h4{stroke:#a8478a}.h5{stroke:#8a6d00}.h6{stroke:#2f6fdd}
)";

std::string pixels(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

/// A line of words, cut to the picture's width.
std::string line_of_words(const std::string& words, double baseline, const char* look,
                          double of_character, double width) {
  const auto most = static_cast<std::size_t>(width / of_character);
  return "<text x=\"14\" y=\"" + pixels(baseline) + "\" class=\"" + look + "\">" +
         escaped(cut(printable(words), most)) + "</text>\n";
}

}  // namespace

std::string picture_of(const Chart& chart, const std::string& words) {
  constexpr double head = 54, of_title = 9.2;
  const std::string size = "width=\"" + pixels(chart.width) + "\" height=\"";
  const double height = chart.height + head;
  std::string text = "<svg xmlns=\"http://www.w3.org/2000/svg\" " + size + pixels(height) +
                     "\" viewBox=\"0 0 " + pixels(chart.width) + " " + pixels(height) + "\">\n" +
                     "<title>" + escaped(printable(chart.title)) + "</title>\n<style>" +
                     light_style + "</style>\n<rect " + size + pixels(height) +
                     "\" fill=\"#ffffff\"/>\n";
  text += line_of_words(chart.title, 27, "title", of_title, chart.width - 28);
  text += line_of_words(words, 46, "faint", character, chart.width - 28);
  std::string figure = svg(chart);
  if (figure.empty()) {
    figure = line_of_words("Nothing to draw: no number above 0.", head + 40, "ink", character,
                           chart.width - 28);
  } else {
    figure.insert(std::string("<svg ").size(),
                  "y=\"" + pixels(head) + "\" " + size + pixels(chart.height) + "\" ");
  }
  return text + figure + "</svg>\n";
}

}  // namespace heddle::report
