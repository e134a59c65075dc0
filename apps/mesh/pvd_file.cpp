#include "pvd_file.hpp"

#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <utility>

#include "heddle/error.hpp"
#include "heddle/tools/output_file.hpp"
#include "heddle/tools/text.hpp"
#include "xml_attribute.hpp"

namespace heddle::mesh {

namespace {

/// The time on a line of the file, or NaN.
double time_of(const std::string& line) {
  constexpr std::string_view begin = "    <DataSet timestep=\"";
  double time = std::numeric_limits<double>::quiet_NaN();
  if (line.starts_with(begin)) {
    std::from_chars(line.data() + begin.size(), line.data() + line.size(), time);
  }
  return time;
}

}  // namespace

PvdFile::PvdFile(std::string path, std::optional<double> keep_before) : path_(std::move(path)) {
  if (!keep_before) return;
  std::ifstream earlier(path_);
  for (std::string line; std::getline(earlier, line);) {
    if (time_of(line) < *keep_before) steps_ += line + "\n";
  }
}

void PvdFile::add(double time, std::string_view file) {
  if (!std::isfinite(time)) throw Error(ErrorKind::usage, path_ + ": a time that is not finite");
  if (file.empty()) throw Error(ErrorKind::usage, path_ + ": a step without a file");
  std::string steps = steps_ + "    <DataSet timestep=\"";
  io::append_number(steps, time);
  steps +=
      "\" group=\"\" part=\"0\" file=\"" + xml_attribute(file, "the name of a file") + "\"/>\n";

  OutputFile output(path_);
  output.write(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"");
  output.write(vtk_byte_order());
  output.write("\">\n  <Collection>\n");
  output.write(steps);
  output.write("  </Collection>\n</VTKFile>\n");
  output.commit();
  steps_ = std::move(steps);
}

}  // namespace heddle::mesh
