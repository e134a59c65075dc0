// Names in any letter case, and the names that a mistyped word stands for.
#include "base/text/names.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace heddle;

TEST(Names, AreTheSameInAnyCase) {
  EXPECT_TRUE(is_same_name("K2rs", "k2RS"));
  EXPECT_TRUE(is_same_name("", ""));
  EXPECT_FALSE(is_same_name("cg", "cgs"));
  EXPECT_FALSE(is_same_name("cgs", "cg"));
  EXPECT_FALSE(is_same_name("[", "{"));  // differ only in the letter-case bit
  EXPECT_EQ(lower_case("Sl-16 @[\xC4"), "sl-16 @[\xC4");
}

TEST(Names, NearestIsTheOneThatIsMeant) {
  const std::vector<std::string> commands = {"solve", "eigen", "spmv", "info", "add", "multiply"};
  EXPECT_EQ(nearest_name("slove", commands), "solve");
  EXPECT_EQ(nearest_name("solv", commands), "solve");
  EXPECT_EQ(nearest_name("SOLVE", commands), "solve");
  EXPECT_EQ(nearest_name("eigne", commands), "eigen");
  EXPECT_EQ(nearest_name("mult", commands), "multiply");
  for (const char* word : {"", "x", "s", "factorize", "--"})
    EXPECT_EQ(nearest_name(word, commands), "");
  const std::vector<std::string> options = {"--tolerance",      "--time-limit",
                                            "--threads",        "--rhs",
                                            "--max-iterations", "--right-hand-sides"};
  EXPECT_EQ(nearest_name("--tol", options), "--tolerance");
  EXPECT_EQ(nearest_name("--tolerence", options), "--tolerance");
  EXPECT_EQ(nearest_name("--max-iter", options), "--max-iterations");
  EXPECT_EQ(nearest_name("--maxiter", options), "--max-iterations");
  EXPECT_EQ(nearest_name("--t", options), "");  // three names begin this way
  EXPECT_EQ(nearest_name(std::string(100'000, 'a'), options), "");
}

}  // namespace
