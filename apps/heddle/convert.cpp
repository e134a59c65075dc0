// `heddle convert`: a matrix from one file to another, between formats and between entries.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "any_case.hpp"
#include "commands.hpp"
#include "heddle/error.hpp"
#include "heddle/expansion.hpp"
#include "heddle/matrix_market.hpp"
#include "heddle/read.hpp"
#include "heddle/runtime/entry_kind.hpp"
#include "heddle/tools/progress.hpp"
#include "io/write_entries.hpp"
#include "output_path.hpp"
#include "readable.hpp"
#include "run_files.hpp"

namespace heddle::cli {

namespace {

struct ConvertOptions {
  std::string input, output;
  std::string entry, to;
  bool quiet = false;
};

/// Reports what has been written.
template <class E>
void tell(const ConvertOptions& options, const CsrMatrix<E>& matrix, std::string_view entry,
          TerminalProgress* progress) {
  if (progress == nullptr) return;
  progress->erase();
  std::printf("%s x %s %s entries, %s stored, written to %s\n",
              readable_count(matrix.rows()).c_str(), readable_count(matrix.columns()).c_str(),
              std::string(entry).c_str(), readable_count(matrix.entries()).c_str(),
              io::printable(options.output).c_str());
}

template <class E>
void write(const ConvertOptions& options, const CsrMatrix<E>& matrix, std::string_view entry,
           TerminalProgress* progress) {
  write_entries(options.output, matrix, progress);
  tell(options, matrix, entry, progress);
}

/// Writes the real expansion of the entries, folded into entries of `options.to`.
template <class E>
void write_as(const ConvertOptions& options, const CsrMatrix<E>& matrix,
              TerminalProgress* progress) {
  const EntryKind to = parse_entry_kind(options.to);
  ScalarMatrix numbers{expand(matrix)};
  visit_entry<double>(to, [&]<class F>() {
    const CsrMatrix<F> folded = detail::naming_file(
        options.input, [&] { return fold<F>(std::move(numbers), Tiling::expansion); });
    write(options, folded, name(to), progress);
  });
}

void run_convert(const ConvertOptions& options) {
  const std::optional<EntryKind> entry =
      options.entry.empty() ? std::nullopt : std::optional(parse_entry_kind(options.entry));
  if (!options.to.empty() && parse_entry_kind(options.to) == entry) {
    throw Error(ErrorKind::usage, "--to " + options.to + " is the same as --entry");
  }
  check_entries_path("OUT", options.output);
  RunFiles files;
  files.reads("the command", options.input);
  files.writes("OUT", options.output);
  files.check();
  const auto progress = options.quiet ? nullptr : std::make_unique<TerminalProgress>();
  if (!entry) {
    const ScalarMatrix numbers = read_scalar_matrix(options.input, Device::cpu(), progress.get());
    write_scalar_matrix(options.output, numbers, Symmetry::general, progress.get());
    return std::visit(
        [&](const auto& matrix) {
          tell(options, matrix, numbers.is_complex() ? "complex" : "real", progress.get());
        },
        numbers.matrix);
  }
  visit_entry<double>(*entry, [&]<class E>() {
    const auto matrix =
        read_matrix<E>(options.input, Device::cpu(), Tiling::automatic, progress.get());
    if (options.to.empty()) {
      write(options, matrix, name(*entry), progress.get());
    } else {
      write_as(options, matrix, progress.get());
    }
  });
}

}  // namespace

void add_convert(CLI::App& app, int& status) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* command =
      app.add_subcommand("convert", "Write a matrix in another format, or with other entries");
  command->add_option("IN", options->input, "Matrix Market (.mtx, .mtx.gz) or SciPy .npz file")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("OUT", options->output,
                   "where to write: .mtx or .mtx.gz (Matrix Market, entries expanded), .npz (SciPy "
                   "CSR or BSR)")
      ->required()
      ->type_name("FILE");
  CLI::Option* const entry = command->add_option(
      "--entry", options->entry,
      "entry that the file's numbers are folded into: real, complex, quaternion, dual-quaternion, "
      "block2, block3, block4, block6, complex-block3; default: they stay numbers");
  entry->transform(any_case())->type_name("KIND");
  command
      ->add_option("--to", options->to,
                   "entry to write, with the same real expansion; default: that of --entry")
      ->transform(any_case())
      ->type_name("KIND")
      ->needs(entry);
  command->add_flag("-q,--quiet", options->quiet, "no progress and no report");
  command->footer("Example: heddle convert dirac.mtx.gz dirac.npz --entry quaternion");
  command->callback([options, &status] {
    run_convert(*options);
    status = 0;
  });
}

}  // namespace heddle::cli
