// Products and iterations beside those of other libraries, interleaved in one run.
//
//     heddle_compare --problem dirac --size 1000000 --shuffle 256
//     mpirun --bind-to none -n 2 heddle_compare --problem elasticity      (with PETSc)
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <numeric>

#include "heddle/heddle.hpp"
#include "heddle/random_field.hpp"
#include "peers.hpp"

namespace heddle::compare {

namespace {

struct Options {
  std::string problem = "dirac";
  long long size = 1000000;
  int shuffle = 0;
  int threads = 0;
  int repetitions = 25;
  std::string plan;
  bool peers = true;
  bool iterations = true;
};

/// Rows and columns shuffled alike within windows.
template <class E>
CsrMatrix<E> shuffled(const CsrMatrix<E>& matrix, Index window) {
  const Index n = matrix.rows();
  std::vector<Index> old_row(static_cast<std::size_t>(n)), new_row(static_cast<std::size_t>(n));
  std::iota(old_row.begin(), old_row.end(), 0);
  for (Index first = 0; first < n; first += window) {
    const Index last = std::min(n, first + window);
    std::sort(old_row.begin() + first, old_row.begin() + last, [](Index a, Index b) {
      return random_component(7, static_cast<std::uint64_t>(a)) <
             random_component(7, static_cast<std::uint64_t>(b));
    });
  }
  for (Index i = 0; i < n; ++i)
    new_row[static_cast<std::size_t>(old_row[static_cast<std::size_t>(i)])] = i;
  Array<Offset> offsets(static_cast<std::size_t>(n) + 1);
  Array<Index> column(static_cast<std::size_t>(matrix.entries()));
  Array<stored_scalar_t<E>> values(column.size() * E::components);
  for (Index i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(old_row[static_cast<std::size_t>(i)]);
    std::vector<std::pair<Index, Offset>> entries;
    for (Offset k = matrix.offsets()[row]; k < matrix.offsets()[row + 1]; ++k) {
      entries.emplace_back(
          new_row[static_cast<std::size_t>(matrix.column()[static_cast<std::size_t>(k)])], k);
    }
    std::sort(entries.begin(), entries.end());
    Offset to = offsets[static_cast<std::size_t>(i)];
    for (const auto& [c, k] : entries) {
      column[static_cast<std::size_t>(to)] = c;
      std::copy_n(matrix.values().data() + k * E::components, E::components,
                  values.data() + to * E::components);
      ++to;
    }
    offsets[static_cast<std::size_t>(i) + 1] = to;
  }
  return {n, n, std::move(offsets), std::move(column), std::move(values)};
}

template <class E>
void compare(CsrMatrix<E> matrix, const Options& options, int block) {
  using S = vector_scalar_t<E>;
  const Device device = Device::cpu(options.threads);
  if (options.shuffle > 1) matrix = shuffled(matrix, options.shuffle);
  const Plan plan = options.plan.empty() ? choose_plan(matrix, device) : parse_plan(options.plan);
  const Operator<E> A(matrix, plan, device);
  const Stream stream = device.stream();

  Field<E> x(matrix.columns(), device);
  for (std::size_t i = 0; i < x.scalars().size(); ++i) {
    x.scalars()[i] = component_of_x(static_cast<long long>(i));
  }
  Field<E> y(matrix.rows(), device);
  Field<E> x_in = A.field();
  Field<E> y_in = A.field();
  permute<S>(x, x_in, S(1), stream);

  std::vector<Peer> peers;
  if (options.peers) {
    const auto expansion = expand(matrix);
    peers.push_back(eigen_peer(expansion, device.threads()));
#ifdef HEDDLE_COMPARE_PETSC
    peers.push_back(petsc_peer(expansion, block));
#else
    (void)block;
#endif
  }

  Triad triad(device);
  constexpr long long few = 10, many = 40;
  const auto solver = [&](long long iterations) {
    SolverOptions settings;
    settings.tolerance = 0;
    settings.max_iterations = iterations;
    return ConjugateGradient<S>(A, settings);
  };
  ConjugateGradient<S> short_solve = solver(few), long_solve = solver(many);
  Field<E> b = A.field();
  permute<S>(x, b, S(1), stream);
  Field<E> solution = A.field();
  const auto solve = [&](ConjugateGradient<S>& cg) {
    fill<S>(S(0), solution, stream);
    cg.solve(b, solution);
  };

  std::vector<std::function<void()>> works = {
      [&] { triad.run(device.stream()); },
      [&] { A.apply(S(1), x_in, S(0), y_in, stream); },
  };
  if (options.iterations) {
    works.emplace_back([&] { solve(short_solve); });
    works.emplace_back([&] { solve(long_solve); });
  }
  const std::size_t first_peer = works.size();
  for (const Peer& peer : peers) works.push_back(peer.product);
  const std::vector<Timing> timing = measure(works, options.repetitions);

  const auto bandwidth = [](long long bytes, double seconds) {
    return static_cast<double>(bytes) / seconds / 1e9;
  };
  const long long bytes = A.compulsory_bytes();
  const double limit = bandwidth(triad.bytes(), timing[0].median);
  const double reached = bandwidth(bytes, timing[1].median);
  std::printf(
      "%s%s: %d rows, %lld entries, %.0f MB compulsory; %s; %d repetitions\n",
      options.problem.c_str(),
      options.shuffle > 1 ? (" shuffled by " + std::to_string(options.shuffle)).c_str() : "",
      matrix.rows(), matrix.entries(), static_cast<double>(bytes) / 1e6,
      device.description().c_str(), options.repetitions);
  std::printf("  plan     %s\n", to_string(plan).c_str());
  std::printf("  triad    %.2f GB/s\n", limit);
  std::printf("  product  %.2f ms (%.2f to %.2f), %.2f GB/s, %.0f%% of triad\n",
              timing[1].median * 1e3, timing[1].lower_quartile * 1e3,
              timing[1].upper_quartile * 1e3, reached, 100 * reached / limit);
  if (options.iterations) {
    const double iteration = (timing[3].median - timing[2].median) / (many - few);
    const double field = static_cast<double>(x.scalars().size() * sizeof(S));
    const double modelled = (static_cast<double>(bytes) + 8 * field) / (reached * 1e9);
    std::printf("  CG       %.2f ms an iteration, %.2f x (product + 8 passes) at its bandwidth\n",
                iteration * 1e3, iteration / modelled);
  }
  permute<S>(y_in, y, S(1), stream);
  for (std::size_t p = 0; p < peers.size(); ++p) {
    const Timing& theirs = timing[first_peer + p];
    std::printf("  %s  %.2f ms (%.2f to %.2f), heddle is %.2f x as fast; |difference| %.1e\n",
                peers[p].name.c_str(), theirs.median * 1e3, theirs.lower_quartile * 1e3,
                theirs.upper_quartile * 1e3, theirs.median / timing[1].median,
                peers[p].difference(y.scalars().data()));
  }
}

void run(const Options& options) {
  const auto size = static_cast<Index>(options.size);
  if (options.problem == "dirac") {
    compare(dirac(size), options, 4);
  } else if (options.problem == "elasticity") {
    compare(elasticity(size), options, 3);
  } else if (options.problem == "helmholtz") {
    // Not Hermitian: there is no conjugate gradient to time.
    Options products = options;
    products.iterations = false;
    compare(helmholtz(size), products, 2);
  } else if (options.problem == "poisson") {
    compare(poisson(size), options, 1);
  } else {
    throw Error(ErrorKind::usage, "no problem is named '" + options.problem + "'");
  }
}

}  // namespace

}  // namespace heddle::compare

int main(int argc, char** argv) {
  heddle::compare::Options options;
  CLI::App app("Products and CG iterations side by side with other libraries'.");
  app.add_option("--problem", options.problem, "dirac, elasticity, helmholtz, poisson")
      ->capture_default_str();
  app.add_option("--size", options.size, "rows")->capture_default_str();
  app.add_option("--shuffle", options.shuffle, "shuffle rows in windows of so many; 0: mesh order")
      ->capture_default_str();
  app.add_option("--threads", options.threads, "0: every core")->capture_default_str();
  app.add_option("--repetitions", options.repetitions, "interleaved")->capture_default_str();
  app.add_option("--plan", options.plan, "instead of the chosen one");
  app.add_flag("!--no-peers", options.peers, "only heddle");
  app.add_flag("!--no-iterations", options.iterations, "only products");
  CLI11_PARSE(app, argc, argv);
#ifdef HEDDLE_COMPARE_PETSC
  if (!heddle::compare::petsc_start(argv)) return 0;
#endif
  int status = 0;
  try {
    heddle::compare::run(options);
  } catch (const std::exception& error) {
    std::cerr << "heddle_compare: " << error.what() << "\n";
    status = 2;
  }
#ifdef HEDDLE_COMPARE_PETSC
  heddle::compare::petsc_finish();
#endif
  return status;
}
