// Other libraries: right where they are installed, reported in one clear line where they are not.
#include "peers/peer.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/shared_library.hpp"
#include "heddle/problems.hpp"
#include "support/message_of.hpp"
#include "support/random_matrix.hpp"

namespace heddle::bench {
namespace {

Problem problem_of(AnyMatrix matrix) {
  std::vector<double> x = random_x(matrix);
  return {"small", std::move(matrix), false, {}, std::move(x)};
}

/// Sets an environment variable for the duration of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

using heddle::test::message_of;

TEST(SharedLibrary, ThatIsNowhereIsNamed) {
  const std::string message =
      message_of([] { SharedLibrary("HEDDLE_NO_SUCH", {"libheddle-no-such.so.1"}); });
  EXPECT_NE(message.find("libheddle-no-such.so.1"), std::string::npos) << message;
  EXPECT_NE(message.find("HEDDLE_NO_SUCH"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST(SharedLibrary, ThatAVariableNamesIsTheOnlyOne) {
  const Variable named("HEDDLE_NO_SUCH", "/no/such/library.so");
  const std::string message = message_of([] { SharedLibrary("HEDDLE_NO_SUCH", {"libm.so.6"}); });
  EXPECT_NE(message.find("/no/such/library.so"), std::string::npos) << message;
}

TEST(SharedLibrary, FindsFunctionsOrSaysWhich) {
  const SharedLibrary library("HEDDLE_NO_SUCH", {"libm.so.6"});
  double (*function)(double) = nullptr;
  library.find(function, "cos");
  EXPECT_EQ(function(0), 1);
  library.find_if_there(function, "no_such_function");
  EXPECT_EQ(function, nullptr);
  const std::string message = message_of([&] { library.find(function, "no_such_function"); });
  EXPECT_NE(message.find("no_such_function"), std::string::npos) << message;
}

void expect_absent(const Peer& peer, const std::string& named) {
  const PeerPresence presence = peer.presence();
  EXPECT_FALSE(presence.present) << presence.name;
  EXPECT_NE(presence.detail.find(named), std::string::npos) << presence.detail;
  EXPECT_EQ(presence.detail.find('\n'), std::string::npos) << presence.detail;
}

TEST(AbsentPeers, SayWhatWasLookedFor) {
  const char* missing = "/no/such/place/library.so";
  const Variable no_cusparse("HEDDLE_CUSPARSE", missing);
  const Variable no_petsc("HEDDLE_PETSC_PEER", missing);
  const auto cusparse = cusparse_peer();
  const bool built_without = cusparse->presence().detail.find("without") != std::string::npos;
  expect_absent(*cusparse, built_without ? "CUDA" : missing);
  expect_absent(*textbook_peer(), built_without ? "CUDA" : missing);
  const auto petsc = petsc_peer();
  expect_absent(*petsc, missing);
  EXPECT_TRUE(petsc->products(problem_of(AnyMatrix(poisson(100))), Device::cpu()).empty());
}

TEST(AbsentPeers, AreOtherPrograms) {
  const Variable no_petsc("HEDDLE_PETSC_PEER", "/bin/false");
  expect_absent(*petsc_peer(), "/bin/false is not heddle's program");
}

struct Named {
  const char* name;
  std::unique_ptr<Peer> (*peer)();
};
void PrintTo(const Named& named, std::ostream* out) { *out << named.name; }

class PeersOfCpus : public testing::TestWithParam<Named> {
 protected:
  void SetUp() override {
    peer_ = GetParam().peer();
    const PeerPresence presence = peer_->presence();
    if (!presence.present) GTEST_SKIP() << presence.name << ": " << presence.detail;
  }

  void expect_products(AnyMatrix matrix) {
    const Problem problem = problem_of(std::move(matrix));
    const bool single = problem.matrix.precision() == Precision::single_precision;
    const std::vector<double> reference = reference_product(problem, problem.x);
    for (const PeerProduct& product : peer_->products(problem, device_)) {
      EXPECT_GT(product.run(), 0) << product.method;
      EXPECT_LE(relative_difference(product.result(), reference), single ? 1e-6 : 1e-14)
          << product.method;
      ++products_;
    }
  }

  void expect_solves(const Problem& problem, const MethodInfo& method) {
    constexpr double tolerance = 1e-8;
    for (const auto preconditioner : {PreconditionerKind::none, PreconditionerKind::jacobi}) {
      for (const PeerSolver& solver : peer_->solvers(problem, method, preconditioner, device_)) {
        const PeerSolve solve = solver.solve(tolerance, 2000);
        EXPECT_EQ(solve.status, "converged") << solver.method;
        EXPECT_GT(solve.seconds, 0) << solver.method;
        EXPECT_LE(true_residual(problem, problem.x, solve.x), 10 * tolerance) << solver.method;
        if (!solve.history.empty()) {
          EXPECT_DOUBLE_EQ(solve.history.front(), 1) << solver.method;
          EXPECT_LE(solve.history.back(), tolerance) << solver.method;
        }
        EXPECT_EQ(solver.solve(0, 7).iterations, 7) << solver.method;
        ++solvers_;
      }
    }
  }

  std::unique_ptr<Peer> peer_;
  Device device_ = Device::cpu(2);
  int products_ = 0;
  int solvers_ = 0;
};

TEST_P(PeersOfCpus, MultiplyByEveryEntry) {
  heddle::test::Seed seed(11);
  // More rows than ranks and threads, unsorted, and some without entries.
  const heddle::test::PatternRequest request{
      .rows = 130, .columns = 130, .empty_rows = true, .diagonal = true, .sorted = false};
  for (const EntryKind kind :
       {EntryKind::real, EntryKind::complex, EntryKind::quaternion, EntryKind::dual_quaternion,
        EntryKind::block3, EntryKind::complex_block3}) {
    SCOPED_TRACE(name(kind));
    visit_entry<double>(kind, [&]<class E>() {
      expect_products(AnyMatrix(heddle::test::random_matrix<E>(request, seed.generator)));
    });
  }
  EXPECT_GE(products_, 6);
}

TEST_P(PeersOfCpus, MultiplyInSinglePrecisionOrNotAtAll) {
  heddle::test::Seed seed(12);
  const heddle::test::PatternRequest request{.rows = 130, .columns = 130, .diagonal = true};
  expect_products(
      AnyMatrix(heddle::test::random_matrix<quaternion<float>>(request, seed.generator)));
}

TEST_P(PeersOfCpus, SolveByConjugateGradient) {
  expect_solves(problem_of(AnyMatrix(dirac(600))), find_method("cg"));
  EXPECT_GE(solvers_, 2);
}

TEST_P(PeersOfCpus, SolveByOtherMethodsForHermitianMatricesOrNotAtAll) {
  for (const char* method : {"minres", "cr"}) {
    SCOPED_TRACE(method);
    expect_solves(problem_of(AnyMatrix(dirac(600))), find_method(method));
  }
}

template <class E>
Problem general_problem() {
  heddle::test::Seed seed(13);
  return problem_of(AnyMatrix(heddle::test::random_dominant_matrix<E>(
      {.rows = 500, .columns = 500, .diagonal = true}, seed.generator)));
}
TEST_P(PeersOfCpus, SolveByMethodsForGeneralMatrices) {
  const Problem numbers = general_problem<real<double>>(),
                complex_numbers = general_problem<complex<double>>();
  for (const std::string method : {"bicgstab", "bicgstab2", "gmres", "fgmres"}) {
    SCOPED_TRACE(method);
    // AMGCL's BiCGStab conjugates its complex coefficients.
    const bool is_right = method != "bicgstab" || peer_->presence().name != "AMGCL";
    expect_solves(is_right ? complex_numbers : numbers, find_method(method));
  }
  EXPECT_GE(solvers_, 4);
}

INSTANTIATE_TEST_SUITE_P(All, PeersOfCpus,
                         testing::Values(Named{"Eigen", eigen_peer}, Named{"AMGCL", amgcl_peer},
                                         Named{"PETSc", petsc_peer}),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace heddle::bench
