// The page of a run: complete, well-formed, and needing nothing but itself.
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "output.hpp"
#include "svg_chart.hpp"
#include "synthetic_run.hpp"

namespace {

using namespace heddle;
using namespace heddle::bench;
using namespace heddle::report;

/// Empty where every element that opens closes in its place and every & is an entity; else what is
/// wrong first.
std::string fault_of(const std::string& html) {
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

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(HtmlPage, IsWellFormed) { EXPECT_EQ(fault_of(html_page(test::synthetic_run())), ""); }

TEST(HtmlPage, NeedsNothingButItself) {
  const std::string html = html_page(test::synthetic_run());
  for (const char* part : {"http:", "https:", "src=", "url(", "@import", "<link", "<script"}) {
    EXPECT_EQ(html.find(part), std::string::npos) << part;
  }
  EXPECT_NE(html.find("prefers-color-scheme:dark"), std::string::npos);
}

TEST(HtmlPage, HoldsEveryRecordAndCandidate) {
  const auto run = test::synthetic_run();
  const std::string html = html_page(run);
  std::size_t candidates = 0;
  for (const Record& record : run.records) {
    EXPECT_NE(html.find(escaped(record.problem) + ", " + record.entry), std::string::npos);
    candidates += record.candidates.size();
    for (const Candidate& candidate : record.candidates) {
      if (candidate.failure) {
        EXPECT_NE(html.find(escaped(*candidate.failure)), std::string::npos);
      }
    }
  }
  const std::string tables_of_candidates = "<td class=\"l\">";
  EXPECT_EQ(count_of(html, tables_of_candidates), candidates);
  for (const PeerPresence& peer : run.peers) {
    EXPECT_NE(html.find(escaped(peer.name)), std::string::npos);
  }
  for (const std::string& text : {run.machine, run.device, run.date, run.commit, run.command}) {
    EXPECT_NE(html.find(escaped(text)), std::string::npos) << text;
  }
}

TEST(HtmlPage, DrawsWhatThereIs) {
  const std::string html = html_page(test::synthetic_run());
  EXPECT_EQ(count_of(html, "Bandwidth roofline"), 1u);
  EXPECT_EQ(count_of(html, "aria-label=\"Times as fast as the best other library\""), 2u);
  EXPECT_EQ(count_of(html, "aria-label=\"Convergence of "), 16u);
  EXPECT_EQ(count_of(html, "aria-label=\"Time against "), 2u);
  EXPECT_EQ(count_of(html, "nan"), 0u);
  EXPECT_EQ(count_of(html, "inf\""), 0u);
}

TEST(HtmlPage, TakesRunsWithLittleInThem) {
  auto run = test::synthetic_run();
  run.records.clear();
  EXPECT_EQ(fault_of(html_page(run)), "");
  Record record;
  record.problem = "lone <&\"'> one";
  record.entry = "real";
  record.precision = "double";
  record.quantity = "product";
  for (const char* suite : {"product", "solver", "layouts", "setup", "scaling", "an&other"}) {
    record.suite = suite;
    run.records = {record};
    EXPECT_EQ(fault_of(html_page(run)), "") << suite;
    EXPECT_NE(html_page(run).find(escaped(record.problem)), std::string::npos) << suite;
    run.records[0].compulsory_bytes = 0;
    run.records[0].candidates = {Candidate{}, Candidate{}};
    run.records[0].candidates[0].seconds = Timing{0, 0, 0};
    run.records[0].candidates[1].seconds = Timing{0, 0, 0};
    run.records[0].candidates[1].role = Role::chosen;
    run.records[0].candidates[1].history = {0, std::numeric_limits<double>::infinity()};
    EXPECT_EQ(fault_of(html_page(run)), "") << suite;
  }
}

/// Where the elements of that kind stand: x and y of each text, in order.
struct Text {
  double x, y;
  std::string words, anchor;
};

std::vector<Text> texts_of(const std::string& svg) {
  std::vector<Text> found;
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

/// No two texts on top of each other, a wide character being 7 pixels and a line 11.
void expect_apart(const std::string& svg) {
  const auto texts = texts_of(svg);
  ASSERT_FALSE(texts.empty());
  const auto left = [](const Text& t) {
    const double width = 6.2 * static_cast<double>(t.words.size());
    return t.anchor == "start" ? t.x : t.anchor == "end" ? t.x - width : t.x - width / 2;
  };
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Text &a = texts[i], &b = texts[j];
      if (std::abs(a.y - b.y) >= 11) continue;
      const double a_right = left(a) + 6.2 * static_cast<double>(a.words.size());
      const double b_right = left(b) + 6.2 * static_cast<double>(b.words.size());
      EXPECT_TRUE(a_right <= left(b) || b_right <= left(a)) << a.words << " meets " << b.words;
    }
  }
}

std::string part_between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t first = text.find(from);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find(to, first) - first);
}

TEST(HtmlPage, LabelsStayApartForManyAndFewProblems) {
  const auto whole = test::synthetic_run();
  for (const int copies : {1, 3}) {
    auto run = whole;
    run.records.clear();
    for (int k = 0; k < copies; ++k) {
      for (Record record : whole.records) {
        if (record.suite != "product" || (copies == 1 && run.records.size() == 5)) continue;
        record.problem += std::string("-") + std::to_string(k);
        if (record.compulsory_bytes) *record.compulsory_bytes += *record.compulsory_bytes * k / 50;
        run.records.push_back(record);
      }
    }
    const std::string html = html_page(run);
    const std::string roofline = part_between(html, "Bandwidth reached against", "</svg>");
    expect_apart(roofline);
    expect_apart(part_between(html, "aria-label=\"Times as fast", "</svg>"));
    // Every problem with a time has its number.
    std::set<std::string> numbers;
    for (const Text& text : texts_of(roofline)) numbers.insert(text.words);
    for (std::size_t i = 0; i < run.records.size(); ++i) {
      if (run.records[i].find(Role::chosen)->seconds) {
        EXPECT_TRUE(numbers.contains(std::to_string(i + 1))) << i + 1;
      }
    }
  }
}

TEST(Svg, WithoutPointsThereIsNoChart) {
  Chart chart;
  chart.x.tick = chart.y.tick = [](double) { return std::string("1"); };
  chart.x.logarithmic = true;
  EXPECT_EQ(svg(chart), "");
  Series series;
  series.points = {{0, 1, "", 0, {}}, {std::numeric_limits<double>::quiet_NaN(), 1, "", 0, {}}};
  chart.series = {series};
  EXPECT_EQ(svg(chart), "");
  chart.series[0].points.push_back({1, 0, "", 1, {}});
  EXPECT_EQ(fault_of(svg(chart)), "");
  EXPECT_EQ(svg(chart).find("nan"), std::string::npos);
}

}  // namespace
