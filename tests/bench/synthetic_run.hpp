// A run as a GPU might yield it, with made-up figures: every suite, every key of the format,
// libraries that are absent, that refuse and that are wrong.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "records/record.hpp"

namespace heddle::bench::made_up {

inline Timing around(double seconds) { return {seconds * 0.99, seconds, seconds * 1.015}; }

struct SyntheticProblem {
  std::string name, entry, precision;
  long long rows;
  double row_length;
  int entry_bytes, vector_bytes;
};

inline std::vector<SyntheticProblem> synthetic_problems() {
  return {{"solid-1016", "block3", "double", 1016, 13.5, 72, 24},
          {"solid-9095", "block3", "double", 9095, 13.5, 72, 24},
          {"surface-34834", "quaternion", "double", 34834, 7, 32, 32},
          {"surface-34834", "quaternion", "single", 34834, 7, 16, 16},
          {"solid-66840", "block3", "double", 66840, 13.5, 72, 24},
          {"solid-66840", "block3", "single", 66840, 13.5, 36, 12},
          {"long-rows-74104", "complex", "double", 74104, 5.1, 16, 16},
          {"stencil-169410", "complex", "double", 169410, 30, 16, 16},
          {"surface-172974", "quaternion", "double", 172974, 7, 32, 32},
          {"surface-543524", "quaternion", "double", 543524, 7, 32, 32},
          {"surface-543524", "quaternion", "single", 543524, 7, 16, 16},
          {"solid-1000000", "block3", "double", 1000000, 13.5, 72, 24},
          {"stencil-2000000", "complex", "double", 2000000, 30, 16, 16},
          {"surface-6000000", "quaternion", "double", 6000000, 7, 32, 32}};
}

inline Record synthetic_record(const SyntheticProblem& problem, const std::string& suite,
                               const std::string& quantity) {
  Record record;
  record.suite = suite;
  record.problem = problem.name;
  record.entry = problem.entry;
  record.precision = problem.precision;
  record.quantity = quantity;
  record.rows = problem.rows;
  record.entries = std::llround(static_cast<double>(problem.rows) * problem.row_length);
  record.compulsory_bytes = record.entries * (problem.entry_bytes + 4) + (problem.rows + 1) * 4 +
                            2 * problem.rows * problem.vector_bytes;
  return record;
}

inline const char* chosen_plan() {
  return "C=32,sigma=1,T=1,threshold=0,order=natural,columns=sorted,use=permuted,inner=aosoa16,"
         "vector=aos,stored=own,schedule=full,chunk=16,prefetch-x=48,prefetch-matrix=4096,"
         "threads=256,blocks=0,unroll=2,load=default,kept=0,loop=graph,launch=serial,"
         "reductions=2,recurrence=ring";
}

inline Candidate synthetic_candidate(const Record& record, Role role, const std::string& library,
                                     const std::string& method, double seconds, double bandwidth) {
  Candidate candidate;
  candidate.role = role;
  candidate.library = library;
  candidate.method = method;
  candidate.seconds = around(seconds);
  candidate.of_bandwidth = static_cast<double>(*record.compulsory_bytes) / seconds / bandwidth;
  return candidate;
}

inline Record synthetic_product(const SyntheticProblem& problem, const std::string& suite,
                                double bandwidth) {
  Record record = synthetic_record(problem, suite, "product");
  const bool single = problem.precision == "single";
  const double ideal = static_cast<double>(*record.compulsory_bytes) / bandwidth;
  const double start = 1.6e-6;
  const auto add = [&](Role role, const std::string& library, const std::string& method,
                       double slower) {
    const double seconds = ideal * slower + start;
    Candidate candidate = synthetic_candidate(record, role, library, method, seconds, bandwidth);
    const double cold = seconds * 1.01 + 4.5e-6;
    candidate.cold = around(cold);
    candidate.cold_of_bandwidth = *candidate.of_bandwidth * seconds / cold;
    candidate.error = (single ? 1.7e-7 : 2.9e-16) * slower;
    candidate.memory_bytes = *record.compulsory_bytes * 11 / 10;
    record.candidates.push_back(std::move(candidate));
  };
  add(Role::natural, "Heddle", "CSR", 2.2);
  add(Role::chosen, "Heddle", chosen_plan(), 1.07);
  add(Role::best, "Heddle", "Sl-32,inner=soa,vector=soa", 1.05);
  add(Role::tried, "Heddle", "K1rs", 1.3);
  add(Role::peer, "cuSPARSE", "CSR alg2", problem.entry == "complex" ? 1.5 : 3.4);
  if (problem.entry != "complex") {
    add(Role::peer, "cuSPARSE", problem.entry == "block3" ? "BSR 3x3" : "BSR complex 2x2",
        problem.entry == "block3" ? 1.45 : 2.7);
    // Fast and wrong.
    add(Role::peer, "cuSPARSE", "BSR as it should not be used", 0.6);
    record.candidates.back().error = 0.37;
  }
  Candidate refused;
  refused.role = Role::peer;
  refused.library = "cuSPARSE";
  refused.method = "sliced ELL";
  refused.failure =
      "cusparseSpMV: CUSPARSE_STATUS_NOT_SUPPORTED <for \"" + problem.entry + "\" & co>";
  if (problem.rows > 1000000) record.candidates.push_back(refused);
  return record;
}

inline Record synthetic_solve(const SyntheticProblem& problem, const std::string& quantity,
                              double bandwidth) {
  Record record = synthetic_record(problem, "solver", quantity);
  const bool twice = quantity.find("bicgstab") == 0;
  if (twice) record.tolerance = 3e-4;
  const double ideal = static_cast<double>(*record.compulsory_bytes) / bandwidth * (twice ? 2 : 1);
  const long long iterations =
      60 + static_cast<long long>(std::sqrt(problem.rows)) / (twice ? 2 : 1);
  const auto add = [&](Role role, const std::string& library, const std::string& method,
                       double slower, double overhead, bool with_history) {
    Candidate candidate =
        synthetic_candidate(record, role, library, method, ideal * slower + overhead, bandwidth);
    candidate.of_bandwidth.reset();
    candidate.iterations = iterations + (role == Role::peer ? 3 : 0);
    candidate.solve_seconds =
        candidate.seconds->median * static_cast<double>(*candidate.iterations) + 3e-5;
    candidate.residual = 8.3e-10;
    candidate.status = "converged";
    if (with_history) {
      for (long long i = 0; i <= *candidate.iterations; i += 1 + *candidate.iterations / 200) {
        const double t = static_cast<double>(i) / static_cast<double>(*candidate.iterations);
        const double wave = twice ? 0.7 * std::sin(0.9 * static_cast<double>(i)) : 0.0;
        candidate.history.push_back(std::pow(10.0, -9.08 * t * t - 0.0 + wave * t * (1 - t)));
        candidate.history_at.push_back(static_cast<double>(i));
      }
    }
    record.candidates.push_back(std::move(candidate));
  };
  add(Role::natural, "Heddle", "CSR", 2.6, 6e-6, true);
  add(Role::chosen, "Heddle", chosen_plan(), 1.3, 3e-6, true);
  add(Role::best, "Heddle", "Sl-32,loop=persistent", 1.25, 2.5e-6, true);
  add(Role::peer, "textbook", "BSR, graph", 2.4, 11e-6, true);
  add(Role::peer, "textbook", "CSR, stepped", 4.0, 40e-6, true);
  add(Role::peer, "AMGCL", "block CSR", 5.5, 45e-6, false);
  if (problem.name == "surface-34834") {
    Candidate& stagnated = record.candidates.back();
    stagnated.status = "stagnated";
    stagnated.residual = 3.4e-6;
    stagnated.seconds = around(1e-6);
  }
  return record;
}

inline Run synthetic_run() {
  Run run;
  run.name = "2026-11-21-synthetic";
  run.date = "2026-11-21T14:05:00Z";
  run.version = "0.1.0";
  run.commit = "06c0727+";
  run.command = "heddle bench --device cuda --json run.json";
  run.machine = "Intel(R) Xeon(R) Platinum 8480+, 16 cores";
  run.device = "NVIDIA H200 (sm_90, 132 multiprocessors, 139.8 GiB)";
  run.device_kind = "cuda";
  run.bandwidth_name = "copy";
  run.bandwidth = 4.255e12;
  run.repetitions = 25;
  run.tolerance = 1e-9;
  run.peers = {{"cuSPARSE", "12.6.2", "bsrmv, SpMV", true},
               {"textbook", "1", "loops of cuSPARSE and cuBLAS calls", true},
               {"AMGCL", "1.4.4", "header-only", true},
               {"Eigen", "", "not for a GPU", false},
               {"PETSc", "", "not found when heddle was built: install petsc-dev", false}};
  const std::vector<SyntheticProblem> problems = synthetic_problems();
  for (const SyntheticProblem& problem : problems) {
    run.records.push_back(synthetic_product(problem, "product", run.bandwidth));
  }
  // A problem that no library could do.
  Record nobody = synthetic_record(
      {"surface-90000000", "quaternion", "double", 90000000, 7, 32, 32}, "product", "product");
  for (const Role role : {Role::chosen, Role::peer}) {
    Candidate failed;
    failed.role = role;
    failed.library = role == Role::peer ? "cuSPARSE" : "Heddle";
    failed.method = role == Role::peer ? "BSR complex 2x2" : "";
    failed.failure = "out of memory";
    nobody.candidates.push_back(failed);
  }
  run.records.push_back(nobody);

  for (const std::size_t i : {std::size_t{1}, std::size_t{2}, std::size_t{4}, std::size_t{9}}) {
    for (const char* quantity : {"cg", "cg+jacobi", "bicgstab", "bicgstab+jacobi"}) {
      run.records.push_back(synthetic_solve(problems[i], quantity, run.bandwidth));
    }
  }

  for (const std::size_t i : {std::size_t{2}, std::size_t{4}, std::size_t{6}}) {
    Record record = synthetic_record(problems[i], "layouts", "memory");
    double ratio = 1;
    for (const char* layout :
         {"CSR", "ELL", "Sl-16", "Sl-32", "pJDS", "K1", "K1r", "K1rs", "K2", "K2r", "K2rs"}) {
      Candidate candidate;
      candidate.role = std::string(layout) == "CSR" ? Role::natural : Role::tried;
      candidate.library = "Heddle";
      candidate.method = layout;
      candidate.memory_ratio = std::string(layout) == "ELL" ? 2.27 * ratio : ratio;
      candidate.memory_bytes =
          std::llround(static_cast<double>(*record.compulsory_bytes) * *candidate.memory_ratio);
      ratio += 0.013;
      record.candidates.push_back(candidate);
    }
    run.records.push_back(record);
  }

  for (const std::size_t i : {std::size_t{4}, std::size_t{9}}) {
    double seconds = 4e-3;
    for (const char* step : {"choose", "build", "values", "compile", "permute"}) {
      Record record = synthetic_record(problems[i], "setup", step);
      record.compulsory_bytes.reset();
      Candidate candidate;
      candidate.role = Role::chosen;
      candidate.library = "Heddle";
      candidate.method = chosen_plan();
      candidate.seconds = around(seconds);
      record.candidates.push_back(candidate);
      candidate.role = Role::peer;
      candidate.library = "cuSPARSE";
      candidate.method = "BSR 3x3";
      candidate.seconds = around(seconds * 1.7);
      if (std::string(step) == "build") record.candidates.push_back(candidate);
      run.records.push_back(record);
      seconds /= 1.9;
    }
  }

  const auto add_scaling = [&](long long rows, double row_length, const std::string& quantity) {
    const SyntheticProblem problem = {
        "band-" + std::to_string(rows) + "x" + std::to_string(std::lround(row_length)),
        "quaternion",
        "double",
        rows,
        row_length,
        32,
        32};
    run.records.push_back(synthetic_product(problem, "scaling", run.bandwidth));
    run.records.back().quantity = quantity;
  };
  for (const long long rows : {1000LL, 10000LL, 100000LL, 1000000LL}) {
    add_scaling(rows, 7, "against rows");
  }
  for (const double row_length : {4.0, 16.0, 64.0, 256.0}) {
    add_scaling(50000, row_length, "against row length");
  }

  Record assembly = synthetic_record(problems[4], "assembly", "reorder");
  assembly.compulsory_bytes.reset();
  for (const double products : {1.0, 2.5}) {
    Candidate candidate;
    candidate.role = products > 1 ? Role::chosen : Role::tried;
    candidate.library = "Heddle";
    candidate.method = products > 1 ? "on the GPU" : "a product";
    candidate.seconds = around(products * 4e-5);
    candidate.of_product = products;
    if (products > 1) {
      candidate.products_to_pay = 3.25;
      candidate.queues = {{{{1, 1}, {2, 1}, {}, {30, 2}, {400, 3}, {}, {5000, 4}}}, 2, 600};
    }
    assembly.candidates.push_back(candidate);
  }
  run.records.push_back(assembly);

  Record list = synthetic_record({"vectors-1000000", "real", "double", 1'000'000, 1, 8, 8},
                                 "primitives", "list");
  for (const bool repeats : {false, true}) {
    list.candidates.push_back(synthetic_candidate(
        list, repeats ? Role::peer : Role::chosen, repeats ? "CUB" : "Heddle",
        repeats ? "DeviceSelect" : "take_number", repeats ? 9e-6 : 8e-6, run.bandwidth));
    list.candidates.back().repeats = repeats;
  }
  run.records.push_back(list);
  return run;
}

}  // namespace heddle::bench::made_up
