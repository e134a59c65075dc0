// A V-cycle on a GPU, as steps that fuse a product with what surrounds it: the steps of small
// levels in one kernel, each step of a large level in a kernel of its own.
#pragma once

#include <memory>
#include <span>

#include "heddle/array.hpp"
#include "heddle/device.hpp"

namespace heddle::cuda {

class Product;
class RowPreconditioner;

/// Listed from the finest. All products, and what they read, stay in place while the cycle exists.
struct CycleLevel {
  const Product* matrix = nullptr;
  // If the level is smoothed: Chebyshev's polynomial over Jacobi, `sweeps` times, with coefficients
  // in the memory of the fields.
  const RowPreconditioner* jacobi = nullptr;
  long long bytes_of_jacobi = 0;       // that Jacobi reads apart from fields
  const void* coefficients = nullptr;  // a and b of each power
  int degree = 0;
  int sweeps = 1;
  // To the next level and back.
  const Product* restricts = nullptr;
  const Product* interpolates = nullptr;
  // If the level is solved.
  const Product* inverse = nullptr;
};

class Cycle {
 public:
  /// Two levels or more. Compiles what it launches.
  Cycle(std::span<const CycleLevel> levels, const Device& device);
  ~Cycle();

  /// Queues the cycle z = M r. r and z are separate fields of the finest level, as its plan lays
  /// them out.
  void apply(const void* r, void* z, const Stream& stream) const;

  /// Bytes that the steps read and write besides those that products with their matrices count.
  long long bytes_besides_products() const;
  /// Number of times that an application multiplies by `product`.
  int products_with(const Product& product) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace heddle::cuda
