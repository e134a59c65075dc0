// heddle-elastic's passes and steps on a GPU, compared with those on a CPU.
#include <cmath>
#include <memory>

#include "elastic/solids.hpp"
#include "frame_buffer.hpp"
#include "modes/modal_analysis.hpp"
#include "support/gpu.hpp"
#include "time_stepping.hpp"

namespace heddle::elastic::test::elastic_gpu {
namespace {

using namespace heddle::test;
using simulation::FrameArray;
using simulation::FrameBuffer;

/// A block that hangs from one side and falls, with a number of vertices that fills no slice.
Model hanging_block() {
  Model model = box({9, 7, 5}, {1, 0.8, 0.6}, {.young = 100, .poisson = 0.3, .density = 1}, 0.2);
  clamp(model, [](const Point& p) { return p[0] == 0; });
  for (std::size_t v = 0; v < model.load.size(); ++v) model.load[v] = {1e-3, -2e-3, -1e-2};
  model.fixed[model.fixed.size() - 1] |= 2;
  return model;
}

double difference(const std::vector<Point>& a, const std::vector<Point>& b) {
  double most = 0;
  for (std::size_t v = 0; v < a.size(); ++v) {
    most = std::max(most, (vector(a[v]) - vector(b[v])).norm());
  }
  return most;
}

class ElasticOnGpu : public OnGpu, public testing::WithParamInterface<const char*> {};

TEST_P(ElasticOnGpu, TheMatrixIsThatOfACpu) {
  const Model model = hanging_block();
  for (const bool corotational : {false, true}) {
    const SystemOptions options{.corotational = corotational, .with_mass = true};
    Simulation here(model, options, "CSR"), there(model, options, GetParam(), device);
    std::vector<Point> displacement;
    for (const Point& p : model.position) {
      displacement.push_back({0.3 * p[1] + 0.1 * p[0] * p[2], -0.4 * p[0], std::sin(p[0] + p[1])});
    }
    std::vector<std::vector<Point>> product, force, of_mass;
    std::vector<double> energy;
    for (Simulation* const simulation : {&here, &there}) {
      ElasticSystem& system = simulation->system;
      const VertexField u = system.field_of(displacement);
      VertexField y = system.field();
      system.deform(u);
      system.set_matrix(0.7, 1.3);
      const Stream& stream = system.device().stream();
      system.matrix().apply(1, u.view(), 0, y.view(), stream);
      product.push_back(points_of(y));
      system.residual(&u, -0.5, y);
      force.push_back(points_of(y));
      system.apply_mass(u, y);
      of_mass.push_back(points_of(y));
      energy.push_back(system.elastic_energy());
    }
    for (const auto* const both : {&product, &force, &of_mass}) {
      EXPECT_GT(largest(both->front()), 0);
      EXPECT_LE(difference(both->front(), both->back()), 1e-12 * largest(both->front()));
    }
    EXPECT_NEAR(energy[1], energy[0], 1e-12 * energy[0]);
  }
}

TEST_P(ElasticOnGpu, StepsAreThoseOfACpu) {
  const Model model = hanging_block();
  for (const bool corotational : {false, true}) {
    for (const Method method : {Method::newmark, Method::backward_euler}) {
      SystemOptions options{.corotational = corotational, .with_mass = true, .tolerance = 1e-12};
      Simulation here(model, options, "CSR");
      // The deflated steps on the GPU must equal the plain steps on the CPU.
      if (method == Method::backward_euler) options.deflation = 4;
      Simulation there(model, options, GetParam(), device);
      const StepOptions steps{.method = method, .time_step = 0.05};
      TimeStepping on_cpu(here.system, steps), on_gpu(there.system, steps);
      for (int step = 0; step < 5; ++step) {
        ASSERT_TRUE(on_cpu.step().converged());
        ASSERT_TRUE(on_gpu.step().converged());
      }
      EXPECT_EQ(there.system.deflation.vectors, options.deflation);
      const std::vector<Point> expected = points_of(on_cpu.displacement());
      ASSERT_GT(largest(expected), 1e-3);
      EXPECT_LE(difference(points_of(on_gpu.displacement()), expected), 1e-9 * largest(expected));
      const Energies a = on_cpu.energies(), b = on_gpu.energies();
      EXPECT_NEAR(b.kinetic, a.kinetic, 1e-8 * a.kinetic);
      EXPECT_NEAR(b.elastic, a.elastic, 1e-8 * a.elastic);
      EXPECT_NEAR(b.work, a.work, 1e-8 * std::abs(a.work));
    }
  }
}

TEST_P(ElasticOnGpu, FramesAreInTheOrderOfTheMesh) {
  const Model model = hanging_block();
  const SystemOptions options{.corotational = true, .with_mass = true};
  Simulation here(model, options, "CSR"), there(model, options, GetParam(), device);
  std::vector<Point> displacement, velocity;
  for (const Point& p : model.position) {
    displacement.push_back({0.1 * p[1], -0.2 * p[0], 0.1 * p[0] * p[2]});
    velocity.push_back({p[0], p[1], p[2] + 1});
  }
  std::vector<std::unique_ptr<FrameBuffer>> frame;
  for (Simulation* const simulation : {&here, &there}) {
    ElasticSystem& system = simulation->system;
    const VertexField u = system.field_of(displacement), v = system.field_of(velocity);
    system.deform(u);
    system.find_stress(u);
    using enum FrameArray::Of;
    const auto elements = static_cast<Index>(system.elements());
    const std::vector<FrameArray> arrays = {
        {"displacement", vertices, u.view()},
        {"velocity", vertices, v.view()},
        {"stress", tetrahedra, {system.stress().data(), elements, 6}},
        {"von_mises", tetrahedra, {system.equivalent_stress().data(), elements}}};
    frame.push_back(std::make_unique<FrameBuffer>(arrays, system.device()));
    frame.back()->take(arrays);
    frame.back()->wait();
  }
  for (std::size_t v = 0; v < displacement.size(); ++v) {
    for (std::size_t k = 0; k < 3; ++k) {
      ASSERT_EQ(frame[1]->values(0)[3 * v + k], displacement[v][k]);
      ASSERT_EQ(frame[1]->values(1)[3 * v + k], velocity[v][k]);
    }
  }
  for (std::size_t i = 0; i < frame[0]->values(2).size(); ++i) {
    ASSERT_NEAR(frame[1]->values(2)[i], frame[0]->values(2)[i], 1e-10);
  }
  for (std::size_t i = 0; i < frame[0]->values(3).size(); ++i) {
    ASSERT_NEAR(frame[1]->values(3)[i], frame[0]->values(3)[i], 1e-10);
  }
}

TEST_P(ElasticOnGpu, ModesAreThoseOfACpu) {
  const Model model = hanging_block();
  Simulation here(model, {}, "CSR"), there(model, {}, GetParam(), device);
  const Modes expected = find_modes(model, here.system, {.count = 4});
  const Modes found = find_modes(model, there.system, {.count = 4});
  ASSERT_TRUE(expected.solve.converged() && found.solve.converged());
  for (std::size_t k = 0; k < 4; ++k) {
    const double frequency = expected.modes[k].frequency;
    EXPECT_NEAR(found.modes[k].frequency, frequency, 1e-8 * frequency);
    const std::vector<Point>& shape = expected.modes[k].shape;
    EXPECT_LE(difference(found.modes[k].shape, shape), 1e-5 * largest(shape));
  }
}

INSTANTIATE_TEST_SUITE_P(All, ElasticOnGpu,
                         testing::Values("CSR", "pJDS", "Sl-32,inner=soa",
                                         "Sl-32,inner=soa,vector=soa,order=rcm"));

}  // namespace
}  // namespace heddle::elastic::test::elastic_gpu
