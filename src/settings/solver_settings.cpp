// Settings of solvers: methods for A x = b, least squares, eigenpairs.
#include <array>
#include <limits>

#include "setting_kinds.hpp"
#include "setting_rows.hpp"
#include "solvers/operators/operator_checks.hpp"

namespace heddle::detail {

namespace {

constexpr auto restarts = [](long long value) { return value >= 1; };

constexpr auto full_or_single = [](std::string_view text) {
  return is_same_name(text, "full")     ? std::optional(StoredScalar::own)
         : is_same_name(text, "single") ? std::optional(StoredScalar::single)
                                        : std::nullopt;
};
constexpr auto is_single = [](std::string_view text) -> std::optional<bool> {
  const auto stored = full_or_single(text);
  if (!stored) return std::nullopt;
  return *stored == StoredScalar::single;
};
constexpr auto last_or_best = [](std::string_view text) {
  return is_same_name(text, "last")   ? std::optional(Keep::last)
         : is_same_name(text, "best") ? std::optional(Keep::best)
                                      : std::nullopt;
};
constexpr auto interval_in = [](std::string_view text) -> std::optional<SpectralInterval> {
  const std::vector<double> ends = numbers_in<double>(text);
  if (ends.size() != 2 || !is_interval({ends[0], ends[1]})) return std::nullopt;
  return SpectralInterval{ends[0], ends[1]};
};

template <auto... path>
using OfSolver = To<SolveSettings, &SolveSettings::solver, path...>;
template <auto... path>
using OfLeastSquares = To<LeastSquaresOptions, path...>;
template <auto... path>
using OfEigen = To<EigenOptions, path...>;

constexpr std::string_view share_words = "a number of at least 0 and below 1";
constexpr std::string_view seconds_words = "a number of seconds, 0 or more";
constexpr std::string_view count_words = "a whole number, 0 or more";

}  // namespace

std::span<const SettingRow> solver_settings() {
  constexpr auto use = SettingUse::solver;
  using O = SolverOptions;
  static constexpr std::array rows = {
      row(use, "tolerance", OfSolver<&O::tolerance>::number<is_tolerance>(share_words), "T",
          "1e-10 in double, 1e-5 in single precision; for lsmr 1e-8 and 1e-5",
          "limit on |b - A x| / |b|; for lsmr on |A* r| / (|A| |r|)", "rtol"),
      row(use, "absolute_tolerance",
          OfSolver<&O::absolute_tolerance>::number<from_0>("a number, 0 or more"), "T", "0",
          "limit on |b - A x|, which is enough by itself", "atol"),
      row(use, "max_iterations",
          OfSolver<&O::max_iterations>::whole_number<whole_from_0>(count_words), "N", "10000",
          "maximum number of iterations", "maxiter"),
      row(use, "time_limit", OfSolver<&O::time_limit>::number<from_0>(seconds_words), "SECONDS",
          "none",
          "maximum seconds of iterating, checked between iterations of the solver and of a solver "
          "that preconditions"),
      row(use, "keep", OfSolver<&O::keep>::name<last_or_best>("last or best"), "last|best", "last",
          "the x of a solve that ends at a limit: the last one of the method, or the best, the one "
          "with the smallest residual that was checked"),
      row(use, "restart",
          OfSolver<&O::restart>::whole_number<restarts>("a whole number from 1 to 2147483647"), "M",
          "30",
          "iterations of gmres and fgmres between restarts, each of which keeps a vector or two",
          "", &MethodInfo::restarts),
      row(use, "basis_precision",
          OfSolver<&O::basis_precision>::name<full_or_single>("full or single"), "full|single",
          "full",
          "single: gmres and fgmres store their vectors as floats, which halves their memory in "
          "double; the residual is still that of the matrix",
          "", &MethodInfo::restarts),
      row(use, "field_precision",
          To<SolveSettings, &SolveSettings::has_narrow_fields>::name<is_single>("full or single"),
          "full|single", "full",
          "single: iterations store every field as floats, and the matrix too, or in 16 bits under "
          "a plan with them; runs are refined by residuals in double, and continue in double where "
          "floats get no further"),
      row(use, "interval",
          as_numbers(
              OfSolver<&O::interval>::name<interval_in>("two finite numbers, 0 < LOWER < UPPER")),
          "LOWER UPPER", "an estimate",
          "bounds of the eigenvalues of M^-1 A, for chebyshev and richardson", "",
          &MethodInfo::takes_interval),
      row(use, "omega", OfSolver<&O::omega>::number<is_step>("a finite number other than 0"), "W",
          "2 / (LOWER + UPPER)", "the step of richardson, for any matrix", "",
          &MethodInfo::takes_omega),
      row(use, "record_history", OfSolver<&O::record_history>::yes_or_no(), "true|false", "false",
          "keep the relative residual of every iteration", "", nullptr, true),
  };
  return rows;
}

std::span<const SettingRow> least_squares_settings() {
  constexpr auto use = SettingUse::least_squares;
  using O = LeastSquaresOptions;
  static constexpr std::array rows = {
      row(use, "damping",
          OfLeastSquares<&O::damping>::number<finite_from_0>("a finite number, 0 or more"), "D",
          "0", "minimize |A x - b|^2 + D^2 |x|^2, with lsmr"),
      row(use, "tolerance", OfLeastSquares<&O::tolerance>::number<is_tolerance>(share_words), "T",
          "1e-8 in double, 1e-5 in single precision",
          "limit on |A* r - D^2 x| / (|A| |r|), or on |r| / (|b| + |A| |x|), r = b - A x", "rtol"),
      row(use, "max_iterations",
          OfLeastSquares<&O::max_iterations>::whole_number<whole_from_0>(count_words), "N", "10000",
          "maximum number of iterations", "maxiter"),
      row(use, "time_limit", OfLeastSquares<&O::time_limit>::number<from_0>(seconds_words),
          "SECONDS", "none", "maximum seconds of iterating"),
      row(use, "record_history", OfLeastSquares<&O::record_history>::yes_or_no(), "true|false",
          "false", "keep the residuals of every iteration", "", nullptr, true),
  };
  return rows;
}

std::span<const SettingRow> eigen_settings() {
  constexpr auto use = SettingUse::eigen;
  using O = EigenOptions;
  static constexpr auto fits_count = [](long long k) { return 1 <= k && k <= O::max_pairs; };
  static constexpr auto fits_guard = [](long long k) { return 0 <= k && k <= O::max_pairs; };
  static_assert(O::max_pairs == 16, "as the words below say");
  static constexpr std::array rows = {
      row(use, "count", OfEigen<&O::count>::whole_number<fits_count>("a whole number from 1 to 16"),
          "K", "4, or all of a smaller matrix", "number of eigenpairs"),
      row(use, "guard", OfEigen<&O::guard>::whole_number<fits_guard>("a whole number from 0 to 16"),
          "N", "a quarter of the count",
          "number of additional vectors in the iteration, so that the last eigenpairs converge as "
          "fast as the first"),
      row(use, "tolerance", OfEigen<&O::tolerance>::number<is_tolerance>(share_words), "T",
          "1e-8 in double, 1e-5 in single precision",
          "limit on |A x - M x lambda| / ((|A| + |lambda| |M|) |x|)", "rtol"),
      row(use, "max_iterations",
          OfEigen<&O::max_iterations>::whole_number<whole_from_0>(count_words), "N", "1000",
          "maximum number of iterations", "maxiter"),
      row(use, "time_limit", OfEigen<&O::time_limit>::number<from_0>(seconds_words), "SECONDS",
          "none", "maximum seconds of iterating"),
      row(use, "seed",
          OfEigen<&O::seed>::whole_number<[](std::uint64_t) { return true; }>(count_words), "SEED",
          "1", "seed of the initial vectors"),
  };
  return rows;
}

}  // namespace heddle::detail
