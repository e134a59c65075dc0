// Profiles for tests: of this device, with arbitrary records.
#pragma once

#include <string>
#include <vector>

#include "heddle/tuning/profile.hpp"

namespace heddle::test {

/// All numbers differ, so that none is mistaken for its neighbour.
inline Statistics some_statistics(double scale) {
  return {.runs = 21,
          .least = 1.0 * scale,
          .lower_quartile = 1.1 * scale,
          .median = 1.25 * scale,
          .upper_quartile = 1.5 * scale,
          .greatest = 3.0 * scale,
          .mean = 1.3 * scale};
}

/// Roughly the features of a surface's Dirac operator.
inline PatternFeatures some_features(Index rows) {
  return {.rows = rows,
          .columns = rows,
          .entries = Offset(7) * rows,
          .mean_row = 7,
          .deviation_of_rows = 1.0 / 3,
          .longest_row = 12,
          .mean_distance = 0.1};
}

/// A fingerprint that ends in these digits.
inline std::string some_fingerprint(const std::string& digits) {
  return std::string(32 - digits.size(), '0') + digits;
}

inline ProfileRecord some_record(const std::string& matrix, const std::string& digits,
                                 const std::string& plan, Index rows = 10000) {
  ProfileRecord record;
  record.matrix = matrix;
  record.entry = "quaternion";
  record.precision = "double";
  record.fingerprint = some_fingerprint(digits);
  record.features = some_features(rows);
  record.plan = parse_plan(plan);
  record.seconds = some_statistics(1e-5);
  record.memory_ratio = 1.0625;
  record.natural = parse_plan("CSR,schedule=dynamic");
  record.natural_seconds = some_statistics(1.7e-5);
  record.speedup = 1.7;
  record.search = "pruned";
  record.date = "2026-11-21";
  return record;
}

inline DomainRecord some_domain(const std::string& name, const std::string& plan,
                                const std::vector<std::string>& digits) {
  DomainRecord domain;
  domain.domain = name;
  domain.entry = "quaternion";
  domain.precision = "double";
  domain.plan = parse_plan(plan);
  domain.regret = 0.013;
  for (const std::string& of_record : digits) {
    domain.fingerprints.push_back(some_fingerprint(of_record));
  }
  return domain;
}

/// Nodes of 64 are the fastest for A x, nodes of 256 for A* x.
inline TreeRecord some_tree(const std::string& matrix, const std::string& digits,
                            Index rows = 10000) {
  return {.matrix = matrix,
          .entry = "quaternion",
          .precision = "double",
          .fingerprint = some_fingerprint(digits),
          .features = some_features(rows),
          .sizes = {{64, 700000, some_statistics(1e-5), some_statistics(3e-5)},
                    {128, 600000, some_statistics(2e-5), some_statistics(2.5e-5)},
                    {256, 650000, some_statistics(2.1e-5), some_statistics(1e-5)}},
          .date = "2026-11-26"};
}

inline MultigridRecord some_multigrid(const std::string& matrix, const std::string& digits,
                                      Index rows = 10000) {
  return {.matrix = matrix,
          .entry = "quaternion",
          .precision = "double",
          .fingerprint = some_fingerprint(digits),
          .features = some_features(rows),
          .candidates = "constant",
          .preconditioner = "multigrid:2:w:jacobi",
          .strength = 0.02,
          .iterations = 9,
          .seconds = some_statistics(0.1),
          .usual_seconds = some_statistics(0.2),
          .date = "2026-11-27"};
}

/// A profile of the CPU that runs the test.
inline Profile some_profile() {
  Profile profile;
  profile.device = properties_of(Device::cpu(2));
  profile.ceilings = {1.5e10, 6.25e10, 3.5e-6};
  profile.version = "0.1.0";
  profile.kernels = some_fingerprint("feed");
  return profile;
}

/// Properties of a GPU that no machine has.
inline DeviceProperties some_gpu() {
  return {.gpu = true,
          .name = "NVIDIA T999",
          .memory = 80LL << 30,
          .last_cache = 50LL << 20,
          .instructions = "",
          .architecture = 90,
          .multiprocessors = 132,
          .warp = 32,
          .threads_of_block = 1024,
          .threads_of_multiprocessor = 2048,
          .blocks_of_multiprocessor = 33,
          .registers_of_multiprocessor = 65536,
          .shared_memory_of_block = 232448,
          .driver = "13.0"};
}

}  // namespace heddle::test
