// Guesses from earlier solutions change the cost of a step, not its result.
#include "motions.hpp"

namespace heddle::elastic::test {
namespace {

TEST(ElasticGuesses, LeadToTheSameMotionInFewerIterations) {
  const Model model = loaded_beam();
  for_each_kind_of_motion([&](bool corotational, Method method) {
    const auto motion_with = [&](std::size_t earlier) {
      return motion(model, {.corotational = corotational, .earlier_solutions = earlier}, method,
                    0.02, 25);
    };
    const Motion plain = motion_with(0), guessed = motion_with(8);
    EXPECT_EQ(plain.guesses.count, 0);
    EXPECT_EQ(guessed.guesses.count, 24);
    EXPECT_GT(guessed.guesses.used(), 5);
    EXPECT_LT(guessed.guesses.residual(), guessed.guesses.residual_before());
    // The load is sudden. It excites fast vibrations, which differ in every step; Newmark's method
    // keeps them, and backward Euler damps them.
    const double factor = method == Method::newmark ? 1 : 0.8;
    EXPECT_LT(static_cast<double>(guessed.iterations()),
              factor * static_cast<double>(plain.iterations()));
    expect_same_end(plain, guessed);
  });
}

}  // namespace
}  // namespace heddle::elastic::test
