// The generated problems: exact sizes, the promised patterns, the same bits for any number of
// threads.
#include "problems/problem.hpp"

#include <map>
#include <set>

#include "heddle/config.hpp"
#include "heddle/tools/team.hpp"
#include "heddle/tuning/features.hpp"
#include "problems/problem_checks.hpp"
#include "suites/suite.hpp"

namespace heddle::bench {
namespace {

ProblemName named(const std::string& name) {
  for (const ProblemName& problem : problems()) {
    if (problem.name == name) return problem;
  }
  ADD_FAILURE() << "no problem " << name;
  return {};
}

TEST(Problems, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const ProblemName& problem : problems()) {
    EXPECT_TRUE(names.insert(problem.name).second) << problem.name;
    int suites = 0;
    for (const std::string_view suite : suite_names) suites += fits(suite, problem) ? 1 : 0;
    EXPECT_GT(suites, 0) << problem.name;
  }
  for (const char* name :
       {"surface-34834", "surface-6000000", "solid-1016", "solid-1000000", "filter-1280",
        "filter-2000000", "device-74104", "surface-543524-single", "solid-66840-single"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(Problems, AreNumerousEnoughInAHurry) {
  std::map<std::string, int> count;
  for (const ProblemName& problem : problems()) {
    for (const std::string_view suite : suite_names) {
      if (takes(suite, problem, Device::cpu(), true)) ++count[std::string(suite)];
    }
  }
  for (const std::string_view suite : suite_names) {
    // Its kernels are those of a GPU.
    EXPECT_EQ(count[std::string(suite)] > 0, suite != "primitives") << suite;
  }
}

struct Expected {
  const char* name;
  double min_mean, max_mean;
  Index min_shortest, min_longest, max_longest;
};

class Generated : public testing::TestWithParam<Expected> {};

TEST_P(Generated, HasThePatternThatItsNamePromises) {
  const Expected& expected = GetParam();
  const Problem problem = make_problem(named(expected.name));
  EXPECT_EQ(problem.name, expected.name);
  EXPECT_EQ(problem.matrix.rows(), named(expected.name).rows);
  const Features found = features(problem.matrix, Device::cpu());
  EXPECT_GE(found.mean_row, expected.min_mean);
  EXPECT_LE(found.mean_row, expected.max_mean);
  EXPECT_GE(found.shortest_row, expected.min_shortest);
  EXPECT_GE(found.longest_row, expected.min_longest);
  EXPECT_LE(found.longest_row, expected.max_longest);
  EXPECT_EQ(found.missing_diagonal, 0);
  EXPECT_EQ(found.singular_diagonal, 0);
  EXPECT_FALSE(problem.plans.empty());
}

INSTANTIATE_TEST_SUITE_P(All, Generated,
                         testing::Values(Expected{"surface-2562", 6.9, 7.2, 5, 25, 32},
                                         Expected{"surface-34834", 6.9, 7.1, 4, 12, 12},
                                         Expected{"solid-1016", 11, 11.1, 4, 33, 33},
                                         Expected{"solid-9095", 12.3, 12.4, 4, 32, 32},
                                         Expected{"filter-1280", 17.7, 17.8, 4, 32, 32},
                                         Expected{"device-74104", 4.9, 5, 4, 271, 271},
                                         Expected{"rows-solid-4096", 12.5, 14, 5, 18, 50},
                                         Expected{"rows-filter-4096", 29, 31, 10, 35, 60},
                                         Expected{"length-quaternion-1", 1, 1, 1, 1, 1},
                                         Expected{"length-quaternion-8", 8, 8, 8, 8, 8},
                                         Expected{"length-complex-32", 32, 32, 32, 32, 32}),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Problems, AreHermitianWhereTheySaySo) {
  for (const char* name : {"surface-2562", "solid-1016", "surface-34834-single"}) {
    SCOPED_TRACE(name);
    const Problem problem = make_problem(named(name));
    EXPECT_TRUE(problem.hermitian_positive_definite);
    problem.matrix.visit([]<class E>(const CsrMatrix<E>& matrix) {
      if constexpr (has_adjoint<E>) heddle::test::expect_hermitian(matrix);
    });
  }
  const Problem transport = make_problem(named("filter-1280"));
  EXPECT_FALSE(transport.hermitian_positive_definite);
  EXPECT_GT(features(transport.matrix, Device::cpu()).hermitian_defect, 1e-3);
}

/// No vector shrinks: the least eigenvalue is 1e-4, by Gershgorin after undoing the rotations.
TEST(Problems, AreDefinite) {
  const Problem problem = make_problem(named("surface-2562"));
  const std::vector<double> y = reference_product(problem, problem.x);
  double energy = 0, size = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    energy += problem.x[i] * y[i];
    size += problem.x[i] * problem.x[i];
  }
  EXPECT_GT(energy, 1e-4 * size);
}

TEST(Problems, AreTheSameForAnyNumberOfThreads) {
  for (const char* name : {"surface-2562", "solid-1016", "filter-1280", "length-complex-4"}) {
    SCOPED_TRACE(name);
    set_default_threads(1);
    const Problem one = make_problem(named(name));
    for (const int team : {2, 3}) {
      set_default_threads(team);
      const Problem other = make_problem(named(name));
      one.matrix.visit([&]<class E>(const CsrMatrix<E>& a) {
        other.matrix.visit([&]<class F>(const CsrMatrix<F>& b) {
          if constexpr (std::is_same_v<E, F>) {
            EXPECT_TRUE(heddle::test::identical(a, b));
          } else {
            ADD_FAILURE() << "another entry";
          }
        });
      });
      EXPECT_EQ(one.x, other.x);
    }
  }
  set_default_threads(0);
}

TEST(Problems, HaveAnXThatFloatsRepresent) {
  for (const double x : make_problem(named("filter-1280")).x) {
    ASSERT_EQ(x, static_cast<double>(static_cast<float>(x)));
    ASSERT_LE(std::abs(x), 1);
  }
}

}  // namespace
}  // namespace heddle::bench
