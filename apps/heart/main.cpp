// The program `heddle-heart`: monodomain electrophysiology on tetrahedra.
#include <CLI/CLI.hpp>

#include "../command/message.hpp"
#include "../command/run_program.hpp"
#include "run/run_report.hpp"

int main(int argc, char** argv) {
  using namespace heddle;
  CLI::App app(
      "Electric waves in heart muscle: potentials and activation of the monodomain equation on "
      "tetrahedra, on a CPU or a GPU.");
  heart::RunOptions options;
  int status = 0;
  app.add_option("mesh", options.mesh,
                 "Medit (.mesh), Gmsh (.msh), VTK (.vtk, .vtu) or TetGen (.node, .ele), in mm; "
                 "leave out if the case has a slab as mesh")
      ->type_name("MESH");
  cli::add_file(app, "--case", options.case_path,
                "membranes, conductivities, fibres, stimuli and times: a JSON file, see "
                "docs/simulations/heart.md")
      ->required();
  cli::add_file(app, "-o,--output", options.output,
                "where to write the potential for ParaView, a series of states (.pvd)");
  cli::add_file(app, "--activation", options.activation,
                "where to write activation times and wave velocities (.vtu)");
  cli::add_file(app, "--traces", options.traces,
                "where to write potentials at the case's points and electrodes over time (.csv)");
  cli::add_file(app, "--picture", options.picture,
                "where to draw the surface coloured by activation (.png)");
  cli::add_file(
      app, "--restart", options.restart,
      "where to save the state at the end of the run, at Ctrl-C, and every --restart-every");
  app.add_option("--restart-every", options.restart_every,
                 "ms between saves of --restart; each state replaces the one before")
      ->type_name("MS");
  cli::add_file(app, "--resume", options.resume, "a state to continue from, written by --restart");
  app.add_flag("--assembly-on-cpu", options.assembly_on_cpu,
               "scheme newton: the CPU assembles each system, and --device solves it");
  options.add_plan_to(app, "the matrix");
  options.add_report_to(app);
  app.footer(
      "Example: heddle-heart --case data/heart/slab.json --activation slab.vtu\n"
      "Exit status: 0 done, 1 the run failed at some time, 2 bad input, 3 resources, 130 "
      "interrupted.");
  app.callback([&] {
    const heart::Outcome outcome = heart::run_case(options);
    options.report([&] { return heart::to_json(options, outcome); },
                   [&] { heart::print(options, outcome); });
    if (outcome.failure) cli::say(heart::failure_text(*outcome.failure));
    status = outcome.failure ? 1 : outcome.is_interrupted ? cli::interrupted : 0;
  });
  return cli::run_program("heddle-heart", app, argc, argv, status);
}
