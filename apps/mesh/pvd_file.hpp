// A time series of files that ParaView opens as one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heddle::mesh {

/// A collection of VTK files (https://www.paraview.org/Wiki/ParaView/Data_formats, "PVD File
/// Format"). It is rewritten at each step, so that a run that ends early leaves a readable series.
class PvdFile {
 public:
  /// Writes nothing yet. If the collection already exists, keeps its files from before a given
  /// time, if one is given.
  explicit PvdFile(std::string path, std::optional<double> keep_before = {});

  /// Adds `file`, named relative to the folder of the collection, and writes. Throws `Error`: io;
  /// usage for a time that is not finite and for a name that is empty or has control characters,
  /// after which the collection is unchanged.
  void add(double time, std::string_view file);

 private:
  std::string path_;
  std::string steps_;
};

}  // namespace heddle::mesh
