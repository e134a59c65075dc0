// A spin transformation on a GPU, compared with that on a CPU.
#include <initializer_list>
#include <vector>

#include "curvature_change.hpp"
#include "heddle/problems.hpp"
#include "heddle/tools/points.hpp"
#include "spin_transformation.hpp"
#include "support/gpu.hpp"

namespace heddle::spin::spin_gpu {
namespace {

using namespace points;

using SpinOnGpu = test::OnGpu;

void compare(const Device& device, Eigensolver method, std::initializer_list<Index> sizes) {
  for (const Index size : sizes) {
    const TriangleMesh mesh = random_surface(size);
    const std::vector<double> rho = named_curvature_change("waves", 2, mesh);
    SpinOptions options;
    options.eigensolver = method;
    options.iteration.angle = 1e-7;
    options.iteration.max_steps = 200;
    options.solver.tolerance = 1e-11;
    const SpinTransformation here = spin_transform(mesh, rho, options);
    options.device = device;
    const SpinTransformation there = spin_transform(mesh, rho, options);
    ASSERT_TRUE(here.converged() && there.converged());
    EXPECT_EQ(here.iteration.steps.size(), there.iteration.steps.size());
    for (std::size_t v = 0; v < here.position.size(); ++v) {
      ASSERT_LT(length(there.position[v] - here.position[v]), 1e-6) << size << " " << v;
    }
  }
}

TEST_F(SpinOnGpu, TheSurfaceIsThatOfACpu) {
  compare(device, Eigensolver::inverse_iteration, {642, 5000});
}

TEST_F(SpinOnGpu, TheSurfaceOfLobpcgIsThatOfACpu) { compare(device, Eigensolver::lobpcg, {642}); }

}  // namespace
}  // namespace heddle::spin::spin_gpu
