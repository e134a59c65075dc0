// Facts in every report of a solve: the matrix, its storage and the time taken.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "heddle/device.hpp"
#include "heddle/hierarchical_memory.hpp"
#include "heddle/plan_choice.hpp"
#include "heddle/report.hpp"
#include "heddle/runtime/any_matrix.hpp"
#include "ranks/rank_report.hpp"
#include "report_lines.hpp"

namespace heddle::cli {

/// How a matrix is stored, and the bytes that it takes.
struct StorageFacts {
  PlanChoice choice;
  MemoryUse memory;  // of sliced storage
  std::string tree;  // hierarchical storage as text; empty for sliced storage
  HierarchicalMemory tree_memory;
  long long copied_bytes = 0;        // entries of a tree in sliced storage, for preconditioners
  std::optional<RankSummary> ranks;  // ranks that share the rows

  std::string plan() const { return tree.empty() ? choice.text() : tree; }
  /// Bytes on all ranks.
  long long bytes() const {
    return memory.total() + (tree.empty() ? 0 : tree_memory.total()) + copied_bytes +
           (ranks ? ranks->memory : 0);
  }
};

struct RunFacts {
  std::string path;
  AnyEntry entry = EntryKind::real;
  Precision precision = Precision::double_precision;
  Index rows = 0, columns = 0;  // total of all ranks
  Offset entries = 0;
  StorageFacts storage;
  std::string rank_choice;  // reason for the number of ranks, if the options leave it open
  std::string right_hand_side;
  double read_seconds = 0, build_seconds = 0, write_seconds = 0;
};

/// The facts of a matrix as it was read. If a rank has only its own rows, the sizes are of these.
RunFacts facts_of(const AnyMatrix& matrix, const std::string& path);

/// "5 x 5 complex entries (double)".
std::string matrix_in_words(const RunFacts& facts);

/// These functions add parts of a report. `processors` follows the name of the device.
void describe_matrix(ReportLines& report, const RunFacts& facts);
void describe_device(ReportLines& report, const Device& device, const std::string& processors = "");
void describe_plan(ReportLines& report, const RunFacts& facts);
/// The status of an iteration, with its details.
void describe_status(ReportLines& report, Status status, long long iterations,
                     std::string_view detail);
/// The times of the facts and of a solve. Eigenpairs need no permutation.
void describe_times(ReportLines& report, const RunFacts& facts, std::optional<double> permute,
                    double iterate, long long iterations);
/// `refused`: the reason why nothing was written; null if the output was written.
void describe_written(ReportLines& report, const std::optional<std::string>& output,
                      const char* refused);

}  // namespace heddle::cli
