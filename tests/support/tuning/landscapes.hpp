// Times of plans as functions, modelled on real ones: effects of single keys, of pairs that depend
// on one another, and valleys along threads x blocks (Mueller-Roemer et al. 2020, Figures 1 and 7).
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "heddle/plan.hpp"
#include "heddle/tuning/device_properties.hpp"

namespace heddle::test {

class Landscape {
 public:
  /// `min_seconds` is about the time of the best plan. `interaction` scales how strongly the
  /// effect of one key depends on another.
  Landscape(std::uint64_t seed, const DeviceProperties& device, double min_seconds,
            double interaction = 1)
      : seed_(seed), device_(device), min_(min_seconds), interaction_(interaction) {}

  double operator()(const Plan& plan) const {
    const int outer = plan.layout.lanes, inner = static_cast<int>(plan.layout.inner);
    double cost = table("C", outer, 0.5) + table("inner", inner, 0.3);
    cost += interaction_ * table("C x inner", 8 * outer + inner, 0.4);
    cost += table("vector", static_cast<int>(plan.layout.vector), 0.15);
    cost += interaction_ *
            table("inner x vector", 2 * inner + static_cast<int>(plan.layout.vector), 0.1);
    const int window = plan.layout.sort_window == 1      ? 0
                       : plan.layout.sort_window == 0    ? 4
                       : plan.layout.sort_window <= 256  ? 1
                       : plan.layout.sort_window <= 1024 ? 2
                                                         : 3;
    cost += valley("sigma", window, 0, 4, 0.03);
    cost += table("order", static_cast<int>(plan.layout.order), 0.05);
    cost += table("columns", static_cast<int>(plan.layout.columns), 0.03);
    cost += table("use", static_cast<int>(plan.layout.basis), 0.05);
    cost += table("schedule", static_cast<int>(plan.schedule.kind), 0.15);
    if (plan.schedule.kind == ScheduleKind::dynamic) {
      cost += valley("chunk", std::log2(plan.schedule.chunk), 0, 6, 0.01);
    }
    cost += device_.gpu ? on_gpu(plan) : on_cpu(plan);
    return min_ * std::exp(cost);
  }

 private:
  double on_gpu(const Plan& plan) const {
    const double threads = std::log2(plan.gpu.block_size),
                 T = std::log2(plan.layout.threads_per_row);
    double cost = 0;
    if (plan.layout.threshold == 0) {
      cost += valley("T", T, 0, 5, 0.06);
      cost += interaction_ * valley("T x threads", threads - T, 4, 9, 0.02);
    } else {
      cost += table("threshold", plan.layout.threshold, 0.3) + 0.1;
    }
    // Resident threads per multiprocessor: three quarters of the maximum if blocks are not limited.
    const double max_threads = device_.threads_of_multiprocessor;
    const double resident = plan.gpu.blocks == 0
                                ? 0.75 * max_threads
                                : static_cast<double>(plan.gpu.block_size) * plan.gpu.blocks;
    const std::string layout = std::to_string(plan.layout.lanes == 1) + "threads x blocks";
    cost += valley(layout, std::log2(resident), 7, std::log2(max_threads), 0.05);
    cost += valley("threads", threads, 5, 10, 0.01);
    cost += valley("unroll", std::log2(plan.gpu.unroll), 0, 3, 0.03);
    cost += table("load", static_cast<int>(plan.gpu.load), 0.2);
    if (plan.gpu.load == LoadHint::evict_first) {
      cost += valley("kept", plan.gpu.l2_percent / 25.0, 0, 2, 0.03);
    }
    cost += table("loop", static_cast<int>(plan.loop.form), 0.3);
    cost += table("launch", static_cast<int>(plan.loop.launch), 0.05);
    cost += table("reductions", plan.loop.single_reduction ? 1 : 2, 0.05);
    cost += table("passes", plan.loop.fused_updates ? 1 : 2, 0.05);
    return cost;
  }

  double on_cpu(const Plan& plan) const {
    double cost = valley("prefetch-x", std::log2(1 + plan.cpu.prefetch_x), 0, 7, 0.006);
    if (plan.layout.inner != InnerLayout::soa) {
      cost +=
          valley("prefetch-matrix", std::log2(1 + plan.cpu.prefetch_matrix / 256.0), 0, 6, 0.012);
    }
    return cost + table("K2", plan.layout.threshold != 0 ? 1 : 0, 0.3);
  }

  double uniform(const std::string& name, int value) const {
    std::uint64_t hash = seed_ * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(value) + 1;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    hash = (hash ^ (hash >> 32)) * 0xd6e8feb86659fd93u;
    hash = (hash ^ (hash >> 32)) * 0xd6e8feb86659fd93u;
    return static_cast<double>((hash ^ (hash >> 32)) >> 11) * 0x1p-53;
  }
  /// An effect on the logarithm of the time, 0 to `range`.
  double table(const std::string& name, int value, double range) const {
    return range * uniform(name, value);
  }
  /// A minimum somewhere between low and high, steeper farther from it.
  double valley(const std::string& name, double at, double low, double high, double slope) const {
    const double least = low + (high - low) * uniform(name, 0);
    return slope * (1 + uniform(name, 1)) * (at - least) * (at - least) / 2;
  }

  std::uint64_t seed_;
  DeviceProperties device_;
  double min_, interaction_;
};

/// Devices of some kinds, with properties as they report them.
inline DeviceProperties gpu_like(int architecture, int multiprocessors, int threads, int blocks,
                                 long long last_cache) {
  DeviceProperties device;
  device.gpu = true;
  device.name = "GPU";
  device.memory = 80LL << 30;
  device.last_cache = last_cache;
  device.architecture = architecture;
  device.multiprocessors = multiprocessors;
  device.warp = 32;
  device.threads_of_block = 1024;
  device.threads_of_multiprocessor = threads;
  device.blocks_of_multiprocessor = blocks;
  device.registers_of_multiprocessor = 65536;
  device.driver = "13.0";
  return device;
}
inline DeviceProperties hopper_like() { return gpu_like(90, 132, 2048, 32, 50LL << 20); }
inline DeviceProperties ampere_like() { return gpu_like(80, 108, 2048, 32, 40LL << 20); }
inline DeviceProperties small_gpu() { return gpu_like(75, 20, 1024, 16, 4LL << 20); }
inline DeviceProperties cpu_like(int threads) {
  DeviceProperties device;
  device.name = "CPU";
  device.memory = 16LL << 30;
  device.last_cache = 32LL << 20;
  device.threads = threads;
  device.instructions = "AVX2 and FMA";
  return device;
}

}  // namespace heddle::test
