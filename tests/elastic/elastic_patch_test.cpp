// A displacement that is linear in space is found exactly, whatever the mesh (the patch test).
#include "boundary.hpp"
#include "elastic/solids.hpp"
#include "static_analysis.hpp"

namespace heddle::elastic::test {
namespace {

const Eigen::Matrix3d gradient =
    (Eigen::Matrix3d() << 1e-3, 2e-3, -1e-3, 0, -2e-3, 3e-3, 1e-3, 5e-4, 1.5e-3).finished();

Point linear(const Point& x) { return point(gradient * vector(x) + Vector(0.1, -0.2, 0.3)); }

Model patch(double irregularity) {
  Model model = model_of(random_solid(400, 5, irregularity), {.young = 3, .poisson = 0.35});
  for (const Triangle& triangle : Boundary(model.tetrahedron).triangles()) {
    for (const Index v : triangle) {
      give(model, v, linear(model.position[static_cast<std::size_t>(v)]));
    }
  }
  return model;
}

TEST(ElasticPatch, IsExactInEveryLayout) {
  for (const double irregularity : {0.0, 1.0}) {
    const Model model = patch(irregularity);
    ASSERT_GT(model.unknowns(), 300);
    for (const char* plan : {"CSR", "pJDS", "C=8,sigma=64,inner=aosoa16,vector=soa",
                             "C=4,T=2,inner=soa,order=rcm", "K1rs,use=scatter"}) {
      SCOPED_TRACE(plan);
      Simulation simulation(model, {.tolerance = 1e-14}, plan);
      StaticAnalysis analysis(simulation.system);
      ASSERT_TRUE(analysis.solve().converged());
      const std::vector<Point> u = points_of(analysis.displacement());
      for (std::size_t v = 0; v < u.size(); ++v) {
        ASSERT_LE((vector(u[v]) - vector(linear(model.position[v]))).norm(), 1e-13);
      }
      // The stress is the same in all elements.
      const Eigen::Matrix3d strain = 0.5 * (gradient + gradient.transpose());
      const Lame lame = model.material[0].lame();
      const Eigen::Matrix3d stress =
          lame.lambda * strain.trace() * Eigen::Matrix3d::Identity() + 2 * lame.mu * strain;
      simulation.system.find_stress(analysis.displacement());
      const Array<double>& found = simulation.system.stress();
      const int at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {0, 2}};
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_NEAR(found[i], stress(at[i % 6][0], at[i % 6][1]), 1e-12) << i;
      }
      double volume = 0;
      for (Offset e = 0; e < model.elements(); ++e) volume += model.volume(e);
      EXPECT_NEAR(analysis.energies().elastic, 0.5 * volume * (stress.cwiseProduct(strain)).sum(),
                  1e-14 * volume);
    }
  }
}

}  // namespace
}  // namespace heddle::elastic::test
