// The program `heddle-elastic`: linear and corotational elasticity on tetrahedra.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "../command/run_program.hpp"
#include "run_report.hpp"

int main(int argc, char** argv) {
  using namespace heddle;
  CLI::App app(
      "Elastic solids in tetrahedra: displacements and stresses under loads, motion, and modes, on "
      "a CPU or a GPU.");
  elastic::RunOptions options;
  int status = 0;
  app.add_option("mesh", options.mesh,
                 "Medit (.mesh), Gmsh (.msh), VTK (.vtk, .vtu) or TetGen (.node, .ele)")
      ->required()
      ->type_name("MESH");
  cli::add_file(app, "--case", options.case_path,
                "materials, supports, loads and what to compute: a JSON file, see "
                "docs/simulations/elastic.md")
      ->required();
  cli::add_file(app, "-o,--output", options.output,
                "where to write displacements and stresses for ParaView: one state (.vtu) or a "
                "series (.pvd); for modes, their shapes (.vtu)");
  cli::add_file(app, "--history", options.history,
                "where to write iterations and energies of each step as CSV");
  cli::add_file(app, "--picture", options.picture,
                "where to draw the deformed body, or the modes side by side, coloured by "
                "displacement (.png)");
  app.add_option("--dump", options.dump,
                 "writes the system of the first step as PREFIX.npz and PREFIX-rhs.mtx, for "
                 "`heddle solve --entry block3`")
      ->type_name("PREFIX");
  options.add_plan_to(app, "the matrix");
  options.preconditioner.add_to(app,
                                "overriding the case; if neither gives one, multigrid in static "
                                "analyses on a CPU, and jacobi elsewhere",
                                "single where the matrix has 64 MiB or more");
  options.add_report_to(app);
  app.footer(
      "Example: heddle-elastic beam.msh --case static.json --output beam.vtu\n"
      "Exit status: 0 done, 1 a solve did not converge, 2 bad input, 3 resources, 130 "
      "interrupted.");
  app.callback([&] {
    const elastic::Outcome outcome = elastic::run_case(options);
    options.report([&] { return elastic::to_json(options, outcome); },
                   [&] { elastic::print(options, outcome); });
    if (outcome.solved() && outcome.steps_at_accuracy_limit() > 0) {
      std::fprintf(stderr, "heddle-elastic: warning: %s\n",
                   elastic::accuracy_text(outcome).c_str());
    }
    status = outcome.solved() ? 0 : 1;
  });
  return cli::run_program("heddle-elastic", app, argc, argv, status);
}
