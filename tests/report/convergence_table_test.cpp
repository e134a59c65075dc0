// The rows of a solve's table, and their contents.
#include "convergence_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>

namespace heddle::report {
namespace {

struct Written {
  std::vector<std::string> lines;
  ConvergenceTable table;

  explicit Written(double tolerance)
      : table(tolerance, [this](const std::string& line) { lines.push_back(line); }) {}

  std::vector<std::string> cells(std::size_t line) const {
    std::istringstream in(lines.at(line));
    std::vector<std::string> found;
    for (std::string cell; in >> cell;) found.push_back(cell);
    return found;
  }
  /// Iterations of the rows, which all begin with a number except the headings and the end.
  std::vector<long long> iterations() const {
    std::vector<long long> found;
    for (std::size_t i = 1; i + 1 < lines.size(); ++i) found.push_back(std::stoll(cells(i)[0]));
    return found;
  }
  /// A solve in which each iteration takes `seconds` and multiplies the residual by `factor`.
  void solve(long long iterations, double factor, double seconds) {
    std::vector<double> history = {1};
    table.begin("");
    for (long long i = 1; i <= iterations; ++i) {
      table.see({i, std::pow(factor, i), seconds * static_cast<double>(i)}, history);
    }
    for (long long i = 1; i <= iterations; ++i) history.push_back(std::pow(factor, i));
    Report report;
    report.iterations = iterations;
    report.residual = history.back();
    report.iterate_seconds = seconds * static_cast<double>(iterations);
    table.end(report, history);
  }
};

TEST(ConvergenceTable, HasHeadingsFirstRowsAndAnEnd) {
  Written written(1e-10);
  written.solve(23, 0.5, 1e-3);
  EXPECT_EQ(written.lines.front(), ConvergenceTable::headings());
  EXPECT_EQ(written.iterations(), (std::vector<long long>{0, 1, 2, 5, 10, 20, 23}));
  EXPECT_EQ(written.cells(written.lines.size() - 1).front(), "end");
  for (const std::string& line : written.lines) EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST(ConvergenceTable, TellsTheRatioAndWhatIsLeft) {
  Written written(std::pow(0.5, 60));
  written.solve(40, 0.5, 0.05);
  // At 20: 0.5^10 in ten iterations, and 40 more to 0.5^60, of 50 ms each.
  const auto cells = written.cells(6);
  ASSERT_EQ(cells.size(), 6u);
  EXPECT_EQ(cells[0], "20");
  EXPECT_NEAR(std::stod(cells[1]), std::pow(0.5, 20), 1e-9);
  EXPECT_NEAR(std::stod(cells[2]), std::pow(0.5, 10), 1e-5);
  EXPECT_EQ(cells[3], "1.000");
  EXPECT_NEAR(std::stod(cells[4]), 40, 1);  // rounded up
  EXPECT_NEAR(std::stod(cells[5]), 2, 0.051);
  EXPECT_EQ(written.cells(2)[2], "-");  // one iteration says nothing about ten
}

TEST(ConvergenceTable, NothingIsLeftWhereTheResidualDoesNotFall) {
  for (const double factor : {1.0, 1.1, std::numeric_limits<double>::quiet_NaN(), 0.0}) {
    Written written(1e-300);
    written.solve(30, factor, 1e-3);
    const auto cells = written.cells(6);
    EXPECT_EQ(cells[0], "20");
    EXPECT_EQ(cells[4], factor == 0 ? "0" : "-") << factor;
    for (const std::string& line : written.lines) EXPECT_LT(line.size(), 160u);
  }
  Written without(0);
  without.solve(30, 0.5, 1e-3);
  EXPECT_EQ(without.cells(6)[4], "-");
}

TEST(ConvergenceTable, IsShortForEveryLength) {
  for (const long long iterations : {3, 100, 9999, 10000, 300000, 1000000}) {
    Written written(0);
    written.solve(iterations, 0.9999999, 1e-9);
    EXPECT_LE(written.lines.size(), 42u) << iterations;
    const auto rows = written.iterations();
    EXPECT_EQ(std::set<long long>(rows.begin(), rows.end()).size(), rows.size());
    EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
    EXPECT_EQ(rows.back(), iterations);
  }
}

TEST(ConvergenceTable, WaitsTwoSecondsOrAFifthOfTheTime) {
  Written written(0);
  constexpr double each = 0.05;
  written.solve(72000, 0.999999, each);  // an hour
  EXPECT_LE(written.lines.size(), 75u);
  double last = 0;
  for (std::size_t i = 1; i + 1 < written.lines.size(); ++i) {
    const double now = each * std::stod(written.cells(i)[0]);
    EXPECT_LE(now - last, std::max(2.0, now / 5) + 1.5 * each) << written.lines[i];
    last = now;
  }
}

TEST(ConvergenceTable, TellsOfTrueResiduals) {
  Written written(1e-9);
  written.table.begin("");
  std::vector<double> history = {1};
  for (long long i = 1; i <= 100; ++i) {
    written.table.see({i, 1.0 / static_cast<double>(i), 0}, history);
    if (i == 7 || i == 43 || i == 47) history.resize(static_cast<std::size_t>(i) + 1, 0.5);
  }
  const auto line_at = [&](const std::string& iteration) {
    for (std::size_t i = 1; i < written.lines.size(); ++i) {
      if (written.cells(i)[0] == iteration) return written.lines[i];
    }
    return std::string();
  };
  EXPECT_NE(line_at("10").find("  from b - A x at 7\n"), std::string::npos) << line_at("10");
  EXPECT_EQ(line_at("20").find("from"), std::string::npos);
  EXPECT_NE(line_at("50").find("  2 times from b - A x, last at 47\n"), std::string::npos);
}

TEST(ConvergenceTable, EverySolveBeginsAnew) {
  Written written(1e-9);
  written.solve(5, 0.5, 1e-3);
  const std::size_t lines = written.lines.size();
  written.table.begin("again");
  EXPECT_EQ(written.lines.back(), "again\n");
  written.table.see({1, 0.5, 0}, {1});
  EXPECT_EQ(written.cells(lines + 1)[0], "0");
  EXPECT_EQ(written.cells(lines + 2)[0], "1");
}

TEST(ConvergenceTable, ASolveWithoutIterationsHasItsEnd) {
  Written written(1e-9);
  written.table.begin("");
  Report report;
  report.status = Status::not_hermitian;
  report.detail = "why";
  written.table.end(report, {});
  ASSERT_EQ(written.lines.size(), 2u);
  EXPECT_NE(written.lines.back().find("not Hermitian"), std::string::npos);
  EXPECT_NE(written.lines.back().find("; why\n"), std::string::npos);
}

TEST(ConvergenceTable, HasASecondNumberWhereItIsNamed) {
  std::vector<std::string> lines;
  const ConvergenceNames names{"gradient", "|r| / |b|", "|A* r|"};
  ConvergenceTable table(1e-8, [&](const std::string& line) { lines.push_back(line); }, names);
  table.begin("");
  const std::vector<double> history = {1};
  EXPECT_TRUE(table.see({0, 1, 0}, history, 0.5) || lines.size() == 2);
  EXPECT_TRUE(table.see({1, 0.25, 0}, history, 0.125));
  table.end({.status = Status::converged,
             .iterations = 2,
             .value = 1e-9,
             .second = 0.0625,
             .last_second = 0.03125},
            {1, 0.25, 2e-9});
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines.front(), ConvergenceTable::headings(names));
  EXPECT_NE(lines[0].find("iteration    gradient   |r| / |b|   over 10"), std::string::npos);
  EXPECT_NE(lines[1].find("0   1.000e+00   5.000e-01"), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find("1   2.500e-01   1.250e-01"), std::string::npos) << lines[2];
  EXPECT_NE(lines[3].find("2   2.000e-09   3.125e-02"), std::string::npos) << lines[3];
  EXPECT_NE(lines[4].find("end   1.000e-09   6.250e-02"), std::string::npos) << lines[4];
  EXPECT_NE(lines[4].find("converged; |A* r| computed from x"), std::string::npos) << lines[4];
}

}  // namespace
}  // namespace heddle::report
