// A run as one page that stands alone.
#include <algorithm>

#include "amounts.hpp"
#include "html_figures.hpp"
#include "output.hpp"
#include "page.hpp"
#include "svg_drawing.hpp"

namespace heddle::bench {

using namespace report;

namespace {

std::string header(const Run& run, const std::vector<Suite>& all) {
  std::string html = element("h1", "heddle bench: " + (run.name.empty() ? run.device : run.name));
  html += "\n<dl>\n";
  const auto line = [&](const std::string& label, const std::string& words) {
    html += definition(label, words);
  };
  line("date", run.date);
  line("heddle", described(run));
  line("machine", run.machine);
  line("device", run.device);
  line(run.bandwidth_name, readable_bandwidth(run.bandwidth) + ", the median over the run");
  line("repetitions", std::to_string(run.repetitions) + ", interleaved; figures are medians");
  line("tolerance", readable_error(run.tolerance) + " of complete solves");
  html += element("dt", "command") + "<dd>" + element("code", run.command) + "</dd>\n";
  for (const PeerPresence& peer : run.peers) {
    const std::string detail = peer.detail.empty() ? "" : ": " + peer.detail;
    line(peer.present ? "library" : "absent",
         peer.name + (peer.version.empty() ? "" : " " + peer.version) + detail);
  }
  html += "</dl>\n<nav>";
  for (const Suite& suite : all) {
    html += "<a href=\"#" + escaped(suite.name) + "\">" + escaped(title(suite)) + "</a>";
  }
  return html + "</nav>\n";
}

struct Column {
  const char* title;
  std::string (*cell)(const Record&, const Candidate&);
  bool words = false;
};

std::string quartiles(const std::optional<Timing>& timing) {
  return text_or_nothing(
      timing, [](const Timing& t) { return readable_span(t.lower_quartile, t.upper_quartile); });
}

std::string median_of(const std::optional<Timing>& timing) {
  return text_or_nothing(timing, [](const Timing& t) { return readable_seconds(t.median); });
}

std::vector<Column> columns() {
  using R = const Record&;
  using C = const Candidate&;
  return {
      {"method", [](R, C c) { return short_method(c); }, true},
      {"median", [](R, C c) { return median_of(c.seconds); }},
      {"quartiles", [](R, C c) { return quartiles(c.seconds); }},
      {"speed-up over best peer",
       [](R r, C c) {
         const Candidate* peer = r.best_peer();
         if (!peer || c.role == Role::peer || !c.seconds || !(c.seconds->median > 0))
           return std::string();
         return readable_ratio(peer->seconds->median / c.seconds->median);
       }},
      {"bandwidth",
       [](R r, C c) {
         if (!r.compulsory_bytes || !c.seconds || !c.of_bandwidth) return std::string();
         return readable_bandwidth(static_cast<double>(*r.compulsory_bytes) / c.seconds->median);
       }},
      {"of limit", [](R, C c) { return text_or_nothing(c.of_bandwidth, readable_percent); }},
      {"cold", [](R, C c) { return median_of(c.cold); }},
      {"cold quartiles", [](R, C c) { return quartiles(c.cold); }},
      {"cold of limit",
       [](R, C c) { return text_or_nothing(c.cold_of_bandwidth, readable_percent); }},
      {"error", [](R, C c) { return text_or_nothing(c.error, readable_error); }},
      {"same bits", [](R, C c) { return c.repeats ? std::string(*c.repeats ? "yes" : "no") : ""; }},
      {"memory",
       [](R, C c) {
         return text_or_nothing(c.memory_bytes, [](long long bytes) {
           return readable_bytes(static_cast<double>(bytes));
         });
       }},
      {"of CSR", [](R, C c) { return text_or_nothing(c.memory_ratio, readable_ratio); }},
      {"iterations", [](R, C c) { return text_or_nothing(c.iterations, readable_count); }},
      {"solve", [](R, C c) { return text_or_nothing(c.solve_seconds, readable_seconds); }},
      {"residual", [](R, C c) { return text_or_nothing(c.residual, readable_error); }},
      {"status", [](R, C c) { return c.status.value_or(""); }},
      {"failure", [](R, C c) { return c.failure.value_or(""); }, true}};
}

/// Columns in which no candidate of the suite has anything are left out.
std::string table(const Suite& suite) {
  std::vector<Column> shown;
  for (const Column& column : columns()) {
    const bool any =
        std::any_of(suite.records.begin(), suite.records.end(), [&](const Record* record) {
          return std::any_of(
              record->candidates.begin(), record->candidates.end(),
              [&](const Candidate& candidate) { return !column.cell(*record, candidate).empty(); });
        });
    if (any) shown.push_back(column);
  }
  std::string html =
      "<h3>All candidates</h3>\n<div class=\"wide\"><table>\n<thead><tr><th>number</th><th "
      "class=\"l\">problem</th><th class=\"l\">library</th>";
  for (const Column& column : shown) {
    html += std::string(column.words ? "<th class=\"l\">" : "<th>") + column.title + "</th>";
  }
  html += "</tr></thead>\n";
  int number = 0;
  for (const Record* record : suite.records) {
    const std::size_t span = std::max<std::size_t>(record->candidates.size(), 1);
    html += "<tbody>\n<tr";
    const std::string rows = " rowspan=\"" + std::to_string(span) + "\"";
    std::string problem = "><th" + rows;
    problem += ">" + std::to_string(++number) + "</th><th class=\"l\"" + rows;
    problem += ">" + escaped(problem_of(*record)) + "<br/>" + escaped(record->quantity) + "; " +
               readable_count(record->rows) + " rows, " + readable_count(record->entries) +
               " entries";
    if (record->compulsory_bytes) {
      problem += "<br/>" + readable_bytes(static_cast<double>(*record->compulsory_bytes));
    }
    problem += "</th>";
    if (record->candidates.empty()) html += problem + "</tr>\n";
    for (std::size_t i = 0; i < record->candidates.size(); ++i) {
      const Candidate& candidate = record->candidates[i];
      const bool heddles = candidate.role != Role::peer;
      std::string classes = heddles ? "own" : "";
      if (!is_right(*record, candidate)) classes += classes.empty() ? "bad" : " bad";
      const std::string class_text = classes.empty() ? "" : " class=\"" + classes + "\"";
      html += i == 0 ? class_text + problem : "<tr" + class_text + ">";
      html += "<td class=\"l\">" + escaped(candidate.library) +
              (heddles ? " " + std::string(name(candidate.role)) : std::string()) + "</td>";
      for (const Column& column : shown) {
        html += std::string(column.words ? "<td class=\"m\">" : "<td>") +
                escaped(column.cell(*record, candidate)) + "</td>";
      }
      html += "</tr>\n";
    }
    html += "</tbody>\n";
  }
  return html + "</table></div>\n";
}

std::string fault_list(const Suite& suite) {
  const std::vector<Fault> found = faults(suite.records);
  if (found.empty()) return "";
  std::string html = "<h3>Without a valid result</h3>\n<ul>\n";
  for (const Fault& fault : found) {
    html += "<li><span class=\"bad\">" + escaped(fault.who + ": " + fault.what) + "</span><br/>" +
            escaped(where(fault)) + "</li>\n";
  }
  return html + "</ul>\n";
}

}  // namespace

std::string html_page(const Run& run) {
  const std::vector<Suite> all = suites(run);
  std::string body = header(run, all);
  for (const Suite& suite : all) {
    body += "<h2 id=\"" + escaped(suite.name) + "\">" + escaped(title(suite)) + "</h2>\n";
    body += figures_of(run, suite) + fault_list(suite) + table(suite);
  }
  return page("heddle bench: " + (run.name.empty() ? run.device : run.name), body);
}

}  // namespace heddle::bench
