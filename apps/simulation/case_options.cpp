#include "case_options.hpp"

#include "../command/output_path.hpp"
#include "../mesh/solid_mesh.hpp"
#include "frame_writer.hpp"

namespace heddle::simulation {

cli::RunFiles CaseOptions::files(const std::vector<std::optional<std::string>>& others) const {
  cli::check_ending("--picture", picture, ".png", "pictures are written as");
  cli::RunFiles files;
  if (!mesh.empty()) files.reads("the command", mesh::files_of_solid_mesh(mesh));
  files.reads("--case", case_path);
  profile.add_inputs(files);
  files.writes("--output", output);
  if (output) {
    for (const std::string& frame : FrameWriter::names_of(*output, others)) {
      files.writes("--output", frame);
    }
  }
  files.writes("--picture", picture);
  return files;
}

}  // namespace heddle::simulation
