// `heddle-spin`: conformal deformations of closed surfaces.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

#include "curvature_change.hpp"
#include "heddle/npz.hpp"
#include "output_path.hpp"
#include "preconditioner_option.hpp"
#include "run_files.hpp"
#include "run_options.hpp"
#include "run_program.hpp"
#include "spin_report.hpp"
#include "stopwatch.hpp"
#include "surface_picture.hpp"
#include "surface_size.hpp"
#include "whole_number.hpp"

namespace heddle::spin {

namespace {

struct Options : cli::RunOptions {
  std::string mesh;
  std::string rho, function, image;
  std::optional<double> scale;
  std::string output, picture, dump;
  std::string eigensolver;
  cli::PreconditionerOption preconditioner;
  double shift = SpinOptions{}.shift;
  double tolerance = SpinOptions{}.solver.tolerance;
  double angle = InverseIterationOptions{}.angle;
  int max_steps = InverseIterationOptions{}.max_steps;
  int earlier_solutions = InverseIterationOptions{}.earlier_solutions;
  long long max_iterations = SolverOptions{}.max_iterations;
};

constexpr double usual_scale = 5, largest_scale = 1e6;

/// The files that --dump writes, after the prefix.
constexpr std::array<const char*, 6> dumped = {"-dirac.npz",         "-dirac-rhs.mtx",
                                               "-poisson.npz",       "-poisson-rhs-x.mtx",
                                               "-poisson-rhs-y.mtx", "-poisson-rhs-z.mtx"};

/// LOBPCG takes fewer products. Its walks over vectors take longer than applying the inverses of
/// the diagonal, but on a CPU less than a multigrid cycle.
Eigensolver eigensolver_of(const Options& options, bool has_cycles_on_cpu) {
  if (options.eigensolver.empty()) {
    return has_cycles_on_cpu ? Eigensolver::lobpcg : Eigensolver::inverse_iteration;
  }
  for (const Eigensolver method : {Eigensolver::inverse_iteration, Eigensolver::lobpcg}) {
    if (options.eigensolver == name(method)) return method;
  }
  throw Error(ErrorKind::usage, "--eigensolver must be inverse-iteration or lobpcg");
}

void check(const Options& options) {
  const int sources = !options.rho.empty() + !options.function.empty() + !options.image.empty();
  if (sources != 1) {
    throw Error(ErrorKind::usage,
                "give exactly one of --rho, --function and --image; it says how the curvature is "
                "to change");
  }
  if (options.output.empty() && options.picture.empty() && options.dump.empty() && !options.json) {
    throw Error(ErrorKind::usage,
                "there is nothing to do without --output, --picture, --dump or --json");
  }
  if (options.scale && !options.rho.empty()) {
    throw Error(ErrorKind::usage,
                "--scale applies to --function and --image; --rho has its own scale");
  }
  if (options.scale && !(std::abs(*options.scale) <= largest_scale)) {
    throw Error(ErrorKind::usage, "--scale must be from -1e6 to 1e6");
  }
  if (!(options.angle > 0 && options.angle < 1)) {
    throw Error(ErrorKind::usage, "--angle must be above 0 and below 1");
  }
  if (!(options.tolerance > 0 && options.tolerance <= options.angle)) {
    throw Error(ErrorKind::usage, "--tolerance must be above 0 and at most --angle");
  }
  if (!(options.shift >= 0 && options.shift <= 1e6)) {
    throw Error(ErrorKind::usage, "--shift must be from 0 to 1e6");
  }
  eigensolver_of(options, false);
  cli::RunFiles files;
  if (!options.output.empty()) {
    files.writes("--output", options.output);
    cli::check_ending("--output", options.output, ".obj", "surfaces are written as");
  }
  if (!options.picture.empty()) {
    files.writes("--picture", options.picture);
    cli::check_ending("--picture", options.picture, ".png", "pictures are written as");
  }
  if (!options.dump.empty()) {
    for (const char* const end : dumped) files.writes("--dump", options.dump + end);
  }
  files.reads("the command", options.mesh);
  files.reads("--rho", options.rho);
  files.reads("--image", options.image);
  options.profile.add_inputs(files);
  files.check();
}

std::vector<double> curvature_change(const Options& options, const mesh::SurfaceMesh& mesh,
                                     std::string& from) {
  if (!options.rho.empty()) {
    from = options.rho;
    return curvature_change_from_file(options.rho, mesh);
  }
  const double scale = options.scale.value_or(usual_scale);
  if (!options.image.empty()) {
    from = options.image;
    return curvature_change_from_image(options.image, scale, mesh);
  }
  from = options.function;
  return named_curvature_change(options.function, scale, mesh.triangles);
}

/// A matrix and its right-hand side in the form that `heddle solve` reads. The b of the Poisson
/// equation is one file per coordinate, since the unknowns there are real numbers.
void dump_dirac(const std::string& prefix, const CsrMatrix<Quaternion>& matrix,
                const Field<Quaternion>& b) {
  write_npz(prefix + dumped[0], block_view(matrix));
  write_scalar_field(prefix + dumped[1],
                     ScalarFieldView(b.size(), Quaternion::components, false, b.scalars().data()));
}
void dump_poisson(const std::string& prefix, const CsrMatrix<RealOnQuaternions>& matrix,
                  const Field<RealOnQuaternions>& b) {
  write_npz(prefix + dumped[2], block_view(matrix));
  std::vector<double> column(static_cast<std::size_t>(b.size()));
  for (int coordinate = 0; coordinate < 3; ++coordinate) {
    for (Index i = 0; i < b.size(); ++i) {
      column[static_cast<std::size_t>(i)] = b.view().at(i, coordinate + 1);
    }
    write_scalar_field(prefix + dumped[static_cast<std::size_t>(3 + coordinate)],
                       ScalarFieldView(b.size(), 1, false, column.data()));
  }
}

SpinOptions settings_of(const Options& options, const Device& device, const Profiles& profiles,
                        Progress* progress) {
  SpinOptions settings;
  settings.device = device;
  settings.multigrid = options.preconditioner.is_multigrid(!device.on_gpu());
  settings.eigensolver = eigensolver_of(options, settings.multigrid && !device.on_gpu());
  settings.level_precision = options.preconditioner.level_precision(StoredScalar::single);
  settings.shift = options.shift;
  settings.iteration.angle = options.angle;
  settings.iteration.max_steps = options.max_steps;
  settings.iteration.earlier_solutions = options.earlier_solutions;
  settings.solver.tolerance = options.tolerance;
  settings.solver.max_iterations = options.max_iterations;
  settings.with_plan = [&, device](const PlanSubject& matrix, const SpinOptions::Build& build) {
    return options.build(matrix, device, Objective(), profiles, build);
  };
  if (!options.dump.empty()) {
    settings.on_dirac = [&](const auto& matrix, const auto& b) {
      dump_dirac(options.dump, matrix, b);
    };
    settings.on_poisson = [&](const auto& matrix, const auto& b) {
      dump_poisson(options.dump, matrix, b);
    };
  }
  settings.progress = progress;
  return settings;
}

void measure_quality(const mesh::SurfaceMesh& before, const TriangleMesh& after,
                     const std::vector<double>& rho, SpinReport& report) {
  const cli::Stopwatch watch;
  const TriangleMesh& mesh = before.triangles;
  report.distortion = distribution(quasi_conformal_distortion(mesh, after), mesh);
  report.dirac_eigenvalue = dirac_eigenvalue(mesh, rho, report.spin.lambda);
  report.curvature_error =
      curvature_error(mesh, after, mesh::VertexCorners(mesh), report.spin.lambda, report.spin.scale,
                      rho, report.dirac_eigenvalue);
  report.quality_seconds = watch.seconds();
}

int run(const Options& options) {
  const cli::Stopwatch watch;
  const Device device = options.device.on(options.quiet);
  check(options);
  const auto progress = options.progress();
  const Profiles profiles = options.profiles_on(device);
  SpinReport report;

  const mesh::SurfaceMesh before = mesh::read_surface_mesh(options.mesh);
  const TriangleMesh& mesh = before.triangles;
  try {
    mesh::check_closed(mesh);
  } catch (const Error& error) {
    throw Error(error.kind(), options.mesh + ": " + error.what());
  }
  report.radius = surface_size(mesh).radius();
  if (!std::isfinite(1 / (report.radius * report.radius)) || !std::isfinite(report.radius)) {
    throw Error(ErrorKind::not_finite, options.mesh + ": the surface is too large or too small");
  }
  const std::vector<double> rho = curvature_change(options, before, report.rho);
  report.mesh = options.mesh;
  report.output = options.output;
  report.device = device.description();
  report.vertices = static_cast<Index>(mesh.position.size());
  report.triangles = static_cast<Offset>(mesh.triangle.size());
  report.genus = mesh::genus(mesh);
  report.box = mesh::box_of(std::span<const Point>(mesh.position));
  report.left_out = static_cast<long long>(before.left_out.size());
  const auto [least, largest] = std::ranges::minmax(rho);
  report.min_rho = least;
  report.largest_rho = largest;
  report.read_seconds = watch.seconds();

  report.spin = spin_transform(mesh, rho, settings_of(options, device, profiles, progress.get()));
  if (report.spin.iteration.converged) {
    const mesh::SurfaceMesh after{
        {Array<Point>(std::span<const Point>(report.spin.position)), mesh.triangle},
        before.texture,
        {}};
    measure_quality(before, after.triangles, rho, report);
    const cli::Stopwatch writing;
    if (!options.output.empty()) mesh::write_obj(options.output, after);
    if (!options.picture.empty()) {
      const double most = std::max(std::abs(least), std::abs(largest));
      std::vector<mesh::Colour> colour;
      colour.reserve(rho.size());
      for (const double r : rho) colour.push_back(mesh::colour_of(r, most));
      const mesh::DrawnSurface drawn[] = {{mesh, colour}, {after.triangles, colour}};
      constexpr int side = 640;
      mesh::write_picture(options.picture, drawn, side);
    }
    report.write_seconds = writing.seconds();
  }
  report.seconds = watch.seconds();
  if (progress) progress->erase();
  const std::string warning = warning_of(report);
  if (!warning.empty() && !options.quiet) {
    std::fprintf(stderr, "heddle-spin: warning: %s\n", warning.c_str());
  }
  options.report([&] { return to_json(report); }, [&] { print(report); });
  return report.spin.converged() ? 0 : 1;
}

std::string list_of_functions() {
  std::string list;
  for (const NamedFunction& function : named_functions()) {
    list += (list.empty() ? "" : "; ") + function.name + " = " + function.formula;
  }
  return list;
}

void add_options(CLI::App& app, const std::shared_ptr<Options>& options) {
  cli::add_file(
      app, "mesh", options->mesh,
      "a closed surface: .obj, .off, .ply, .stl, .vtk, .vtu or .vtp, also with .gz appended")
      ->required();
  cli::add_file(app, "--rho", options->rho,
                "how the mean curvature half-density is to change: a text file of one number per "
                "triangle or per vertex");
  app.add_option("--function", options->function,
                 "the change by the name of a function, in coordinates where the surface has "
                 "radius 1 about 0, times --scale over that radius: " +
                     list_of_functions())
      ->type_name("NAME");
  cli::add_file(app, "--image", options->image,
                "the change by a grey image (PNG or .tga) at texture coordinates: black is minus "
                "--scale, white is --scale");
  app.add_option("--scale", options->scale, "scale of --function and --image; 5 by default")
      ->type_name("S");
  cli::add_file(app, "-o,--output", options->output, "where to write the surface (.obj)");
  cli::add_file(app, "--picture", options->picture,
                "where to draw the surface before and after, coloured by rho (.png)");
  app.add_option("--dump", options->dump,
                 "write the linear systems that the run reaches, for `heddle solve`: "
                 "PREFIX-dirac.npz with PREFIX-dirac-rhs.mtx (--entry quaternion), "
                 "PREFIX-poisson.npz with PREFIX-poisson-rhs-x.mtx, -y, -z (--entry real)")
      ->type_name("PREFIX");
  options->add_plan_to(app, "both matrices");
  app.add_option("--eigensolver", options->eigensolver,
                 "inverse-iteration or lobpcg; by default lobpcg with multigrid on a CPU, else "
                 "inverse-iteration")
      ->type_name("NAME");
  options->preconditioner.add_to(
      app, "for all solves; by default multigrid on a CPU, and jacobi on a GPU",
      "single for the eigenvector; the levels for the positions are full");
  app.add_option("--shift", options->shift,
                 "shift added to (D - rho)*(D - rho), in units of mass over radius squared; it "
                 "changes no eigenvector")
      ->capture_default_str()
      ->type_name("SIGMA");
  app.add_option("--tolerance", options->tolerance,
                 "tolerance of each linear system, for |b - A x| / |b|; at most --angle")
      ->capture_default_str()
      ->type_name("T");
  app.add_option("--max-iterations", options->max_iterations,
                 "largest number of iterations of each solve")
      ->capture_default_str()
      ->transform(cli::whole_number(0, std::numeric_limits<long long>::max()))
      ->type_name("N");
  app.add_option("--angle", options->angle,
                 "inverse iteration ends when the sine of the angle by which a step turns the "
                 "vector is at most this, LOBPCG when the sine of the angle to the eigenvector is, "
                 "if eigenvalues are as far apart as on a sphere (docs/simulations/spin.md)")
      ->capture_default_str()
      ->type_name("SINE");
  app.add_option("--earlier-solutions", options->earlier_solutions,
                 "number of earlier solutions of inverse iteration that make the guess of a step; "
                 "0 for none")
      ->capture_default_str()
      ->transform(cli::whole_number(0, 32))
      ->type_name("N");
  app.add_option("--max-steps", options->max_steps,
                 "largest number of steps of inverse iteration; LOBPCG is one step, of at most "
                 "--max-iterations")
      ->capture_default_str()
      ->transform(cli::whole_number(1, 100000))
      ->type_name("N");
  options->add_report_to(app);
  app.footer(
      "Example: heddle-spin sphere.obj --function waves --scale 3 --output waves.obj --picture "
      "waves.png\n"
      "Exit status: 0 converged, 1 not converged, 2 bad input, 3 resources, 130 interrupted.");
}

}  // namespace

}  // namespace heddle::spin

int main(int argc, char** argv) {
  CLI::App app(
      "Conformal deformations of closed surfaces by spin transformations: prescribe how the mean "
      "curvature changes, keep the angles.");
  int status = 0;
  const auto options = std::make_shared<heddle::spin::Options>();
  heddle::spin::add_options(app, options);
  app.callback([&] { status = heddle::spin::run(*options); });
  return heddle::cli::run_program("heddle-spin", app, argc, argv, status);
}
