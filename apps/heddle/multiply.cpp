// `heddle multiply`: the product of two matrices from files.
#include <cstdio>
#include <memory>
#include <string>

#include "any_case.hpp"
#include "commands.hpp"
#include "device_option.hpp"
#include "finite_entries.hpp"
#include "heddle/matrix_product.hpp"
#include "heddle/read.hpp"
#include "heddle/runtime/entry_kind.hpp"
#include "heddle/tools/progress.hpp"
#include "heddle/tools/text.hpp"
#include "io/write_entries.hpp"
#include "output_path.hpp"
#include "readable.hpp"
#include "run_files.hpp"
#include "stopwatch.hpp"

namespace heddle::cli {

namespace {

struct MultiplyOptions {
  std::string left, right;
  std::string entry = "real";
  bool adjoint = false;
  bool left_adjoint = false;
  DeviceOption device;
  std::string output;
  bool quiet = false;
};

template <class E>
CsrMatrix<E> adjoint_of(const CsrMatrix<E>& matrix, const char* option,
                        const MultiplyOptions& options, const Device& device) {
  if constexpr (has_adjoint<E>) {
    return adjoint(matrix, device);
  } else {
    static_cast<void>(matrix), static_cast<void>(device);
    throw Error(ErrorKind::unsupported,
                std::string(option) + ": " + options.entry + " entries have no adjoint");
  }
}

void run_multiply(const MultiplyOptions& options) {
  const EntryKind kind = parse_entry_kind(options.entry);
  check_entries_path("--output", options.output);
  RunFiles files;
  files.reads("the command", {options.left, options.right});
  files.writes("--output", options.output);
  files.check();
  const auto progress = options.quiet ? nullptr : std::make_unique<TerminalProgress>();
  visit_entry<double>(kind, [&]<class E>() {
    DeviceOption where = options.device;
    if (!multiplied_on_gpu<E> && where.device == "auto") where.device = "cpu";
    const Device device = where.on(options.quiet);
    if (device.on_gpu() && !multiplied_on_gpu<E>) {
      throw Error(ErrorKind::unsupported,
                  "--device: products of " + options.entry + " entries are made on the CPU");
    }
    const auto read = [&](const std::string& path) {
      return read_matrix<E>(path, Device::cpu(), Tiling::automatic, progress.get());
    };
    CsrMatrix<E> A = read(options.left), B = read(options.right);
    const Stopwatch turning;
    if (options.left_adjoint) A = adjoint_of(A, "--left-adjoint", options, device);
    if (options.adjoint) B = adjoint_of(B, "--adjoint", options, device);
    const double adjoint_seconds = turning.seconds();
    const Stopwatch multiplying;
    const CsrMatrix<E> C = multiply(A, B, device);
    const double product_seconds = multiplying.seconds();
    check_finite(C, "the product");
    write_entries(options.output, C, progress.get());
    if (options.quiet) return;
    progress->erase();
    std::printf("%s x %s %s entries: %s stored from %s and %s\n", readable_count(C.rows()).c_str(),
                readable_count(C.columns()).c_str(), options.entry.c_str(),
                readable_count(C.entries()).c_str(), readable_count(A.entries()).c_str(),
                readable_count(B.entries()).c_str());
    if (options.adjoint || options.left_adjoint) {
      std::printf("adjoint %s, ", readable_seconds(adjoint_seconds).c_str());
    }
    std::printf("product %s\n", readable_seconds(product_seconds).c_str());
    std::printf("written to %s\n", io::printable(options.output).c_str());
  });
}

}  // namespace

void add_multiply(CLI::App& app, int& status) {
  auto options = std::make_shared<MultiplyOptions>();
  CLI::App* command = app.add_subcommand("multiply", "Write A B, A B*, A* B or A* B*");
  const char* const files = "Matrix Market (.mtx, .mtx.gz) or SciPy .npz file";
  command->add_option("A", options->left, files)->required()->type_name("FILE");
  command->add_option("B", options->right, files)->required()->type_name("FILE");
  command
      ->add_option("--entry", options->entry,
                   "entry that the files' numbers are folded into: real, complex, quaternion, "
                   "dual-quaternion, block2, block3, block4, block6, complex-block3")
      ->capture_default_str()
      ->transform(any_case())
      ->type_name("KIND");
  command->add_flag("--adjoint", options->adjoint,
                    "B* in place of B: rows and columns exchanged, with the adjoint of each entry");
  command->add_flag("--left-adjoint", options->left_adjoint,
                    "A* in place of A; for P* A P, multiply P and A P");
  options->device.add_to(*command);
  command
      ->add_option("-o,--output", options->output,
                   "where to write the product: .mtx or .mtx.gz (Matrix Market, entries expanded), "
                   ".npz (SciPy CSR or BSR)")
      ->required()
      ->type_name("FILE");
  command->add_flag("-q,--quiet", options->quiet, "no progress and no report");
  command->footer(
      "Example: heddle multiply dirac.mtx.gz dirac.mtx.gz --entry quaternion --adjoint -o "
      "product.mtx");
  command->callback([options, &status] {
    run_multiply(*options);
    status = 0;
  });
}

}  // namespace heddle::cli
