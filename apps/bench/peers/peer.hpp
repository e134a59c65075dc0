// Another library, called as its own users would call it well: analysis and preprocessing happen
// outside the timed part.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heddle/device.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "problems/problem.hpp"
#include "records/record.hpp"

namespace heddle::bench {

/// One way of multiplying, prepared: format converted, memory allocated, analysis done.
struct PeerProduct {
  std::string method;  // format and algorithm
  /// CPU: runs the product once more and returns the seconds that it took.
  std::function<double()> run;
  /// GPU: queues the product once more, without allocating, so that a graph can hold it.
  std::function<void(const Stream&)> queue;
  /// y of the last run, in the user's order, as doubles.
  std::function<std::vector<double>()> result;
  long long memory_bytes = 0;  // memory of the matrix as the library stores it
};

/// The outcome of a solve.
struct PeerSolve {
  long long iterations = 0;
  double seconds = 0;  // from the first operation on vectors to the last, data in place
  std::vector<double> x;
  std::vector<double> history;  // relative residuals, where the library reports them; may be empty
  std::string status = "converged";
};

/// One way of solving, prepared in the same way.
struct PeerSolver {
  std::string method;
  /// Solves from x = 0 until |r| <= tolerance |b| by the library's own recurrence (0: never), or
  /// for `max_iterations`.
  std::function<PeerSolve(double tolerance, long long max_iterations)> solve;
};

/// One way of adding two matrices.
struct PeerSum {
  std::string method;
  std::function<void()> run;                        // makes the sum anew, and waits for it
  std::function<CsrMatrix<real<double>>()> result;  // the last sum, as its real expansion
};

class Peer {
 public:
  virtual ~Peer() = default;
  virtual PeerPresence presence() const = 0;
  /// y = A x for the problem's x, in every way of this library that fits; empty where none does or
  /// the library is absent. The functions keep alive what they need. Throws `Error` where the
  /// library refuses.
  virtual std::vector<PeerProduct> products(const Problem& problem, const Device& device) = 0;
  /// A x = b with b = the problem's x; empty where the library has no such method.
  virtual std::vector<PeerSolver> solvers(const Problem& problem, const MethodInfo& method,
                                          PreconditionerKind preconditioner,
                                          const Device& device) = 0;

  /// y = A x, or y = A* x where `turns`, from one storage of A that serves both; empty where the
  /// library has none.
  virtual std::vector<PeerProduct> products_of_either(const Problem&, bool /*turns*/,
                                                      const std::vector<double>& /*x*/,
                                                      const Device&) {
    return {};
  }
  /// A + B, or A + B* where `turns`; empty where the library has no sums.
  virtual std::vector<PeerSum> sums(const Problem& /*A*/, const Problem& /*B*/, bool /*turns*/,
                                    const Device&) {
    return {};
  }
};

// One function per library; each returns a peer that says so where the library is absent.
std::unique_ptr<Peer> eigen_peer();
std::unique_ptr<Peer> petsc_peer();
std::unique_ptr<Peer> amgcl_peer();
std::unique_ptr<Peer> cusparse_peer();
std::unique_ptr<Peer> textbook_peer();  // Krylov loops of cuSPARSE and cuBLAS calls

/// The peers for such a device, present or not.
std::vector<std::unique_ptr<Peer>> peers_for(const Device& device);

}  // namespace heddle::bench
