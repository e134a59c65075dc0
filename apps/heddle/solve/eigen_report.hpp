// The options of `heddle eigen`, and the report of its results.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "heddle/runtime/any_eigen_solver.hpp"
#include "heddle/runtime/settings.hpp"
#include "options/matrix_options.hpp"
#include "profile_option.hpp"
#include "ranks/rank_options.hpp"
#include "run_facts.hpp"
#include "singular_advice.hpp"
#include "storage_option.hpp"
#include "tuning/planning/method_choice.hpp"

namespace heddle::cli {

struct EigenCommand {
  MatrixOptions matrix;
  std::string mass;
  std::optional<std::string> output;
  std::string preconditioner = automatic;
  Settings settings;
  std::string plan;
  ProfileOption profile;
  StorageOption storage;
  RankOptions ranks;
  bool json = false;

  EigenOptions of_solver() const {
    EigenOptions usual;
    usual.count = 4;
    return with_settings(usual, settings);
  }
};

/// Facts of the report.
struct FoundPairs : RunFacts {
  explicit FoundPairs(RunFacts facts) : RunFacts(std::move(facts)) {}

  std::string preconditioner;         // the one in use
  std::string preconditioner_reason;  // the reason for it
  UnitRows units;                     // where it takes 1
  std::optional<Offset> mass_entries;
  long long solver_memory = 0;
  int count = 0;
  EigenReport report;
};

/// The path for vector k of several, counted from 1: v.mtx.gz becomes v-3.mtx.gz.
std::string numbered(const std::string& path, int k);

ReportLines describe(const EigenCommand& options, const FoundPairs& found, const Device& device);

}  // namespace heddle::cli
