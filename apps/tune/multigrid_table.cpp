#include "multigrid_table.hpp"

#include <cstdio>

#include "amounts.hpp"
#include "text_table.hpp"

namespace heddle::tuning {

namespace {

std::string as_text(const char* form, double value) {
  char text[32];
  std::snprintf(text, sizeof text, form, value);
  return text;
}

}  // namespace

void print_multigrids(const std::vector<MultigridRecord>& records, const std::string& device,
                      std::ostream& out) {
  out << report::wrapped("device     " + device, 11) << "\n";
  report::TextTable table({{"matrix", true, 12},
                           {"preconditioner", true, 12},
                           {"strength"},
                           {"candidates", true, 8},
                           {"iterations"},
                           {"time"},
                           {"default"}});
  for (const MultigridRecord& record : records) {
    table.add({record.matrix, record.preconditioner, as_text("%.3g", record.strength),
               record.candidates, std::to_string(record.iterations),
               report::readable_seconds(record.seconds.median),
               report::readable_seconds(record.usual_seconds.median)});
  }
  table.print(out);
  out << "\n"
      << report::wrapped(
             "medians of set-up plus solve, with conjugate gradient; default: multigrid without "
             "settings",
             0);
}

nlohmann::ordered_json multigrids_json(const std::vector<MultigridRecord>& records,
                                       const std::string& device) {
  nlohmann::ordered_json json = {{"device", device}, {"objective", "multigrid"}};
  auto& all = json["matrices"] = nlohmann::ordered_json::array();
  for (const MultigridRecord& record : records) {
    all.push_back({{"name", record.matrix},
                   {"entry", record.entry},
                   {"precision", record.precision},
                   {"candidates", record.candidates},
                   {"preconditioner", record.preconditioner},
                   {"strength", record.strength},
                   {"iterations", record.iterations},
                   {"seconds", record.seconds.median},
                   {"usual_seconds", record.usual_seconds.median},
                   {"runs", record.seconds.runs}});
  }
  return json;
}

}  // namespace heddle::tuning
