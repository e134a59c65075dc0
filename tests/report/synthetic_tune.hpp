// A run of `heddle tune` with made-up times: every outcome, two matrices, and one that no plan ran.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "tune_report.hpp"

namespace heddle::tuning::made_up {

inline Statistics around(double seconds) {
  return {
      21, seconds * 0.97, seconds * 0.99, seconds, seconds * 1.02, seconds * 1.2, seconds * 1.01};
}

/// A GPU's time: best at a certain number of threads per multiprocessor, and nearly constant near
/// it (section 5.4 of Mueller-Roemer et al. 2020).
inline double synthetic_seconds(const Plan& plan, double rows) {
  const double outer = plan.layout.lanes == 1                  ? 1.9
                       : plan.layout.lanes == Layout::all_rows ? 1.05
                                                               : 1.0;
  const double inner = plan.layout.inner == InnerLayout::aos ? 1.15 : 1.0;
  const double vector = plan.layout.vector == VectorLayout::soa ? 1.08 : 1.0;
  const double best = plan.layout.lanes == 1 ? 512 : 1536;
  const double off = std::log2(plan.gpu.block_size * std::max(plan.gpu.blocks, 1) / best);
  const bool dynamic = plan.schedule.kind == ScheduleKind::dynamic;
  const double schedule = 1 + (dynamic ? 0.14 : 0.09) * off * off + (dynamic ? 0.03 : 0);
  return 2e-6 + rows * 1.1e-10 * outer * inner * vector * schedule *
                    (1 + 0.004 * std::cos(plan.gpu.block_size + 7.0 * plan.gpu.blocks));
}

struct SyntheticAxes {
  std::vector<std::string> outer = {"C=1", "C=n", "C=16", "C=32", "C=32,sigma=n"};
  std::vector<std::string> inner = {"aos", "soa"};
  std::vector<std::string> vector = {"aos", "soa"};
  std::vector<int> threads = {64, 128, 256, 512, 1024};
  std::vector<int> blocks = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
};

inline std::vector<Trial> synthetic_trials(double rows, const SyntheticAxes& axes = {}) {
  std::vector<Trial> trials;
  for (const auto& outer : axes.outer) {
    for (const auto& inner : axes.inner) {
      for (const auto& vector : axes.vector) {
        for (const char* schedule : {"static", "dynamic"}) {
          for (const int threads : axes.threads) {
            for (const int blocks : axes.blocks) {
              if (threads * blocks > 2048) continue;
              Trial trial;
              trial.plan = parse_plan(
                  outer + ",inner=" + inner + ",vector=" + vector + ",schedule=" + schedule +
                  ",threads=" + std::to_string(threads) + ",blocks=" + std::to_string(blocks));
              trial.memory_ratio = outer == "C=1" ? 1 : outer == "C=n" ? 1.7 : 1.2;
              if (inner == "soa" && vector == "soa" && outer == "C=n") {
                trial.outcome = Trial::Outcome::too_large;
                trial.reason = "2.4 times the memory of CSR, over 2";
              } else if (threads == 1024 && blocks == 2 && outer == "C=16") {
                trial.outcome = Trial::Outcome::refused;
                trial.reason = "too many registers for <1024> threads & 2 blocks";
              } else if (threads == 64 && blocks == 32 && outer == "C=1") {
                trial.outcome = Trial::Outcome::wrong;
                trial.reason = "differs from the reference by 0.3";
              } else {
                const double seconds = synthetic_seconds(trial.plan, rows);
                trial.seconds = around(seconds);
                trial.score = seconds;
              }
              trials.push_back(std::move(trial));
            }
          }
        }
      }
    }
  }
  return trials;
}

inline ProfileRecord record_of(const MatrixReport& matrix) {
  const Trial* best = matrix.best_of([](const Plan&) { return true; });
  const Trial* natural =
      matrix.best_of([](const Plan& plan) { return plan.layout == natural_layout(plan).layout; });
  ProfileRecord record;
  record.matrix = matrix.name;
  record.entry = "quaternion";
  record.precision = "double";
  record.features = matrix.features;
  record.plan = best->plan;
  record.seconds = best->seconds;
  record.memory_ratio = best->memory_ratio;
  record.natural = natural->plan;
  record.natural_seconds = natural->seconds;
  record.speedup = natural->seconds.median / best->seconds.median;
  record.search = "full";
  record.date = "2026-11-21";
  return record;
}

inline MatrixReport synthetic_matrix(const std::string& name, Index rows) {
  MatrixReport matrix;
  matrix.name = name;
  matrix.features = {rows, rows, Offset(rows) * 7, 7, 0.9, 12, 0.02};
  matrix.row_lengths = {4, 6, 7, 8, 12};
  matrix.row_bandwidths = {0.0003, 0.01, 0.034, 0.2, 0.93};
  const double csr = rows * 7.0 * 36;
  matrix.layouts = {
      {"CSR", csr, 1},           {"ELL", csr * 1.7, 1.7},    {"Sl-16", csr * 1.1, 1.1},
      {"Sl-32", csr * 1.2, 1.2}, {"pJDS", csr * 1.02, 1.02}, {"real CSR", csr * 4, 4}};
  return matrix;
}

inline TuneReport synthetic_tune(const SyntheticAxes& axes = {}) {
  TuneReport run;
  run.date = "2026-11-21T18:40:12Z";
  run.version = "0.1.0";
  run.commit = "0123456";
  run.command = "heddle tune \"bunny & co.mtx\" dragon.mtx --entry quaternion --search full";
  run.device = "NVIDIA GP100 <made up>, compute capability 6.0";
  run.gpu = true;
  run.entry = "quaternion";
  run.precision = "double";
  run.search = Search::full;
  run.objective = Objective::product();
  for (const auto& [name, rows] :
       {std::pair<const char*, Index>{"bunny & co", 34834}, {"dragon", 435545}}) {
    MatrixReport matrix = synthetic_matrix(name, rows);
    matrix.trials = synthetic_trials(rows, axes);
    matrix.record = record_of(matrix);
    matrix.seconds = 31.4;
    run.matrices.push_back(std::move(matrix));
  }
  run.matrices.push_back(synthetic_matrix("filter <one long row>", 74062));
  run.matrices.back().row_lengths = {1, 4, 11, 30, 6000};
  DomainRecord domain;
  domain.domain = "surfaces";
  domain.entry = "quaternion";
  domain.precision = "double";
  domain.plan = run.matrices[0].record->plan;
  domain.regret = 0.013;
  domain.fingerprints = {"a", "b"};
  domain.left_out = {0.02, 0.05};
  run.domain = domain;
  return run;
}

}  // namespace heddle::tuning::made_up
