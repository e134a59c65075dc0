#include "history_file.hpp"

#include <cstdio>
#include <string_view>

namespace heddle::elastic {

HistoryFile::HistoryFile(const std::string& path) : file_(path) {
  file_.write("step,time,iterations,residual,kinetic,elastic,work,total\n");
  file_.appear();
}

void HistoryFile::add(const StepRecord& step) {
  char line[256];
  const Energies& e = step.energies;
  const int length = std::snprintf(
      line, sizeof line, "%lld,%.17g,%lld,%.6g,%.17g,%.17g,%.17g,%.17g\n", step.step, step.time,
      step.report.iterations, step.report.residual, e.kinetic, e.elastic, e.work, e.total());
  file_.write(std::string_view(line, static_cast<std::size_t>(length)));
  file_.flush();
}

}  // namespace heddle::elastic
