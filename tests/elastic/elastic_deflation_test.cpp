// Deflation by approximate eigenvectors changes the cost of a step, not its result.
#include "motions.hpp"

namespace heddle::elastic::test {
namespace {

Motion motion_with(const Model& model, bool corotational, Method method, long long vectors) {
  return motion(model,
                {.corotational = corotational,
                 .earlier_solutions = corotational ? 8U : 0U,
                 .deflation = vectors},
                method, 0.5, 12);
}

TEST(ElasticDeflation, LeadsToTheSameMotionInFewerIterations) {
  const Model model = loaded_beam();
  for_each_kind_of_motion([&](bool corotational, Method method) {
    const Motion plain = motion_with(model, corotational, method, 0);
    const Motion deflated = motion_with(model, corotational, method, 8);
    EXPECT_EQ(plain.deflation.systems, 0);
    EXPECT_EQ(deflated.deflation.systems, 11);
    EXPECT_EQ(deflated.deflation.vectors, 8);
    EXPECT_GT(deflated.deflation.eigen_iterations, 0);
    EXPECT_GT(deflated.deflation.setup_seconds, 0);
    EXPECT_EQ(deflated.deflation.iterations, deflated.later_iterations);
    // The first system is not deflated, even if Newmark's method has solved one before it.
    EXPECT_EQ(deflated.deflation.first_iterations, deflated.first_iterations);
    EXPECT_EQ(deflated.first_iterations, plain.first_iterations);
    EXPECT_LT(static_cast<double>(deflated.later_iterations),
              0.85 * static_cast<double>(plain.later_iterations));
    expect_same_end(plain, deflated);
  });
}

TEST(ElasticDeflation, TakesAsManyVectorsAsAreUnknown) {
  Model model = box({1, 1, 1}, {1, 1, 1}, {.young = 1000, .poisson = 0.3, .density = 1});
  clamp(model, [](const Point& p) { return !(p[0] == 1 && p[1] == 1 && p[2] == 1); });
  for (Point& load : model.load) load = {0, 0, -0.02};
  const Motion plain = motion_with(model, false, Method::backward_euler, 0);
  const Motion deflated = motion_with(model, false, Method::backward_euler, 3);
  EXPECT_EQ(deflated.deflation.systems, 11);
  EXPECT_NEAR(deflated.end.back()[2], plain.end.back()[2], 1e-7 * std::abs(plain.end.back()[2]));
}

}  // namespace
}  // namespace heddle::elastic::test
