// Presentations of runs: on the terminal, as one page of HTML, next to another run, and as a page
// of results. Nothing here measures.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "records/record.hpp"

namespace heddle::bench {

/// Prints a line for each record, grouped by suite, at most 120 columns wide; below them, the
/// failures and the absent libraries.
void print_table(const Run& run, std::ostream& out);

/// One page that needs no network and no script: figures as SVG, and every candidate in tables.
std::string html_page(const Run& run);

/// Times of Heddle's candidates whose results are right, warm and cold ones counted separately.
/// Times of other libraries are shown but not counted.
struct Comparison {
  int slower = 0;
  int faster = 0;
  int same = 0;
  int missing = 0;  // times that only the old run has
};

/// Compares the times of two runs and prints the differences, slower ones first. A difference
/// counts where the medians differ by more than `threshold` (0.05: by 5% of the old one) and the
/// interquartile ranges do not overlap. Candidates are matched by suite, problem, entry, precision,
/// quantity, role, library and method; the plan of `chosen` and `best` may change.
Comparison compare_runs(const Run& old_run, const Run& new_run, double threshold,
                        std::ostream& out);

/// A page in Markdown with a section for each run, in the given order. The same runs yield the same
/// bytes.
std::string results_page(const std::vector<Run>& runs);

}  // namespace heddle::bench
