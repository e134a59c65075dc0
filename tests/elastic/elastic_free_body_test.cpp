// Bodies without supports.
#include "boundary.hpp"
#include "elastic/solids.hpp"
#include "heddle/multigrid.hpp"
#include "rigid_motions.hpp"
#include "static_analysis.hpp"

namespace heddle::elastic::test {
namespace {

using namespace points;

TEST(ElasticFreeBody, RigidMotionsAreTheNullSpace) {
  const Model model = model_of(random_solid(600, 3), {.young = 4, .poisson = 0.3});
  Simulation simulation(model);
  const CsrMatrix<Block> A = matrix_of(simulation);
  for (const std::vector<double>& motion : rigid_body_modes<double>(model.position)) {
    for (Index row = 0; row < A.rows(); ++row) {
      Vector force = Vector::Zero();
      double scale = 0;
      for (Offset i = A.offsets()[row]; i < A.offsets()[row + 1]; ++i) {
        const Vector u(motion.data() + 3 * A.column()[i]);
        force += matrix_of(A.entry(i)) * u;
        scale += matrix_of(A.entry(i)).norm() * u.norm();
      }
      ASSERT_LE(force.norm(), 1e-14 * scale);
    }
  }
}

/// A bar pulled at both ends with a force of 1 per area.
Model pulled_bar() {
  Model model = box({6, 2, 2}, {3, 1, 1}, {.young = 10, .poisson = 0.25}, 0.2);
  for (const Triangle& triangle : Boundary(model.tetrahedron).triangles()) {
    const auto at = [&](std::size_t a) -> const Point& {
      return model.position[static_cast<std::size_t>(triangle[a])];
    };
    const Point outward = 0.5 * cross(at(1) - at(0), at(2) - at(0));
    if (std::abs(outward[0]) < 1e-9) continue;
    for (const Index v : triangle) model.load[static_cast<std::size_t>(v)][0] += outward[0] / 3;
  }
  return model;
}

TEST(ElasticFreeBody, SolvesBalancedLoadsWithoutRigidMotions) {
  const Model model = pulled_bar();
  ASSERT_TRUE(needs_projection(model, NullSpace::automatic));
  ASSERT_TRUE(needs_projection(model, NullSpace::rigid));
  for (const char* plan : {"CSR", "pJDS"}) {
    Simulation simulation(model, {.tolerance = 1e-12}, plan);
    const auto motions = rigid_body_modes<double>(model.position);
    simulation.system.project_out(motions);
    StaticAnalysis analysis(simulation.system);
    ASSERT_TRUE(analysis.solve().converged());
    const std::vector<Point> u = points_of(analysis.displacement());
    for (const auto& motion : motions) {
      double part = 0;
      for (std::size_t v = 0; v < u.size(); ++v) {
        for (std::size_t k = 0; k < 3; ++k) part += motion[3 * v + k] * u[v][k];
      }
      EXPECT_NEAR(part, 0, 1e-10);
    }
    // Uniform tension: 1 along x in every element.
    simulation.system.find_stress(analysis.displacement());
    const Array<double>& stress = simulation.system.stress();
    for (std::size_t i = 0; i < stress.size(); ++i) {
      ASSERT_NEAR(stress[i], i % 6 == 0 ? 1.0 : 0.0, 1e-9) << i;
    }
    for (const double equivalent : simulation.system.equivalent_stress()) {
      ASSERT_NEAR(equivalent, 1, 1e-9);
    }
  }
}

std::string refusal(const Model& model, NullSpace wish = NullSpace::automatic) {
  try {
    needs_projection(model, wish);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::malformed_file);
    return error.what();
  }
  return "";
}

TEST(ElasticFreeBody, RefusesWhatHasNoSolution) {
  Model model = pulled_bar();
  EXPECT_EQ(refusal(model, NullSpace::none),
            "the solid can move as a rigid body: its supports leave 6 of 6 motions free");
  Model unbalanced = model;
  for (Point& load : unbalanced.load) load[1] += 0.5;
  EXPECT_EQ(refusal(unbalanced),
            "nothing is supported and the loads are not in balance: they sum to the force (0, " +
                std::string("31.5, 0) and the moment (0, 0, 0) about the centre; add supports or "
                            "balance the loads"));
  Model twisted = model;
  twisted.load[0][2] += 1;
  twisted.load[6][2] -= 1;
  EXPECT_NE(refusal(twisted).find("the moment (0, 3, 0)"), std::string::npos) << refusal(twisted);
}

TEST(ElasticFreeBody, CountsTheMotionsThatSupportsLeave) {
  Model model = box({3, 2, 2}, {3, 1, 1}, {});
  const auto leaves = [&](int count) {
    EXPECT_EQ(refusal(model), "the solid can move as a rigid body: its supports leave " +
                                  std::to_string(count) + " of 6 motions free");
  };
  give(model, 0, {});
  leaves(3);
  give(model, 3, {});  // an edge: rotation about it
  leaves(1);
  give(model, 1, {});  // on the same line
  leaves(1);
  model.fixed[8] |= 2;  // along y; off the line in y and not in z: holds nothing
  leaves(1);
  model.fixed[8] |= 4;
  EXPECT_FALSE(needs_projection(model, NullSpace::automatic));
  EXPECT_EQ(refusal(model, NullSpace::rigid),
            "analysis.null_space is rigid, but there are supports: leave one of the two out");
  // On rollers: the plane's three motions remain.
  Model rolling = box({3, 2, 2}, {3, 1, 1}, {});
  for (Index v = 0; v < rolling.vertices(); ++v) {
    if (rolling.position[static_cast<std::size_t>(v)][2] == 0) {
      rolling.fixed[static_cast<std::size_t>(v)] = 4;
    }
  }
  EXPECT_EQ(refusal(rolling),
            "the solid can move as a rigid body: its supports leave 3 of 6 motions free");
}

TEST(ElasticFreeBody, KnowsThePartsOfAMesh) {
  const Model one = box({1, 1, 1}, {1, 1, 1}, {});
  std::vector<Point> position = one.position;
  std::vector<Tetrahedron> tetrahedra = one.tetrahedron;
  const Index first = one.vertices();
  for (const Point& p : one.position) position.push_back(p + Point{5, 0, 0});
  for (Tetrahedron t : one.tetrahedron) {
    for (Index& v : t) v += first;
    tetrahedra.push_back(t);
  }
  Model two = Model::make(position, tetrahedra, {});
  EXPECT_EQ(refusal(two),
            "nothing is supported and the mesh has 2 parts: rigid motions are "
            "projected out of one part only");
  for (Index v = 0; v < first; ++v) give(two, v, {});
  EXPECT_EQ(refusal(two),
            "part 2 of the 2 of the mesh (with vertex 9) can move as a rigid body: its supports "
            "leave 6 of 6 motions free");
}

}  // namespace
}  // namespace heddle::elastic::test
