#include "heddle/runtime/preconditioner_choice.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/expect_error.hpp"

namespace heddle {
namespace {

TEST(PreconditionerChoice, ParsesEachNameOfTheTable) {
  for (const PreconditionerInfo& row : preconditioner_table()) {
    SCOPED_TRACE(row.name);
    const std::string name(row.name);
    EXPECT_EQ(parse_preconditioner(name).kind, row.kind);
    EXPECT_EQ(parse_preconditioner(name).number, row.default_number);
    if (row.number.empty()) continue;
    EXPECT_EQ(parse_preconditioner(name + ":" + std::to_string(row.max_number)).number,
              row.max_number);
    for (const std::string& wrong :
         std::vector<std::string>{"0", "x", "", std::to_string(row.max_number + 1)}) {
      test::expect_error(ErrorKind::usage,
                         "the preconditioner " + name + " takes the " + std::string(row.number) +
                             ", 1 to " + std::to_string(row.max_number) + ", not '" + wrong + "'",
                         [&] { parse_preconditioner(name + ":" + wrong); });
    }
  }
}

TEST(PreconditionerChoice, RefusesOtherNames) {
  test::expect_error(ErrorKind::usage,
                     "no preconditioner is named 'ilu'; there are " + preconditioners_in_words(),
                     [] { parse_preconditioner("ilu:2"); });
  test::expect_error(ErrorKind::usage,
                     "the preconditioner jacobi takes no number, but was given '3'",
                     [] { parse_preconditioner("jacobi:3"); });
}

TEST(ComposedChoice, HasTermsAndFactors) {
  const ComposedChoice choice = ComposedChoice::parse("jacobi*chebyshev:2,fsai");
  ASSERT_EQ(choice.terms().size(), 2U);
  const ComposedChoice::Product product = {PreconditionerKind::jacobi,
                                           {PreconditionerKind::chebyshev, 2}};
  EXPECT_EQ(choice.terms()[0], product);
  EXPECT_EQ(choice.terms()[1], ComposedChoice::Product{PreconditionerKind::fsai});
  for (const char* text :
       {"none", "jacobi", "direct", "isai:2", "jacobi*chebyshev:2,fsai",
        "cr:3,jacobi*block-jacobi:2*jacobi,gmres:4", "multigrid:2:w", "multigrid:k:l1-jacobi,fsai",
        "multigrid:2:k,jacobi,multigrid:k", "multigrid:3:k:jacobi:plain", "multigrid:w:single"}) {
    EXPECT_EQ(ComposedChoice::parse(text).text(), text);
  }
  EXPECT_EQ(ComposedChoice(PreconditionerKind::fsai).text(), "fsai");
  EXPECT_EQ(ComposedChoice::parse("chebyshev:4*fsai:1").text(), "chebyshev*fsai");
}

TEST(ComposedChoice, IsHermitianWhereItReadsTheSameFromBothEnds) {
  for (const char* text : {"none", "jacobi", "direct", "jacobi*jacobi", "jacobi*fsai*jacobi",
                           "chebyshev:2,jacobi,chebyshev:2",
                           "jacobi*fsai*jacobi,neumann:2,"
                           "jacobi*fsai:1*jacobi"}) {
    EXPECT_TRUE(ComposedChoice::parse(text).is_hermitian()) << text;
    EXPECT_FALSE(ComposedChoice::parse(text).varies()) << text;
  }
  for (const char* text :
       {"isai", "jacobi*fsai", "jacobi,fsai", "jacobi*isai*jacobi", "jacobi*fsai,fsai*jacobi",
        "fsai:2,jacobi,fsai", "jacobi,gmres,jacobi"}) {
    EXPECT_FALSE(ComposedChoice::parse(text).is_hermitian()) << text;
  }
  EXPECT_TRUE(ComposedChoice::parse("jacobi*neumann*jacobi").is_symmetric());
  EXPECT_FALSE(ComposedChoice::parse("jacobi*fsai*jacobi").is_symmetric());
  EXPECT_TRUE(ComposedChoice::parse("jacobi,gmres:3").varies());
  EXPECT_TRUE(ComposedChoice::parse("multigrid:k").varies());
  EXPECT_FALSE(ComposedChoice::parse("multigrid:w:gauss-seidel").varies());
}

TEST(ComposedChoice, NamesThePartThatIsWrong) {
  const auto expect = [](const std::string& text, const std::string& why) {
    test::expect_error(ErrorKind::usage, why, [&] { ComposedChoice::parse(text); });
  };
  expect("jacobi*fsai,ilu",
         "part 3 of the preconditioner 'jacobi*fsai,ilu': no preconditioner is "
         "named 'ilu'; there are " +
             preconditioners_in_words());
  expect("fsai:9,jacobi",
         "part 1 of the preconditioner 'fsai:9,jacobi': the preconditioner fsai takes the power, 1 "
         "to 4, not '9'");
  expect("jacobi*", "part 2 of the preconditioner 'jacobi*': it is empty");
  expect(",jacobi", "part 1 of the preconditioner ',jacobi': it is empty");
  expect("jacobi*none",
         "part 2 of the preconditioner 'jacobi*none': none cannot be part of a composition: leave "
         "it out");
  expect("auto*jacobi",
         "part 1 of the preconditioner 'auto*jacobi': auto cannot be part of a composition: leave "
         "it out");
  expect("ilu", "no preconditioner is named 'ilu'; there are " + preconditioners_in_words());
  expect("multigrid:v:k", "the preconditioner multigrid has one cycle, not a second one 'k'");
  expect("multigrid:2:jacobi:w:jacobi",
         "the preconditioner multigrid has one smoother, not a second one 'jacobi'");
  expect("multigrid:plain:w:smoothed",
         "the preconditioner multigrid has one interpolation, not a second one 'smoothed'");
  expect("multigrid:single:full",
         "the preconditioner multigrid has one precision of its levels, not a second one 'full'");
  for (const std::string text : {"multigrid:2:k,multigrid:1:v", "multigrid*multigrid:jacobi",
                                 "multigrid:gauss-seidel,multigrid", "multigrid,multigrid:plain",
                                 "multigrid:single,multigrid"}) {
    expect(text, "part 2 of the preconditioner '" + text +
                     "': all multigrid parts must share one cycle, one smoother, one interpolation "
                     "and one precision of their levels");
  }
  test::expect_error(ErrorKind::usage,
                     "the preconditioner fsai is made from stored entries, which this operator "
                     "lacks, as A + sigma I does; choose one of none, chebyshev, neumann",
                     [] { check_needs_no_entries(ComposedChoice::parse("neumann,fsai")); });
}

}  // namespace
}  // namespace heddle
