// Checks of HTML pages without a browser.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace heddle::test {

/// Empty if every element is closed in its place and every & begins an entity; otherwise the first
/// fault.
inline std::string fault_of(const std::string& html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at)) {
    const std::size_t end = html.find('>', at);
    if (end == std::string::npos) return "a tag without an end";
    const std::string tag = html.substr(at + 1, end - at - 1);
    at = end;
    if (tag.starts_with("!DOCTYPE")) continue;
    const std::string name = tag.substr(0, tag.find_first_of(" \n/", 1));
    if (tag.starts_with("/")) {
      if (open.empty() || "/" + open.back() != tag) return "stray <" + tag + ">";
      open.pop_back();
    } else if (!tag.ends_with("/")) {
      open.push_back(name);
      if (name == "style") at = html.find("</style>", at);
    }
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return "quotes in <" + tag + ">";
  }
  if (!open.empty()) return "<" + open.back() + "> is left open";
  for (std::size_t at = html.find('&'); at != std::string::npos; at = html.find('&', at + 1)) {
    bool known = false;
    for (const char* entity : {"&amp;", "&lt;", "&gt;", "&quot;"}) {
      known = known || html.compare(at, std::string(entity).size(), entity) == 0;
    }
    if (!known) return "a bare & before " + html.substr(at, 20);
  }
  return "";
}

/// The first part that would access a network or run a program; empty if there is none.
inline std::string foreign_part_of(const std::string& html) {
  for (const char* part : {"http:", "https:", "src=", "url(", "@import", "<link", "<script"}) {
    if (html.find(part) != std::string::npos) return part;
  }
  return "";
}

inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

/// A text of an SVG that is not rotated.
struct SvgText {
  double x, y;
  std::string words, anchor;
};

inline std::vector<SvgText> texts_of(const std::string& svg) {
  std::vector<SvgText> found;
  for (std::size_t at = svg.find("<text "); at != std::string::npos;
       at = svg.find("<text ", at + 1)) {
    const std::size_t end = svg.find("</text>", at);
    const std::string element = svg.substr(at, end - at);
    const auto value = [&](const std::string& key) {
      const std::size_t from = element.find(" " + key + "=\"") + key.size() + 3;
      return element.substr(from, element.find('"', from) - from);
    };
    if (element.find("rotate") != std::string::npos) continue;
    found.push_back({std::stod(value("x")), std::stod(value("y")),
                     element.substr(element.find('>') + 1), value("text-anchor")});
  }
  return found;
}

/// Two texts that overlap, for characters 6.2 pixels wide and lines 11 high; empty if there are
/// none.
inline std::string overlap_in(const std::string& svg) {
  const auto texts = texts_of(svg);
  const auto width = [](const SvgText& t) { return 6.2 * static_cast<double>(t.words.size()); };
  const auto left = [&](const SvgText& t) {
    return t.anchor == "start" ? t.x : t.anchor == "end" ? t.x - width(t) : t.x - width(t) / 2;
  };
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const SvgText &a = texts[i], &b = texts[j];
      if (std::abs(a.y - b.y) >= 11) continue;
      if (left(a) + width(a) > left(b) && left(b) + width(b) > left(a)) {
        return a.words + " meets " + b.words;
      }
    }
  }
  return "";
}

}  // namespace heddle::test
