// Trials of plans on a matrix and a device: built or rescheduled, checked, and timed.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ahead_compiler.hpp"
#include "heddle/detail/sliced.hpp"
#include "heddle/tuning/operator_work.hpp"
#include "heddle/tuning/search_space.hpp"
#include "heddle/tuning/trials.hpp"

namespace heddle {

/// Throws `Error`: usage for iterations on a rectangular matrix, unsupported for conjugate gradient
/// on entries without an adjoint.
void check_objective(const AnyMatrix& matrix, Objective objective);

/// False where the matrix may be indefinite: then its diagonal may be too.
inline bool is_timed_with_jacobi(const MethodInfo& method) {
  return method.needs_positive || method.takes_interval || !method.needs_hermitian;
}

/// The objective of a product times y = A x with warm caches; a solver's objective times the
/// iterations, with Jacobi as in `heddle solve`, of a solve from zero with the same number of
/// iterations for every plan; its first and last residual are a part of the time. On a GPU,
/// products are replays of a graph between events, and a solve has 60 to 400 iterations, as many as
/// take 2.6 ms under the first plan, halved repeatedly where the solve ends or restarts earlier. On
/// the CPU as many runs as take 200 us are timed together, so that a clock's steps and a team's
/// waking do not show, and a solve has 5 to 20 iterations, as many as take 20 ms.
class OperatorTrials final : public Trials {
 public:
  /// The matrix must outlive this object. Throws the errors of `check_objective`.
  OperatorTrials(const AnyMatrix& matrix, const Device& device, Objective objective);

  void announce(const std::vector<Plan>& plans) override;
  void announce_later(const std::vector<Plan>& plans) override;
  /// The copy in floats of a plan with iteration-precision=single counts too.
  double memory_ratio(const Plan& plan) override;
  /// The two layouts used last stay built, along with those of prepared plans, until memory is
  /// short. Also throws `Error` (unsupported) where the method makes no iteration.
  std::unique_ptr<PreparedPlan> prepare(const Plan& plan) override;
  double now() override;

 private:
  const MemoryUse& memory_of(const Plan& plan);
  AnyOperator operator_under(const Plan& plan);
  /// Throws `WrongResult`.
  void check_result(const Plan& plan, const AnyField& result, const std::vector<double>& reference,
                    Objective of) const;
  /// x after `iterations` iterations on the CPU, with rows as given; none where none of the first
  /// iterates is clearly better than those before it.
  struct Iterate {
    long long iterations = 0;
    std::vector<double> x;
  };
  const Iterate& reference_iterate(Recurrence recurrence);
  const std::vector<double>& reference_product_of_x();
  std::unique_ptr<ProductWork> check_product(const AnyOperator& A);
  std::unique_ptr<PreparedPlan> prepare_product(const AnyOperator& A);
  std::unique_ptr<PreparedPlan> prepare_iterations(const AnyOperator& A);

  const AnyMatrix& matrix_;
  Device device_;
  Objective objective_;
  std::map<std::string, MemoryUse> uses_;  // by the part of the layout that memory depends on
  double bytes_of_csr_;
  std::deque<AnyOperator> built_;  // layouts, the last used one in front
  AnyField x_;                     // for products, and the right-hand side of solves
  std::vector<double> reference_;  // A x, once it is needed
  std::map<Recurrence, Iterate> iterates_;
  std::optional<SpectralInterval> interval_;  // shared by every plan's iterations
  long long iterations_ = 0;                  // number in a timed solve, once known
  std::unique_ptr<AheadCompiler> ahead_;      // on a GPU; last, since its threads use the others
};

}  // namespace heddle
