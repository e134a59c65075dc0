// The suites over made-up libraries, some of which are wrong: no wrong result is timed, and no
// candidate is left out.
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "heddle/error.hpp"
#include "heddle/problems.hpp"
#include "records/hierarchical_tables.hpp"
#include "records/pjds_table.hpp"
#include "suites/suite.hpp"
#include "suites/timed_ways.hpp"
#include "support/where_it_runs.hpp"

namespace heddle::bench {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

PeerProduct product(const std::string& method, int& runs, std::function<std::vector<double>()> y) {
  PeerProduct made;
  made.method = method;
  made.run = [&runs] {
    ++runs;
    return 1e-3;
  };
  made.result = std::move(y);
  return made;
}

PeerSolver solver(const std::string& method, PeerSolve answer) {
  return {method, [answer](double tolerance, long long most) {
            PeerSolve solve = answer;
            if (tolerance == 0) solve.iterations = most;
            solve.seconds = 1e-5 * static_cast<double>(solve.iterations);
            return solve;
          }};
}

class MadeUp final : public Peer {
 public:
  int right_runs = 0, wrong_runs = 0, nan_runs = 0, short_runs = 0, poisoned_runs = 0;
  bool refuses = false;

  PeerPresence presence() const override { return {"made up", "1", "here", true}; }

  std::vector<PeerProduct> products(const Problem& problem, const Device&) override {
    if (refuses) throw Error(ErrorKind::unsupported, "no such entries\nand more");
    const std::vector<double> y = reference_product(problem, problem.x);
    const auto changed = [y](double value) {
      std::vector<double> other = y;
      other[other.size() / 2] = value;
      return [other] { return other; };
    };
    return {product("right", right_runs, [y] { return y; }),
            product("wrong", wrong_runs, changed(y[y.size() / 2] + 1e-3)),
            product("nan", nan_runs, changed(nan)),
            product("short", short_runs, [] { return std::vector<double>{1, 2}; })};
  }

  std::vector<PeerSolver> solvers(const Problem& problem, const MethodInfo&, PreconditionerKind,
                                  const Device&) override {
    if (refuses) throw std::runtime_error("no solver");
    const std::size_t size = problem.x.size();
    // A solver that solves nothing, but claims success in several ways.
    const PeerSolve lie{10, 0, std::vector<double>(size, 0.0), {1, 0.5}, "converged"};
    PeerSolve broken = lie;
    broken.x[1] = nan;
    PeerSolve honest = lie;
    honest.status = "iteration limit";
    return {solver("lie", lie), solver("nan", broken), solver("honest", honest)};
  }
};

class Suites : public testing::Test {
 protected:
  explicit Suites(double seconds_of_a_solve = infinity, const char* solved = "surface-2562") {
    for (const ProblemName& name : problems()) {
      if (name.name == solved) problem = make_problem(name);
    }
    Settings settings;
    settings.quick = true;
    settings.repetitions = 3;
    settings.seconds_of_a_solve = seconds_of_a_solve;
    auto peer = std::make_unique<MadeUp>();
    made_up = peer.get();
    std::vector<std::unique_ptr<Peer>> peers;
    peers.push_back(std::move(peer));
    settings.plans = {"C=7,T=2", "order=rcm", "no-such-key=1"};
    session = std::make_unique<Session>(settings, std::move(peers), bench::Run{});
  }

  const Candidate& candidate(const Record& record, const std::string& method) const {
    static const Candidate none;
    for (const Candidate& c : record.candidates) {
      if (c.method == method) return c;
    }
    ADD_FAILURE() << "no candidate " << method;
    return none;
  }

  std::optional<Problem> problem;
  MadeUp* made_up = nullptr;
  std::unique_ptr<Session> session;
};

TEST_F(Suites, TimeNoWrongProduct) {
  product_suite(*session, *problem);
  const auto run = session->run();
  ASSERT_EQ(run.records.size(), 1U);
  const Record& record = run.records[0];
  EXPECT_EQ(record.problem, "surface-2562");
  EXPECT_EQ(record.entry, "quaternion");
  EXPECT_GT(run.bandwidth, 0);

  const Candidate& right = candidate(record, "right");
  EXPECT_FALSE(right.failure) << *right.failure;
  EXPECT_TRUE(right.seconds);
  EXPECT_TRUE(right.cold);
  EXPECT_EQ(right.error, 0);
  EXPECT_TRUE(right.of_bandwidth);
  EXPECT_GT(made_up->right_runs, 3);

  for (const char* method : {"wrong", "nan", "short"}) {
    SCOPED_TRACE(method);
    const Candidate& wrong = candidate(record, method);
    EXPECT_TRUE(wrong.failure);
    EXPECT_FALSE(wrong.seconds);
    EXPECT_FALSE(wrong.cold);
  }
  EXPECT_EQ(made_up->wrong_runs, 1);
  EXPECT_EQ(made_up->nan_runs, 1);
  EXPECT_EQ(made_up->short_runs, 1);
  EXPECT_EQ(record.best_peer(), record.find(Role::peer));
}

TEST_F(Suites, KeepEveryPlan) {
  product_suite(*session, *problem);
  const auto run = session->run();
  const Record& record = run.records[0];
  for (const Role role : {Role::natural, Role::chosen, Role::best}) {
    const Candidate* own = record.find(role);
    ASSERT_NE(own, nullptr) << name(role);
    EXPECT_FALSE(own->failure);
    EXPECT_TRUE(own->seconds);
    EXPECT_LE(*own->error, 1e-15);
    EXPECT_EQ(own->library, "Heddle");
  }
  // On a CPU the chosen plan is the natural one, measured once.
  EXPECT_EQ(record.find(Role::natural)->seconds->median,
            record.find(Role::chosen)->seconds->median);
  EXPECT_TRUE(candidate(record, "C=7,T=2").failure);
  EXPECT_TRUE(candidate(record, "no-such-key=1").failure);
  EXPECT_EQ(candidate(record, "no-such-key=1").role, Role::tried);
  for (const Candidate& c : record.candidates) {
    if (!c.failure && c.role != Role::peer) {
      EXPECT_LE(record.find(Role::best)->seconds->median, c.seconds->median);
    }
  }
}

class SuitesOfASolid : public Suites {
 protected:
  SuitesOfASolid() : Suites(infinity, "solid-1016") {}
};

TEST_F(SuitesOfASolid, KeepRefusals) {
  HEDDLE_DEEP_CHECK_ONLY();
  made_up->refuses = true;
  product_suite(*session, *problem);
  solver_suite(*session, *problem);
  const auto run = session->run();
  const auto methods = std::count_if(method_table().begin(), method_table().end(),
                                     [](const MethodInfo& m) { return !m.needs_symmetric; });
  ASSERT_EQ(run.records.size(), static_cast<std::size_t>(1 + 2 * methods));
  for (const Record& record : run.records) {
    const Candidate* peer = record.find(Role::peer);
    ASSERT_NE(peer, nullptr);
    EXPECT_EQ(peer->library, "made up");
    EXPECT_EQ(*peer->failure, record.suite == "product" ? "no such entries" : "no solver");
    EXPECT_FALSE(peer->seconds);
  }
}

// Whatever time a solve may take: where it is short, or where steps are few by nature, solves are
// to a larger tolerance. Every method solves the problem whose solves may take unlimited time.
class SolversOfSuites : public Suites, public testing::WithParamInterface<double> {
 protected:
  SolversOfSuites() : Suites(GetParam()) {
    if (GetParam() == 0) return;
    AnyMatrix matrix(dirac(600));
    std::vector<double> x = random_x(matrix);
    problem.emplace(Problem{"dirac", std::move(matrix), true, {}, std::move(x)});
  }
};

TEST_P(SolversOfSuites, AreNotBelievedWithoutAResidual) {
  if (GetParam() == 0) HEDDLE_DEEP_CHECK_ONLY();
  solver_suite(*session, *problem);
  const auto run = session->run();
  std::vector<std::string> quantities;
  std::size_t cut = 0;
  for (const Record& record : run.records) {
    SCOPED_TRACE(record.quantity);
    quantities.push_back(record.quantity);
    const Candidate* own = record.find(Role::chosen);
    ASSERT_NE(own, nullptr);
    // A hundred iterations are never too many.
    const bool is_short = *own->iterations <= 100 && !record.tolerance;
    const bool takes_few =
        find_method(record.quantity.substr(0, record.quantity.find('+'))).takes_interval;
    EXPECT_EQ(record.tolerance.has_value(), (GetParam() == 0 || takes_few) && !is_short);
    cut += record.tolerance ? 1 : 0;
    const double tolerance = record.tolerance.value_or(1e-8);
    EXPECT_GE(tolerance, 1e-8);
    EXPECT_LE(tolerance, 0.1);
    EXPECT_TRUE(candidate(record, "lie").failure);
    EXPECT_FALSE(candidate(record, "lie").seconds);
    EXPECT_EQ(candidate(record, "lie").residual, 1);
    EXPECT_TRUE(candidate(record, "nan").failure);
    const Candidate& honest = candidate(record, "honest");
    EXPECT_FALSE(honest.failure);
    EXPECT_EQ(honest.status, "iteration limit");
    EXPECT_FALSE(honest.solve_seconds);
    EXPECT_NEAR(honest.seconds->median, 1e-5, 1e-12);
    EXPECT_EQ(record.best_peer(), nullptr);

    EXPECT_GT(*own->iterations, 10);
    EXPECT_EQ(own->status, "converged");
    EXPECT_LE(*own->residual, 1.001 * tolerance);
    EXPECT_GT(*own->solve_seconds, 0);
    EXPECT_EQ(own->history.size(), own->history_at.size());
    EXPECT_LE(own->history.size(), 202U);
    EXPECT_EQ(own->history_at.back(), static_cast<double>(*own->iterations));
    EXPECT_GT(record.compulsory_bytes.value_or(0), 0);
  }
  std::vector<std::string> expected;
  for (const MethodInfo& method : method_table()) {
    if (method.needs_symmetric) continue;
    expected.emplace_back(method.name);
    expected.push_back(expected.back() + "+jacobi");
  }
  EXPECT_EQ(quantities, expected);
  EXPECT_EQ(cut > quantities.size() / 2, GetParam() == 0);
}

INSTANTIATE_TEST_SUITE_P(OfAnyLength, SolversOfSuites, testing::Values(0.0, infinity));

TEST_F(Suites, CountLayoutsAndTimeSteps) {
  layouts_suite(*session, *problem);
  setup_suite(*session, *problem);
  const auto run = session->run();
  EXPECT_EQ(candidate(run.records[0], "C=1").memory_ratio, 1);
  EXPECT_GT(*candidate(run.records[0], "C=n").memory_ratio, 1.5);
  EXPECT_LT(*candidate(run.records[0], "C=32,sigma=n").memory_ratio,
            *candidate(run.records[0], "C=32").memory_ratio);
  std::vector<std::string> steps;
  for (const Record& record : run.records) {
    if (record.suite != "setup") continue;
    steps.push_back(record.quantity);
    const Candidate* own = record.find(Role::chosen);
    ASSERT_NE(own, nullptr);
    EXPECT_FALSE(own->failure) << *own->failure;
    EXPECT_TRUE(own->seconds);
  }
  EXPECT_EQ(steps, (std::vector<std::string>{"choose plan", "build", "update values", "permute in",
                                             "permute out"}));
}

/// Bytes of the slots of 36 bytes that slices of `height` sorted rows have, of an offset of 8 bytes
/// for each, of 4 for each row and of 256 further columns; counted from the lengths alone.
long long bytes_of_padded_rows(const PatternView& pattern, std::size_t height, int slot) {
  std::vector<long long> lengths;
  for (Index row = 0; row < pattern.rows; ++row) lengths.push_back(pattern.length(row));
  std::sort(lengths.rbegin(), lengths.rend());
  long long bytes = 8 + 4LL * pattern.rows + 4 * 256;
  for (std::size_t first = 0; first < lengths.size(); first += height) {
    bytes += lengths[first] * static_cast<long long>(height) * slot + 8;
  }
  return bytes;
}

TEST_F(Suites, ComparePjdsWithEllpackInBothPrecisions) {
  pjds_suite(*session, *problem);
  const auto run = session->run();
  ASSERT_EQ(run.records.size(), 2U);
  std::vector<const Record*> records;
  for (const Record& record : run.records) {
    SCOPED_TRACE(record.precision);
    records.push_back(&record);
    const bool single = &record != run.records.data();
    EXPECT_EQ(record.precision, single ? "single" : "double");
    const int slot = (single ? 16 : 32) + 4;
    const PatternView pattern = problem->matrix.pattern();
    const Candidate& ellpack = candidate(record, to_string(parse_plan("ELL")));
    const Candidate& jagged = candidate(record, to_string(parse_plan("pJDS")));
    EXPECT_EQ(ellpack.memory_bytes, bytes_of_padded_rows(pattern, problem->x.size() / 4, slot));
    EXPECT_EQ(jagged.memory_bytes, bytes_of_padded_rows(pattern, 32, slot));
    EXPECT_LT(*jagged.memory_bytes, *ellpack.memory_bytes / 2);
    for (const Candidate& own : {ellpack, jagged}) {
      EXPECT_FALSE(own.failure);
      EXPECT_LE(*own.error, single ? 1e-6 : 1e-15);
    }
    EXPECT_TRUE(candidate(record, "right").seconds);
  }
  const Matrix table = pjds_table(records);
  EXPECT_EQ(table.lines, (std::vector<std::string>{"surface-2562, quaternion",
                                                   "surface-2562, quaternion, single"}));
  EXPECT_EQ(table.columns,
            (std::vector<std::string>{"a row", "saved", "ELLPACK-R", "pJDS", "CSR", "best peer"}));
}

TEST_F(Suites, SayWhetherFurtherRunsLeaveTheSameBits) {
  double number = 1;
  const auto way = [&](const char* method, double step) {
    TimedWay made{Role::peer, "made up", method,
                  [&number, step](const Stream&) { number += step; }};
    made.result = [&number] { return std::vector<double>{number}; };
    return made;
  };
  const Record record = measured(*session, record_of("primitives", *problem, "number"),
                                 {way("same", 0), way("other", 1)});
  EXPECT_EQ(candidate(record, "same").repeats, true);
  EXPECT_EQ(candidate(record, "other").repeats, false);
  EXPECT_TRUE(candidate(record, "other").seconds);
}

TEST_F(Suites, RefusePrimitivesWithoutAGpu) {
  EXPECT_THROW(primitives_suite(*session, *problem), Error);
}

TEST_F(SuitesOfASolid, SolveSeveralRightHandSides) {
  right_hand_sides_suite(*session, *problem);
  const auto run = session->run();
  ASSERT_EQ(run.records.size(), 5U);
  long long bytes_before = std::numeric_limits<long long>::max();
  for (const Record& record : run.records) {
    SCOPED_TRACE(record.quantity);
    EXPECT_EQ(record.suite, "right-hand-sides");
    ASSERT_EQ(record.candidates.size(), 3U);
    for (const Candidate& candidate : record.candidates) {
      SCOPED_TRACE(candidate.method);
      EXPECT_EQ(candidate.library, "Heddle");
      EXPECT_EQ(candidate.status, "converged");
      EXPECT_LE(*candidate.residual, 1.001e-8);
      EXPECT_GT(*candidate.iterations, 10);
      EXPECT_GT(*candidate.solve_seconds, 0);
      EXPECT_TRUE(candidate.seconds || candidate.failure);  // where the machine was too busy
    }
    const Candidate &one = record.candidates[0], &all = record.candidates[1],
                    &block = record.candidates[2];
    EXPECT_EQ(one.role, Role::natural);
    EXPECT_EQ(all.role, Role::chosen);
    EXPECT_EQ(block.role, Role::tried);
    EXPECT_EQ(*one.iterations, *all.iterations);
    EXPECT_LE(*block.iterations, *all.iterations + 2);
    EXPECT_LE(*record.compulsory_bytes, bytes_before);
    bytes_before = *record.compulsory_bytes;
  }
  EXPECT_EQ(run.records.front().quantity, "cg, 1 right-hand side");
  EXPECT_EQ(run.records.back().quantity, "cg, 16 right-hand sides");
  EXPECT_LT(*run.records.back().candidates[2].iterations,
            *run.records.front().candidates[2].iterations);
}

class SuitesOfAMesh : public Suites, public testing::WithParamInterface<const char*> {
 protected:
  SuitesOfAMesh() : Suites(infinity, GetParam()) {}
};

TEST_P(SuitesOfAMesh, AssembleRightlyInEveryWay) {
  assembly_suite(*session, *problem);
  const auto run = session->run();
  const bool is_real = problem->matrix.entry().name() == "real";
  std::vector<std::string> quantities;
  for (const Record& record : run.records) {
    SCOPED_TRACE(record.quantity);
    quantities.push_back(record.quantity);
    EXPECT_EQ(record.suite, "assembly");
    if (record.quantity == "sum as a product" || record.quantity == "ELL-WARP") {
      continue;  // made-up libraries are included
    }
    for (const Candidate& candidate : record.candidates) {
      SCOPED_TRACE(candidate.method);
      EXPECT_FALSE(candidate.failure) << *candidate.failure;
      ASSERT_TRUE(candidate.seconds);
      EXPECT_GT(candidate.seconds->median, 0);
      EXPECT_EQ(candidate.of_product.has_value(), record.quantity.starts_with("reorder"));
      if (candidate.method.starts_with("a product")) continue;
      ASSERT_TRUE(candidate.error);
      EXPECT_LE(*candidate.error, max_error_double);
    }
  }
  std::vector<std::string> expected = {"matrix", "sum", "vector", "reorder"};
  if (is_real) {
    expected.insert(expected.end(), {"sum as a product", "reorder, K1", "reorder, K2", "ELL-WARP"});
  }
  EXPECT_EQ(quantities, expected);
  EXPECT_EQ(run.records[0].candidates.size(), 6U);
  if (!is_real) return;
  EXPECT_TRUE(is_right(run.records[4], run.records[4].candidates[0]));
  for (const Candidate& candidate : run.records.back().candidates) {
    EXPECT_TRUE(candidate.library != "Heddle" || is_right(run.records.back(), candidate))
        << candidate.method;
  }
}

INSTANTIATE_TEST_SUITE_P(Meshes, SuitesOfAMesh,
                         testing::Values("diffusion-2000", "elasticity-2000"));

class SuitesOfTrees : public Suites, public testing::WithParamInterface<const char*> {
 protected:
  SuitesOfTrees() : Suites(infinity, GetParam()) {}
};

TEST_P(SuitesOfTrees, MeasureRightly) {
  hierarchical_suite(*session, *problem);
  const auto run = session->run();
  std::vector<std::string> quantities;
  for (const Record& record : run.records) {
    SCOPED_TRACE(record.quantity);
    quantities.push_back(record.quantity);
    EXPECT_EQ(record.suite, "hierarchical");
    for (const Candidate& candidate : record.candidates) {
      SCOPED_TRACE(candidate.method);
      EXPECT_FALSE(candidate.failure) << *candidate.failure;
      if (record.quantity.starts_with("memory")) {
        EXPECT_GT(candidate.memory_bytes.value_or(0), 0);
        continue;
      }
      ASSERT_TRUE(candidate.seconds);
      EXPECT_GT(candidate.seconds->median, 0);
      EXPECT_EQ(candidate.of_product.has_value(), record.quantity.starts_with("edit"));
      if (candidate.method == "a product") continue;
      ASSERT_TRUE(candidate.error);
      EXPECT_LE(*candidate.error, max_error_double);
    }
  }
  const std::string name = problem->name;
  std::vector<std::string> expected;
  if (!name.starts_with("edits")) {
    expected = {"memory in double", "memory in single", "product", "transposed product", "sum"};
    if (!name.starts_with("least-squares")) expected.emplace_back("transposed sum");
  }
  expected.insert(expected.end(), {"from CSR", "to CSR"});
  const std::size_t first_edit = expected.size();
  expected.emplace_back("edits of 1%");
  // With fewer than 100 rows of leaves, 1% is less than one row.
  if (problem->matrix.rows() > 99 * 128) expected.emplace_back("edits in 1% of the leaves");
  expected.emplace_back("edit of one node");
  EXPECT_EQ(quantities, expected);
  std::vector<const Record*> records;
  for (const Record& record : run.records) records.push_back(&record);
  const std::vector<TitledMatrix> tables = hierarchical_tables(records);
  EXPECT_EQ(tables.size(), name.starts_with("edits") ? 3U : 6U);
  const Matrix& edits = tables.back().matrix;
  EXPECT_EQ(edits.columns,
            (std::vector<std::string>(expected.begin() + static_cast<std::ptrdiff_t>(first_edit),
                                      expected.end())));
}

INSTANTIATE_TEST_SUITE_P(Kinds, SuitesOfTrees,
                         testing::Values("dense-300", "road-20000", "least-squares-6000",
                                         "dirac-2562", "edits-10000"));

}  // namespace
}  // namespace heddle::bench
