// Plans whose times are a function, on a simulated clock: noisy, with outliers, and on a machine
// whose speed drifts and jumps.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "heddle/tuning/search_space.hpp"
#include "heddle/tuning/trials.hpp"

namespace heddle::test {

class SyntheticTrials final : public Trials {
 public:
  explicit SyntheticTrials(std::function<double(const Plan&)> seconds, std::uint64_t seed = 1)
      : seconds_(std::move(seconds)), generator_(seed) {}

  double noise = 0.02;            // in the logarithm of a time
  double outliers = 0.02;         // probability of a run that takes up to four times as long
  double drift = 0.1;             // amplitude of a slow wave of the speed
  double drift_period = 1;        // seconds
  double step = 0.2;              // the speed is lower by this factor in every other
  double step_period = 0.7;       // period of this length, in seconds
  double seconds_of_build = 0;    // for a layout that differs from the plan before
  double seconds_of_prepare = 0;  // for every plan
  std::function<double(const Plan&)> ratio = [](const Plan&) { return 1.0; };
  std::function<void(const Plan&)> check = [](const Plan&) {};  // throws errors of `prepare`

  std::map<std::string, int> prepared;  // how often, by plan text
  std::vector<Plan> order;              // in order of preparation
  std::vector<std::vector<Plan>> announced;
  int held = 0, max_held = 0;
  long long runs = 0;

  double exact(const Plan& plan) const { return seconds_(plan); }

  void announce(const std::vector<Plan>& plans) override { announced.push_back(plans); }
  double memory_ratio(const Plan& plan) override { return ratio(plan); }
  double now() override { return clock_; }

  std::unique_ptr<PreparedPlan> prepare(const Plan& plan) override {
    ++prepared[to_string(plan)];
    clock_ += seconds_of_prepare;
    if (order.empty() || order.back().layout != plan.layout) clock_ += seconds_of_build;
    order.push_back(plan);
    check(plan);
    return std::make_unique<Prepared>(*this, seconds_(plan));
  }

 private:
  class Prepared final : public PreparedPlan {
   public:
    Prepared(SyntheticTrials& trials, double seconds) : trials_(trials), seconds_(seconds) {
      trials_.max_held = std::max(trials_.max_held, ++trials_.held);
    }
    ~Prepared() override { --trials_.held; }
    double run() override { return trials_.run(seconds_); }

   private:
    SyntheticTrials& trials_;
    double seconds_;
  };

  double run(double seconds) {
    constexpr double turn = 6.283185307179586;
    ++runs;
    double slowness = 1 + drift * std::sin(turn * clock_ / drift_period);
    if (std::fmod(clock_, 2 * step_period) > step_period) slowness *= 1 + step;
    double time = seconds * slowness * std::exp(noise * normal_(generator_));
    if (uniform_(generator_) < outliers) time *= 1 + 3 * uniform_(generator_);
    clock_ += time;
    return time;
  }

  std::function<double(const Plan&)> seconds_;
  std::mt19937_64 generator_;
  std::normal_distribution<double> normal_{0, 1};
  std::uniform_real_distribution<double> uniform_{0, 1};
  double clock_ = 100;
};

}  // namespace heddle::test
