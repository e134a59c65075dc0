// Memory of each storage layout relative to CSR: exact accounts, nothing is built.
#include "heddle/detail/sliced.hpp"
#include "heddle/plan_choice.hpp"
#include "problems/paper_matrices.hpp"
#include "suite.hpp"

namespace heddle::bench {

namespace {

/// The table's layouts: slices of C rows, without and with sorting, and ELL-WARP's.
constexpr const char* layouts[] = {
    "C=1",  "C=8",          "C=8,sigma=n", "C=16", "C=16,sigma=n", "C=32", "C=32,sigma=n",
    "C=64", "C=64,sigma=n", "C=n",         "K1",   "K1rs",         "K2",   "K2rs"};

struct Bytes {
  int tile;  // numbers of an entry's real representation
  int scalar;
};

Bytes bytes_of(const AnyMatrix& matrix) {
  return matrix.visit([]<class E>(const CsrMatrix<E>&) {
    return Bytes{tile_rows<E> * tile_columns<E>, static_cast<int>(sizeof(stored_scalar_t<E>))};
  });
}

/// If the matrix is one of the paper's, or has the same size, the paper's memory of its layouts,
/// and that of the matrix counted in the same way.
void add_table9(Record& record, const AnyMatrix& matrix) {
  if (matrix.entry().definition() || matrix.precision() != Precision::double_precision) return;
  const PaperMatrix* theirs = paper_matrix(matrix.kind(), matrix.rows());
  if (theirs == nullptr || theirs->entries != matrix.entries()) return;
  const auto add = [&](const char* library, const LayoutRatios& ratios) {
    for (const auto& [layout, ratio] :
         {std::pair{"ELL", ratios.ell}, {"Sl-16", ratios.sl16}, {"Sl-32", ratios.sl32}}) {
      Candidate candidate;
      candidate.library = library;
      candidate.method = layout;
      candidate.memory_ratio = ratio;
      record.candidates.push_back(std::move(candidate));
    }
  };
  add("counted as in table 9:", paper_ratios(*theirs, row_statistics(matrix.pattern())));
  add("table 9:", theirs->printed);
}

}  // namespace

void layouts_suite(Session& session, const Problem& problem) {
  session.doing("counting bytes");
  const AnyMatrix& matrix = problem.matrix;
  Record record = record_of("layouts", problem, "memory");
  const auto csr = static_cast<double>(csr_bytes(matrix));
  const auto add = [&](Candidate candidate, long long bytes) {
    candidate.memory_bytes = bytes;
    candidate.memory_ratio = static_cast<double>(bytes) / csr;
    record.candidates.push_back(std::move(candidate));
  };
  const auto add_own = [&](Role role, const std::string& method, const Plan& plan) {
    Candidate candidate;
    candidate.role = role;
    candidate.library = "Heddle";
    candidate.method = method;
    long long bytes = 0;
    if (or_failure(candidate, [&] {
          bytes = memory_use(matrix.pattern(), plan, matrix.entry_bytes(), Device::cpu()).product();
        })) {
      add(std::move(candidate), bytes);
    } else {
      record.candidates.push_back(std::move(candidate));
    }
  };
  for (const char* layout : layouts) {
    const bool is_csr = std::string_view(layout) == "C=1";
    add_own(is_csr ? Role::natural : Role::tried, layout, parse_plan(layout));
  }
  add_own(Role::chosen, "chosen", choose_plan(matrix, session.device(), Profiles()));

  // Memory of the same matrix in libraries of real numbers, with offsets of 8 bytes as here.
  const auto [tile, scalar] = bytes_of(matrix);
  if (tile > 1) {
    const auto count = static_cast<long long>(matrix.entries());
    const long long offset = sizeof(Offset), index = sizeof(Index);
    const auto add_real = [&](const char* method, long long bytes) {
      Candidate candidate;
      candidate.role = Role::peer;
      candidate.library = "real numbers";
      candidate.method = method;
      add(std::move(candidate), bytes);
    };
    const auto expanded_rows = matrix.visit([]<class E>(const CsrMatrix<E>& m) {
      return static_cast<long long>(m.rows()) * tile_rows<E>;
    });
    add_real("CSR", count * tile * (scalar + index) + (expanded_rows + 1) * offset);
    add_real("BSR", count * (static_cast<long long>(tile) * scalar + index) +
                        (matrix.rows() + 1LL) * offset);
  }
  add_table9(record, matrix);
  session.add(std::move(record));
}

}  // namespace heddle::bench
