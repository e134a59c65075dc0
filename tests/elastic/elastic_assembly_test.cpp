// The stored matrix: sums of element blocks under supports.
#include "elastic/solids.hpp"
#include "support/systems/dense_factors.hpp"

namespace heddle::elastic::test {
namespace {

constexpr const char* layouts[] = {"CSR", "pJDS", "C=8,sigma=64,inner=aosoa16", "K2rs",
                                   "C=4,T=2,inner=soa,order=rcm"};

TEST(ElasticAssembly, AgreesWithTheModelProblemOnFreeVertices) {
  const TetrahedronMesh mesh = random_solid(500, 2);
  const CsrMatrix<Block> expected = elasticity(mesh, {.young = 2.5, .poisson = 0.2});
  Model model = model_of(mesh, {.young = 2.5, .poisson = 0.2});
  for (Index v = mesh.free_vertices; v < model.vertices(); ++v) give(model, v, {});
  for (const char* plan : layouts) {
    SCOPED_TRACE(plan);
    const Simulation simulation(model, {}, plan);
    const CsrMatrix<Block> found = matrix_of(simulation);
    Offset free_entries = 0;
    for (Index row = 0; row < found.rows(); ++row) {
      for (Offset i = found.offsets()[row]; i < found.offsets()[row + 1]; ++i) {
        const Index column = found.column()[i];
        const Eigen::Matrix3d block = matrix_of(found.entry(i));
        if (row >= mesh.free_vertices || column >= mesh.free_vertices) {
          // A held vertex keeps only the diagonal of its block.
          const Eigen::Matrix3d rest = row == column
                                           ? Eigen::Matrix3d(block.diagonal().asDiagonal())
                                           : Eigen::Matrix3d(Eigen::Matrix3d::Zero());
          ASSERT_TRUE(block == rest);
          ASSERT_EQ(block.diagonal().minCoeff() > 0, row == column);
          continue;
        }
        // The rows of free vertices are those of the model problem, in the same order.
        const Offset j = expected.offsets()[row] + (i - found.offsets()[row]);
        ASSERT_EQ(expected.column()[j], column);
        const Eigen::Matrix3d wanted = matrix_of(expected.entry(j));
        ASSERT_LE((block - wanted).norm(), 1e-14 * wanted.norm() + 1e-15);
        ++free_entries;
      }
    }
    EXPECT_EQ(free_entries, expected.entries());
  }
}

TEST(ElasticAssembly, IsSymmetricBitByBitWithMassAndSupports) {
  Model model = box({4, 3, 3}, {2, 1, 1}, {.young = 7, .poisson = 0.4, .density = 3}, 0.2);
  for (Index v = 0; v < model.vertices(); v += 5) {
    model.fixed[static_cast<std::size_t>(v)] = static_cast<unsigned char>(1 + v % 7);
  }
  Simulation simulation(model, {.corotational = true, .with_mass = true}, "pJDS");
  VertexField u = simulation.system.field();
  for (Index v = 0; v < u.size(); ++v) {
    const double t = 0.1 * v;
    u.set(v, {{std::sin(t), std::cos(2 * t), std::sin(3 * t)}});
  }
  simulation.system.deform(u);
  simulation.system.set_matrix(2, 0.3);
  const CsrMatrix<Block> A = matrix_of(simulation);
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(3 * A.rows(), 3 * A.rows());
  for (Index row = 0; row < A.rows(); ++row) {
    for (Offset i = A.offsets()[row]; i < A.offsets()[row + 1]; ++i) {
      dense.block<3, 3>(3 * row, 3 * A.column()[i]) = matrix_of(A.entry(i));
    }
  }
  EXPECT_TRUE(dense == dense.transpose());
  EXPECT_GT(heddle::test::eigenvalues_of(dense)[0], 0);
}

TEST(ElasticAssembly, MassIsThatOfTheSolid) {
  const Model model = box({3, 4, 2}, {1, 2, 0.5}, {.density = 8}, 0.2);
  Simulation simulation(model, {.with_mass = true}, "K1rs");
  VertexField motion = simulation.system.field(), momentum = motion;
  fill<double>(1, motion.view(), motion.stream());
  simulation.system.apply_mass(motion, momentum);
  // Half of m v^2 for each of the three components.
  EXPECT_NEAR(simulation.system.half_product(motion, momentum), 3 * 0.5 * 8, 1e-12);
}

TEST(ElasticAssembly, ForcesAreTheMatrixTimesTheDisplacement) {
  const Model model = model_of(random_solid(300, 4), {.young = 5, .poisson = 0.1});
  Simulation simulation(model, {}, "pJDS");
  VertexField u = simulation.system.field(), f = u, product = u;
  for (Index v = 0; v < u.size(); ++v) {
    const double t = 0.37 * v;
    u.set(v, {{std::sin(t), std::cos(2 * t), std::sin(3 * t)}});
  }
  simulation.system.deform(u);
  simulation.system.residual(nullptr, -1, f);
  simulation.system.matrix().apply(1, u.view(), 0, product.view(), u.stream());
  EXPECT_NEAR(simulation.system.elastic_energy(),
              0.5 * dot<double>(u.view(), product.view(), u.stream()), 1e-11);
  const double size = norm<Block>(product);
  axpby<Block>(-1, product, 1, f);
  EXPECT_LE(norm<Block>(f), 1e-14 * size);
}

}  // namespace
}  // namespace heddle::elastic::test
