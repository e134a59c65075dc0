// `heddle add`: the sum of two matrices from files, computed on their trees.
#include <cmath>
#include <complex>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "any_case.hpp"
#include "commands.hpp"
#include "finite_entries.hpp"
#include "heddle/expansion.hpp"
#include "heddle/hierarchical_matrix.hpp"
#include "heddle/read.hpp"
#include "heddle/runtime/defined_tree.hpp"
#include "heddle/runtime/entry_kind.hpp"
#include "heddle/tools/progress.hpp"
#include "heddle/tools/text.hpp"
#include "io/write_entries.hpp"
#include "output_path.hpp"
#include "readable.hpp"
#include "run_files.hpp"
#include "stopwatch.hpp"
#include "storage_option.hpp"

namespace heddle::cli {

namespace {

struct AddOptions {
  std::string left, right;
  std::string entry = "real", entry_definition;
  std::string alpha = "1", beta = "1";
  bool adjoint = false;
  std::string storage = "hisparse";
  NodeOption node;
  std::string output;
  bool quiet = false;
};

using Number = std::complex<double>;

/// Parses X, Yi, X+Yi or X-Yi. Throws `Error` (usage) that names the option.
Number parse_number(const std::string& option, const std::string& text) {
  const char* const end = text.data() + text.size();
  const auto is_unit = [&](const char* at) { return at != nullptr && at + 1 == end && *at == 'i'; };
  double first = 0, second = 0;
  const char* const after = io::read_double(text.data(), end, first);
  Number number;
  if (after == end) {
    number = first;
  } else if (is_unit(after)) {
    number = {0, first};
  } else if (after != nullptr && (*after == '+' || *after == '-') &&
             is_unit(io::read_double(after, end, second))) {
    number = {first, second};
  } else {
    throw Error(ErrorKind::usage,
                option + " must be a number such as 2, -0.5i or 1+2i, not " + text);
  }
  if (!std::isfinite(number.real()) || !std::isfinite(number.imag())) {
    throw Error(ErrorKind::usage, option + " must be a finite number, not " + text);
  }
  return number;
}

[[noreturn]] void refuse_imaginary(std::string_view entry) {
  throw Error(ErrorKind::unsupported,
              "--alpha and --beta with an imaginary part are for entries of complex numbers, not "
              "for " +
                  std::string(entry) + " entries");
}
[[noreturn]] void refuse_adjoint(std::string_view entry) {
  throw Error(ErrorKind::unsupported,
              "--adjoint: " + std::string(entry) + " entries have no adjoint");
}

/// Throws `Error` (usage) for an unknown name.
SumSchedule schedule_of(const AddOptions& options) {
  if (options.storage == StorageOption::dynamic) return SumSchedule::tree;
  if (options.storage == "hisparse") return SumSchedule::kept;
  throw Error(ErrorKind::usage, "--storage must be hisparse or " +
                                    std::string(StorageOption::dynamic) + ", not " +
                                    options.storage);
}

template <class E>
HierarchicalMatrix<E> sum_of(const AddOptions& options, const HierarchicalMatrix<E>& A,
                             const HierarchicalMatrix<E>& B) {
  const auto sum = [&](const auto& alpha, const auto& beta) {
    if (!options.adjoint) return add(alpha, A, beta, B, schedule_of(options));
    if constexpr (has_adjoint<E>) {
      return add_adjoint(alpha, A, beta, B, schedule_of(options));
    } else {
      refuse_adjoint(options.entry);
    }
  };
  const Number alpha = parse_number("--alpha", options.alpha);
  const Number beta = parse_number("--beta", options.beta);
  if (alpha.imag() == 0 && beta.imag() == 0) return sum(alpha.real(), beta.real());
  if constexpr (E::ring == Ring::complex) {
    return sum(alpha, beta);
  } else {
    refuse_imaginary(options.entry);
  }
}

DefinedTree<double> sum_of(const AddOptions& options, const DefinedTree<double>& A,
                           const DefinedTree<double>& B) {
  const std::string& name = A.definition()->name;
  const Number alpha = parse_number("--alpha", options.alpha);
  const Number beta = parse_number("--beta", options.beta);
  if (alpha.imag() != 0 || beta.imag() != 0) refuse_imaginary(name);
  if (options.adjoint && !A.has_adjoint()) refuse_adjoint(name);
  return A.plus(alpha.real(), beta.real(), B, options.adjoint, schedule_of(options));
}

/// `read(path)` returns a matrix by rows, `store(matrix)` its tree, and `rows_of(tree)` the rows of
/// a tree.
template <class Read, class Store, class RowsOf>
void add_files(const AddOptions& options, std::string_view entry, TerminalProgress* progress,
               const Read& read, const Store& store, const RowsOf& rows_of) {
  double tree_seconds = 0;
  const auto tree_of = [&](const std::string& path) {
    const auto matrix = read(path);
    const Stopwatch building;
    auto tree = store(matrix);
    tree_seconds += building.seconds();
    return tree;
  };
  const auto A = tree_of(options.left), B = tree_of(options.right);
  const Stopwatch adding;
  const auto C = sum_of(options, A, B);
  const double sum_seconds = adding.seconds();
  const auto rows = rows_of(C);
  check_finite(rows, "the sum");
  write_entries(options.output, rows, progress);
  if (options.quiet) return;
  progress->erase();
  std::printf("%s x %s %s entries: %s stored from %s and %s\n", readable_count(C.rows()).c_str(),
              readable_count(C.columns()).c_str(), std::string(entry).c_str(),
              readable_count(C.entries()).c_str(), readable_count(A.entries()).c_str(),
              readable_count(B.entries()).c_str());
  std::printf("trees %s, sum %s\n", readable_seconds(tree_seconds).c_str(),
              readable_seconds(sum_seconds).c_str());
  std::printf("written to %s\n", io::printable(options.output).c_str());
}

/// Called before anything is read. Throws `Error` (unsupported).
void check_output(const std::string& path, const EntryDefinition& definition) {
  if (ends_with(path, ".npz")) return;
  try {
    static_cast<void>(arrangement(definition));
  } catch (const Error&) {
    throw Error(ErrorKind::unsupported,
                "--output: the blocks of " + definition.name +
                    " entries hold more than components and their negatives; write .npz");
  }
}

void run_add(const AddOptions& options) {
  for (const auto& [option, text] :
       {std::pair("--alpha", options.alpha), {"--beta", options.beta}}) {
    static_cast<void>(parse_number(option, text));
  }
  static_cast<void>(schedule_of(options));
  const EntryKind kind = parse_entry_kind(options.entry);
  check_entries_path("--output", options.output);
  RunFiles files;
  files.reads("the command", {options.left, options.right});
  files.reads("--entry-definition", options.entry_definition);
  files.writes("--output", options.output);
  files.check();
  const auto progress = options.quiet ? nullptr : std::make_unique<TerminalProgress>();
  const NodeLayout nodes = options.node.nodes();
  if (!options.entry_definition.empty()) {
    const auto definition =
        std::make_shared<const EntryDefinition>(read_entry_definition(options.entry_definition));
    check_output(options.output, *definition);
    return add_files(
        options, definition->name, progress.get(),
        [&](const std::string& path) {
          return read_defined_matrix<double>(path, definition, Device::cpu(), progress.get());
        },
        [&](const DefinedMatrix<double>& matrix) { return DefinedTree<double>(matrix, nodes); },
        [](const DefinedTree<double>& tree) { return tree.to_rows(); });
  }
  visit_entry<double>(kind, [&]<class E>() {
    add_files(
        options, options.entry, progress.get(),
        [&](const std::string& path) {
          return read_matrix<E>(path, Device::cpu(), Tiling::automatic, progress.get());
        },
        [&](const CsrMatrix<E>& matrix) { return HierarchicalMatrix<E>(matrix, nodes); },
        [](const HierarchicalMatrix<E>& tree) { return tree.to_csr(); });
  });
}

}  // namespace

void add_add(CLI::App& app, int& status) {
  auto options = std::make_shared<AddOptions>();
  CLI::App* command = app.add_subcommand("add", "Write alpha A + beta B, or alpha A + beta B*");
  const char* const files = "Matrix Market (.mtx, .mtx.gz) or SciPy .npz file";
  command->add_option("A", options->left, files)->required()->type_name("FILE");
  command->add_option("B", options->right, files)->required()->type_name("FILE");
  CLI::Option* const kind = command->add_option(
      "--entry", options->entry,
      "entry that the files' numbers are folded into: real, complex, quaternion, dual-quaternion, "
      "block2, block3, block4, block6, complex-block3");
  kind->capture_default_str()->transform(any_case())->type_name("KIND");
  command
      ->add_option(
          "--entry-definition", options->entry_definition,
          "an entry of your own instead, from a JSON file; see docs/inside/adding-an-entry.md")
      ->type_name("FILE")
      ->excludes(kind);
  command->add_option("--alpha", options->alpha, "factor of A; X+Yi for complex entries")
      ->capture_default_str()
      ->type_name("X");
  command->add_option("--beta", options->beta, "factor of B, likewise")
      ->capture_default_str()
      ->type_name("X");
  command->add_flag("--adjoint", options->adjoint,
                    "B* in place of B: rows and columns exchanged, with the adjoint of each entry");
  command
      ->add_option("--storage", options->storage,
                   "hisparse, or hisparse,schedule=tree, which walks over both trees at once to "
                   "find the leaves that meet; the sum is the same; see docs/guide/hierarchical.md")
      ->capture_default_str()
      ->transform(any_case())
      ->type_name("NAME");
  options->node.add_to(*command);
  command
      ->add_option("-o,--output", options->output,
                   "where to write the sum: .mtx or .mtx.gz (Matrix Market, entries expanded), "
                   ".npz (SciPy CSR or BSR)")
      ->required()
      ->type_name("FILE");
  command->add_flag("-q,--quiet", options->quiet, "no progress and no report");
  command->footer(
      "Example: heddle add dirac.mtx.gz dirac.mtx.gz --entry quaternion --adjoint -o sum.mtx");
  command->callback([options, &status] {
    run_add(*options);
    status = 0;
  });
}

}  // namespace heddle::cli
