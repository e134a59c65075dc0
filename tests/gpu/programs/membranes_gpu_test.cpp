// The cells of heddle-heart on a GPU, compared with those on a CPU.
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "heddle/array.hpp"
#include "membrane_cells.hpp"
#include "support/gpu.hpp"

namespace heddle::heart::test::membranes_gpu {
namespace {

using namespace heddle::test;

class MembranesOnGpu : public OnGpu {};

/// Cells of every model on a device, with scattered potentials and two stimuli.
struct Tissue {
  std::vector<std::uint16_t> region;
  MembraneCells cells;
  Array<double> V;
  Array<double> time;

  static std::vector<MembraneChoice> regions() {
    std::vector<MembraneChoice> all(5);
    all[0].model = "aliev-panfilov";
    all[1].model = "fitzhugh-nagumo";
    all[3].type = "endocardial";
    all[4].type = "mid-myocardial";
    return all;
  }
  static std::vector<std::uint16_t> scattered(int count) {
    std::mt19937 random(5);
    std::vector<std::uint16_t> region;
    region.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) region.push_back(static_cast<std::uint16_t>(random() % 5));
    return region;
  }

  Tissue(int count, const Device& device)
      : region(scattered(count)), cells(regions(), region, device) {
    std::mt19937 random(6);
    std::vector<double> start = cells.resting_potential();
    std::vector<std::uint32_t> mask;
    mask.reserve(start.size());
    for (double& v : start) {
      v += static_cast<double>(random() % 20);
      mask.push_back(random() % 4);
    }
    cells.set_stimuli(
        std::vector<Stimulus>{
            {.start = 0.5, .duration = 1, .amplitude = 40},
            {.start = 2, .duration = 0.5, .amplitude = 10, .period = 3, .count = 2}},
        mask);
    V = Array<double>(std::span<const double>(start), device);
    time = Array<double>(1, device);
  }
  void set_time(double value) {
    heddle::detail::copy_bytes(time.data(), &value, sizeof value, time.device().stream());
  }
  void run(int steps, double dt, CellRule rule = CellRule::euler) {
    for (int k = 0; k < steps; ++k) {
      set_time(k * dt);
      cells.advance(V.data(), time.data(), dt, V.device().stream(), rule);
    }
  }
};

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double off = std::fabs(a[i] - b[i]) / (1e-3 + std::fabs(b[i]));
    if (!(off <= most)) most = off;
  }
  return most;
}

/// Rounding grows while V rises: the tolerance covers 600 steps through the rise.
TEST_F(MembranesOnGpu, CellsAreThoseOfACpu) {
  for (const int count : {3001, 20000}) {
    for (const CellRule rule : {CellRule::euler, CellRule::midpoint}) {
      Tissue here(count, Device::cpu()), there(count, device);
      here.run(600, 0.02, rule);
      there.run(600, 0.02, rule);
      EXPECT_LE(largest_difference(there.V.to_host(), here.V.to_host()), 1e-9);
      EXPECT_LE(largest_difference(there.cells.state(), here.cells.state()), 1e-9);
    }
  }
}

TEST_F(MembranesOnGpu, OneModelNeedsNoList) {
  const std::vector<MembraneChoice> regions(1);
  const std::vector<std::uint16_t> region(777);
  std::vector<double> V[2];
  int k = 0;
  for (const Device& on : {Device::cpu(), device}) {
    MembraneCells cells(regions, region, on);
    std::vector<double> start = cells.resting_potential();
    for (std::size_t i = 0; i < start.size(); ++i) start[i] += 0.1 * static_cast<double>(i);
    Array<double> potential(std::span<const double>(start), on), time(1, on);
    for (int step = 0; step < 200; ++step) {
      cells.advance(potential.data(), time.data(), 0.02, on.stream());
    }
    V[k++] = potential.to_host();
  }
  EXPECT_LE(largest_difference(V[1], V[0]), 1e-10);
}

TEST_F(MembranesOnGpu, RepeatsItsBitsAndItsState) {
  Tissue one(5000, device), two(5000, device);
  one.run(100, 0.02);
  two.run(60, 0.02);
  const std::vector<double> V = two.V.to_host(), state = two.cells.state();
  two.run(3, 0.05);
  two.cells.set_state(state);
  heddle::detail::copy_bytes(two.V.data(), V.data(), V.size() * sizeof(double), device.stream());
  for (int k = 60; k < 100; ++k) {
    two.set_time(k * 0.02);
    two.cells.advance(two.V.data(), two.time.data(), 0.02, device.stream());
  }
  EXPECT_EQ(two.V.to_host(), one.V.to_host());
  EXPECT_EQ(two.cells.state(), one.cells.state());
}

/// A step neither allocates nor waits, and a recorded step reads the time again.
TEST_F(MembranesOnGpu, AStepCanBeRecorded) {
  Tissue plain(5000, device), recorded(5000, device);
  const OwnStream stream;
  const Device with_stream = Device::cuda(device.stream().gpu, stream.get());
  device.synchronize();
  const OwnGraph graph(stream.get(), [&] {
    recorded.cells.advance(recorded.V.data(), recorded.time.data(), 0.02, with_stream.stream());
  });
  EXPECT_EQ(graph.nodes(), 5U);  // one kernel per region
  for (int k = 0; k < 100; ++k) {
    recorded.set_time(k * 0.02);
    device.synchronize();
    graph.launch(stream.get());
    with_stream.synchronize();
  }
  plain.run(100, 0.02);
  EXPECT_EQ(recorded.V.to_host(), plain.V.to_host());
  EXPECT_EQ(recorded.cells.state(), plain.cells.state());
}

}  // namespace
}  // namespace heddle::heart::test::membranes_gpu
