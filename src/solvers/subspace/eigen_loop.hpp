// The loop that a solver of eigenpairs owns, whatever its ring.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "heddle/lobpcg.hpp"

namespace heddle::detail {

/// The parts of a solver of eigenpairs.
template <class S>
struct EigenSystem {
  OperatorReference<S> matrix;
  std::optional<OperatorReference<S>> mass;
  std::shared_ptr<Preconditioner<S>> preconditioner;  // null for none
  EigenOptions options;                               // resolved: no `by_...`
  int vectors() const { return options.count + options.guard; }
  /// Number of fields: vectors, directions and last directions, with their images, and the next of
  /// two of these.
  int fields() const { return vectors() * ((mass ? 9 : 6) + 2); }
};

/// See `Lobpcg`, which owns it.
template <class S>
class EigenLoop {
 public:
  explicit EigenLoop(EigenSystem<S> system) : system_(std::move(system)) {}
  virtual ~EigenLoop() = default;
  virtual EigenReport solve(std::span<const FieldView<S>> x) = 0;

  const EigenSystem<S>& system() const { return system_; }
  long long memory = 0;

 private:
  EigenSystem<S> system_;
};

}  // namespace heddle::detail
