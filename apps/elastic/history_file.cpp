#include "history_file.hpp"

#include <cstdio>

#include "heddle/tools/output_file.hpp"

namespace heddle::elastic {

void write_history(const std::string& path, const std::vector<StepRecord>& steps) {
  OutputFile file(path);
  file.write("step,time,iterations,residual,kinetic,elastic,work,total\n");
  char line[256];
  for (const StepRecord& step : steps) {
    const Energies& e = step.energies;
    const int length = std::snprintf(
        line, sizeof line, "%lld,%.17g,%lld,%.6g,%.17g,%.17g,%.17g,%.17g\n", step.step, step.time,
        step.report.iterations, step.report.residual, e.kinetic, e.elastic, e.work, e.total());
    file.write(std::string_view(line, static_cast<std::size_t>(length)));
  }
  file.commit();
}

}  // namespace heddle::elastic
