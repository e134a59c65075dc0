#include "spin_report.hpp"

#include <cstdio>

#include "heddle/tools/text.hpp"
#include "json_report.hpp"
#include "multigrid_report.hpp"
#include "readable.hpp"

namespace heddle::spin {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Report& solve) {
  return {{"status", name(solve.status)},
          {"iterations", solve.iterations},
          {"residual", cli::number_or_null(solve.residual)},
          {"seconds", solve.iterate_seconds + solve.permute_seconds},
          {"loop", solve.loop},
          {"stored", solve.stored}};
}

Json to_json(const PlanChoice& choice) {
  return {{"plan", choice.text()}, {"reason", choice.reason}};
}

const char* text(const std::string& t) { return t.c_str(); }

}  // namespace

std::string warning_of(const SpinReport& report) {
  // On a twentieth of the surface a circle becomes an ellipse that is longer than this many times
  // its width, which can no longer be called conformal.
  constexpr double beyond_use = 3;
  if (!report.spin.iteration.converged) return {};
  if (report.distortion.max_of_95_percent <= beyond_use) return {};
  char text[256];
  const double most = report.distortion.max_of_95_percent;
  std::snprintf(
      text, sizeof text,
      "angles are not kept: 5%% of the surface has a quasi-conformal distortion above %.3g", most);
  std::string warning = text;
  if (report.genus > 0) {
    std::snprintf(text, sizeof text,
                  "; edges need not close around the handles of a surface of genus %d "
                  "(docs/simulations/spin.md)",
                  report.genus);
    warning += text;
  }
  return warning;
}

nlohmann::ordered_json to_json(const SpinReport& report) {
  const SpinTransformation& spin = report.spin;
  Json json = cli::begin_report();
  json["mesh"] = report.mesh;
  json["vertices"] = report.vertices;
  json["triangles"] = report.triangles;
  json["genus"] = report.genus;
  json["radius"] = report.radius;
  json["left_out"] = report.left_out;
  json["box"] = {{"least", report.box.least}, {"most", report.box.most}};
  json["device"] = report.device;
  json["rho"] = {{"from", report.rho}, {"least", report.min_rho}, {"largest", report.largest_rho}};
  json["converged"] = spin.converged();
  Json steps = Json::array();
  for (const EigenvectorStep& step : spin.iteration.steps) {
    Json one = to_json(step.solve);
    one["angle"] = cli::number_or_null(step.angle);
    one["eigenvalue"] = cli::number_or_null(step.eigenvalue);
    steps.push_back(one);
  }
  json["preconditioner"] = spin.dirac_hierarchy ? "multigrid" : "jacobi";
  json["eigenvector"] = {{"rows", report.vertices},
                         {"entries", spin.dirac_entries},
                         {"shift", spin.shift},
                         {"plan", to_json(spin.dirac_plan)},
                         {"method", name(spin.method)},
                         {"converged", spin.iteration.converged},
                         {"iterations", spin.iteration.iterations()},
                         {"products", spin.iteration.products()},
                         {"earlier_solutions", cli::to_json(spin.iteration.guesses)},
                         {"steps", steps}};
  if (spin.dirac_hierarchy)
    json["eigenvector"]["multigrid"] = cli::to_json(*spin.dirac_hierarchy, spin.level_precision);
  if (spin.iteration.converged) {
    Json positions = to_json(spin.integration);
    positions["entries"] = spin.poisson_entries;
    positions["plan"] = to_json(spin.poisson_plan);
    if (spin.poisson_hierarchy)
      positions["multigrid"] = cli::to_json(*spin.poisson_hierarchy, StoredScalar::own);
    json["positions"] = positions;
    const Distribution& d = report.distortion;
    json["quasi_conformal_distortion"] = {
        {"least", cli::number_or_null(d.least)},
        {"median", cli::number_or_null(d.median)},
        {"mean", cli::number_or_null(d.mean)},
        {"percentile_95", cli::number_or_null(d.max_of_95_percent)},
        {"largest", cli::number_or_null(d.largest)}};
    json["dirac_eigenvalue"] = cli::number_or_null(report.dirac_eigenvalue);
    json["curvature_error"] = cli::number_or_null(report.curvature_error);
    json["scale"] = spin.scale;
    const std::string warning = warning_of(report);
    if (!warning.empty()) json["warning"] = warning;
  }
  json["times"] = {{"read", report.read_seconds},         {"assemble", spin.seconds.assemble},
                   {"build", spin.seconds.build},         {"eigenvector", spin.seconds.eigenvector},
                   {"positions", spin.seconds.integrate}, {"quality", report.quality_seconds},
                   {"write", report.write_seconds},       {"all", report.seconds}};
  return json;
}

void print(const SpinReport& report) {
  using cli::readable_count, cli::readable_seconds;
  const SpinTransformation& spin = report.spin;
  std::printf("surface    %s: %s vertices, %s triangles, genus %d, radius %.4g by area\n",
              text(io::printable(report.mesh)), text(readable_count(report.vertices)),
              text(readable_count(report.triangles)), report.genus, report.radius);
  if (report.left_out > 0) {
    std::printf("note       %s more vertices belong to no face and are left out\n",
                text(readable_count(report.left_out)));
  }
  const auto& [least, most] = report.box;
  std::printf("box        %.6g to %.6g, %.6g to %.6g, %.6g to %.6g\n", least[0], most[0], least[1],
              most[1], least[2], most[2]);
  std::printf("rho        %s: %.4g to %.4g\n", text(io::printable(report.rho)), report.min_rho,
              report.largest_rho);
  std::printf("device     %s\n", text(report.device));
  std::printf("matrix     %s quaternions, shifted by %.4g M; plan %s (%s)\n",
              text(readable_count(spin.dirac_entries)), spin.shift, text(spin.dirac_plan.text()),
              text(io::printable(spin.dirac_plan.reason)));
  std::printf("method     %s with %s, %s products\n", name(spin.method),
              spin.dirac_hierarchy ? "multigrid" : "jacobi",
              text(readable_count(spin.iteration.products())));
  if (spin.dirac_hierarchy) {
    std::printf("levels     %s\n", text(cli::text_of(*spin.dirac_hierarchy, spin.level_precision)));
  }
  int number = 0;
  for (const EigenvectorStep& step : spin.iteration.steps) {
    std::printf("step %-5d %s after %lld iterations in %s, residual %.1e", ++number,
                std::string(name(step.solve.status)).c_str(), step.solve.iterations,
                text(readable_seconds(step.solve.iterate_seconds)), step.solve.residual);
    if (step.solve.converged()) {
      std::printf("; %s %.1e, eigenvalue %.6g",
                  spin.method == Eigensolver::lobpcg ? "off by about" : "turned by", step.angle,
                  step.eigenvalue);
    }
    std::printf("\n");
  }
  if (spin.iteration.guesses.count > 0) {
    std::printf("guesses    %s\n", text(cli::text_of(spin.iteration.guesses)));
  }
  if (!spin.iteration.converged) {
    std::printf("status     no eigenvector: no surface is made\n");
    return;
  }
  std::printf("positions  %s after %lld iterations in %s, residual %.1e; plan %s (%s)\n",
              std::string(name(spin.integration.status)).c_str(), spin.integration.iterations,
              text(readable_seconds(spin.integration.iterate_seconds)), spin.integration.residual,
              text(spin.poisson_plan.text()), text(io::printable(spin.poisson_plan.reason)));
  const Distribution& d = report.distortion;
  std::printf(
      "angles     quasi-conformal distortion %.3f median, %.3f mean, %.3f for 95%%, %.3f "
      "largest\n",
      d.median, d.mean, d.max_of_95_percent, d.largest);
  std::printf(
      "curvature  differs from the requested one by %.2f%%; least eigenvalue of D - rho %.4g\n",
      100 * report.curvature_error, report.dirac_eigenvalue);
  std::printf(
      "time       read %s, assemble %s, build %s, eigenvector %s, positions %s, write %s; "
      "%s in all\n",
      text(readable_seconds(report.read_seconds)), text(readable_seconds(spin.seconds.assemble)),
      text(readable_seconds(spin.seconds.build)), text(readable_seconds(spin.seconds.eigenvector)),
      text(readable_seconds(spin.seconds.integrate)), text(readable_seconds(report.write_seconds)),
      text(readable_seconds(report.seconds)));
  if (!report.output.empty()) std::printf("written    %s\n", text(io::printable(report.output)));
}

}  // namespace heddle::spin
