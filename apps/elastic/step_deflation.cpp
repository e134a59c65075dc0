#include "step_deflation.hpp"

#include <cstdio>
#include <string>
#include <vector>

#include "../command/readable.hpp"
#include "../command/stopwatch.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/lobpcg.hpp"
#include "heddle/polynomial.hpp"

namespace heddle::elastic {

nlohmann::ordered_json to_json(const DeflationRecord& record) {
  nlohmann::ordered_json json = {{"most", record.most}, {"systems", record.systems}};
  if (record.systems == 0) return json;
  json["vectors"] = record.vectors;
  json["eigen_iterations"] = record.eigen_iterations;
  json["setup_seconds"] = record.setup_seconds;
  json["renewal_seconds"] = record.renewal_seconds;
  json["first_iterations"] = record.first_iterations;
  json["mean_iterations"] = record.mean_iterations();
  return json;
}

std::string text_of(const DeflationRecord& record) {
  char text[240];
  std::snprintf(text, sizeof text,
                "%s systems with %d vectors: %.1f iterations each, %lld in the system before; "
                "eigenvectors %s (%lld iterations), coarse spaces %s",
                cli::readable_count(record.systems).c_str(), record.vectors,
                record.mean_iterations(), record.first_iterations,
                cli::readable_seconds(record.setup_seconds).c_str(), record.eigen_iterations,
                cli::readable_seconds(record.renewal_seconds).c_str());
  return text;
}

std::shared_ptr<Deflation<double>> deflation_of(const Operator<Block>& A, DeflationRecord& record) {
  const cli::Stopwatch watch;
  std::vector<Field<Block>> vectors;
  std::vector<FieldView<double>> x;
  for (long long i = 0; i < record.most; ++i) {
    vectors.push_back(A.field());  // zero: replaced by a random vector
    x.push_back(vectors.back().view());
  }
  // Tolerance for an eigenpair, relative to |A|. For a turbine blade, 1e-4 takes 25 iterations
  // instead of 15, and a step takes 60.4 instead of 60.9.
  constexpr double tolerance = 1e-3;
  constexpr int degree = 12;  // the same as for finding modes
  constexpr long long max_iterations = 200;
  bool is_found = false;
  {
    Lobpcg<double> solver(A, Chebyshev<double>(A, Jacobi<Block>(A), {.degree = degree}),
                          {.count = static_cast<int>(record.most),
                           .tolerance = tolerance,
                           .max_iterations = max_iterations,
                           .checks = false});
    const EigenReport report = solver.solve(x);
    is_found = !report.eigenvalues.empty();
    record.eigen_iterations = report.iterations;
  }
  std::shared_ptr<Deflation<double>> made;
  if (is_found) {
    const std::vector<FieldView<const double>> found(x.begin(), x.end());
    made = std::make_shared<Deflation<double>>(A, found, std::make_shared<Jacobi<Block>>(A));
    record.vectors = made->vectors();
    A.device().synchronize();
  }
  record.setup_seconds = watch.seconds();
  return made;
}

}  // namespace heddle::elastic
