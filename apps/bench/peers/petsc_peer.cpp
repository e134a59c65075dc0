// PETSc, in a program of its own under mpirun, with one rank for each thread of the device.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>

#include "absent_peer.hpp"
#include "child_process.hpp"
#include "heddle/error.hpp"
#include "petsc_protocol.hpp"
#include "vendor_formats.hpp"

namespace heddle::bench {

namespace {

namespace fs = std::filesystem;

constexpr double seconds_to_start = 300;
constexpr double seconds_to_answer = 900;

/// The file next to the running program, unless HEDDLE_PETSC_PEER names another.
fs::path program_path() {
  if (const char* named = std::getenv("HEDDLE_PETSC_PEER"); named != nullptr && *named != '\0') {
    return named;
  }
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path() / "heddle_petsc_peer";
}

/// A file with a name of its own, deleted with this object.
class TemporaryFile {
 public:
  TemporaryFile() {
    std::string pattern = (fs::temp_directory_path() / "heddle-bench-XXXXXX").string();
    const int file = mkstemp(pattern.data());
    if (file < 0) throw Error(ErrorKind::io, "cannot create a temporary file like " + pattern);
    close(file);
    path_ = pattern;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

template <class T>
void write(std::ofstream& file, std::span<const T> values) {
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size_bytes()));
}

template <class E>
void write_matrix(const std::string& path, const CsrMatrix<E>& matrix,
                  const std::vector<double>& x) {
  const BlockForm form = real_form<E>();
  const PetscFileHeader header{matrix.rows(), form.size, matrix.entries()};
  std::vector<std::int64_t> offsets(matrix.offsets().begin(), matrix.offsets().end());
  const EntriesView<double> entries{matrix.view().pattern(), matrix.values().data(), E::components};
  const std::vector<double> values = block_values(entries, form, false);
  std::ofstream file(path, std::ios::binary);
  write(file, std::span(&header, 1));
  write(file, std::span<const std::int64_t>(offsets));
  write(file,
        std::span<const Index>(matrix.column().data(), static_cast<std::size_t>(matrix.entries())));
  write(file, std::span<const double>(values));
  write(file, std::span<const double>(x));
  file.close();
  if (!file) throw Error(ErrorKind::io, "cannot write the matrix for PETSc to " + path);
}

std::vector<double> read_numbers(const std::string& path) {
  std::vector<double> numbers(fs::file_size(path) / sizeof(double));
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(numbers.data()),
            static_cast<std::streamsize>(numbers.size() * sizeof(double)));
  if (!file) throw Error(ErrorKind::io, "cannot read what PETSc wrote to " + path);
  return numbers;
}

std::vector<std::string> environment_for_mpi() {
  std::vector<std::string> environment = {"OMP_NUM_THREADS=1"};  // the ranks are its threads
  if (geteuid() == 0) {
    environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT=1");
    environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
  }
  return environment;
}

/// The program, serving one matrix.
class Served {
 public:
  Served(const std::string& matrix_file, const std::string& format, int ranks)
      : process_({"mpirun", "--bind-to", "none", "--oversubscribe", "-n", std::to_string(ranks),
                  program_path().string(), matrix_file, format},
                 environment_for_mpi()) {
    std::istringstream words(process_.read_line(seconds_to_start));
    std::string ready;
    words >> ready >> ranks_ >> bytes_;
    if (!words || ready != "ready")
      throw Error(ErrorKind::io, "PETSc's program does not belong to this one");
  }

  int ranks() const { return ranks_; }
  long long bytes() const { return bytes_; }

  /// The text after "done".
  std::string ask(const std::string& line) {
    const std::string answer = process_.ask(line, seconds_to_answer);
    if (!answer.starts_with("done")) {
      throw Error(ErrorKind::io, "PETSc's program answered '" + line + "' with '" + answer + "'");
    }
    return answer.substr(4);
  }
  std::vector<double> numbers(const std::string& what) {
    const TemporaryFile file;
    ask(what + " " + file.path());
    return read_numbers(file.path());
  }

 private:
  ChildProcess process_;
  int ranks_ = 0;
  long long bytes_ = 0;
};

std::string status_of(const std::string& reason) {
  if (reason.starts_with("CONVERGED")) return "converged";
  if (reason == "DIVERGED_ITS") return "iteration limit";
  if (reason.starts_with("DIVERGED_BREAKDOWN")) return "breakdown";
  if (reason.starts_with("DIVERGED_INDEFINITE")) return "indefinite";
  if (reason == "DIVERGED_NANORINF") return "not finite";
  return reason;
}

PeerSolve solve(Served& served, const KspMethod& method, bool jacobi, double tolerance,
                long long max_iterations) {
  std::ostringstream line;
  line.precision(17);
  line << "solve " << method.type << (jacobi ? " jacobi " : " none ") << tolerance << " "
       << max_iterations * method.counted;
  std::istringstream words(served.ask(line.str()));
  PeerSolve solve;
  std::string reason;
  words >> solve.seconds >> solve.iterations >> reason;
  if (!words)
    throw Error(ErrorKind::io, "PETSc's program answered a solve with '" + words.str() + "'");
  solve.iterations = (solve.iterations + method.counted - 1) / method.counted;
  solve.status = status_of(reason);
  solve.x = served.numbers("result");
  solve.history = served.numbers("history");
  // Residual norms, starting with that of b, since the guess is 0.
  if (!solve.history.empty() && solve.history[0] > 0) {
    const double scale = solve.history[0];
    for (double& norm : solve.history) norm /= scale;
  }
  return solve;
}

class PetscPeer final : public Peer {
 public:
  explicit PetscPeer(std::string version) : version_(std::move(version)) {}

  PeerPresence presence() const override {
    return {"PETSc", version_, "one rank of mpirun a thread, double, real expansion", true};
  }

  std::vector<PeerProduct> products(const Problem& problem, const Device& device) override {
    if (problem.matrix.rows() != problem.matrix.columns()) {
      throw Error(ErrorKind::unsupported, "its program is for square matrices");
    }
    std::vector<PeerProduct> products;
    for (auto& [name, served, block_size] : started(problem, device)) {
      PeerProduct product;
      product.method = name;
      product.memory_bytes = served->bytes();
      product.run = [served = served] { return std::stod(served->ask("product")); };
      product.result = [served = served] { return served->numbers("result"); };
      products.push_back(std::move(product));
    }
    return products;
  }

  std::vector<PeerSolver> solvers(const Problem& problem, const MethodInfo& method,
                                  PreconditionerKind preconditioner,
                                  const Device& device) override {
    const bool jacobi = preconditioner == PreconditionerKind::jacobi;
    const KspMethod ksp = ksp_method(method.name);
    if (ksp.type.empty()) return {};
    std::vector<PeerSolver> solvers;
    for (auto& [name, served, block_size] : started(problem, device)) {
      solvers.push_back(
          {name + (!jacobi          ? ""
                   : block_size > 1 ? ", PBJACOBI"
                                    : ", JACOBI"),
           [served = served, ksp, jacobi](double tolerance, long long max_iterations) {
             return solve(*served, ksp, jacobi, tolerance, max_iterations);
           }});
    }
    return solvers;
  }

 private:
  struct Named {
    std::string name;
    std::shared_ptr<Served> served;
    int block_size;
  };

  /// PETSc's numbers are double: a problem in single precision is not the same work.
  static std::vector<Named> started(const Problem& problem, const Device& device) {
    if (device.on_gpu() || problem.matrix.is_defined() ||
        problem.matrix.precision() != Precision::double_precision) {
      return {};
    }
    const TemporaryFile file;
    int block = 1;
    problem.matrix.visit([&]<class E>(const CsrMatrix<E>& matrix) {
      if constexpr (std::is_same_v<stored_scalar_t<E>, double>) {
        block = tile_rows<E>;
        write_matrix(file.path(), matrix, problem.x);
      }
    });
    std::vector<Named> all;
    const auto start = [&](const std::string& format, const std::string& name) {
      auto served = std::make_shared<Served>(file.path(), format, device.threads());
      all.push_back({name + ", " + std::to_string(served->ranks()) +
                         (served->ranks() == 1 ? " rank" : " ranks"),
                     served, block});
    };
    start("aij", "AIJ");
    if (block > 1) {
      const std::string size = std::to_string(block);
      start("baij", "BAIJ " + size + "x" + size);
    }
    return all;
  }

  std::string version_;
};

}  // namespace

std::unique_ptr<Peer> petsc_peer() {
  const fs::path program = program_path();
  std::error_code ignored;
  if (!fs::exists(program, ignored)) {
    return std::make_unique<AbsentPeer>(
        "PETSc", "not found: " + program.string() +
                     " (built where MPI and PETSc are installed; HEDDLE_PETSC_PEER can name it)");
  }
  constexpr double patience = 30;
  constexpr std::string_view word = "PETSc ";
  std::string version;
  try {
    ChildProcess alone({program.string(), "--version"}, {});
    version = alone.read_line(patience);
    if (!version.starts_with(word)) {
      throw Error(ErrorKind::io, program.string() + " is not heddle's program for PETSc");
    }
    version.erase(0, word.size());
    ChildProcess mpirun({"mpirun", "--version"}, {});
    mpirun.read_line(patience);
  } catch (const Error& error) {
    return std::make_unique<AbsentPeer>("PETSc", error.what());
  }
  return std::make_unique<PetscPeer>(version);
}

}  // namespace heddle::bench
