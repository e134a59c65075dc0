#include "computed_matrix_cuda.hpp"

#include <optional>
#include <span>
#include <utility>

#include "base/device_cuda.hpp"
#include "base/launch_cuda.cuh"
#include "matrix/gpu_pattern.hpp"
#include "pattern_rows.hpp"
#include "tile_patterns_cuda.hpp"
#include "tile_values_cuda.hpp"

namespace heddle::cuda {

namespace computed_matrix {

using heddle::detail::ComputedMatrix, heddle::detail::EntryTile;

DevicePattern pattern_on(const PatternView& given, const Device& device) {
  const StagedPattern staged(given, device);
  DevicePattern pattern;
  pattern.rows = given.rows;
  pattern.columns = given.columns;
  pattern.offsets = Array<Offset>(static_cast<std::size_t>(given.rows) + 1, device);
  if (given.rows > 0) {
    for_each_index(device.stream(), Offset(given.rows) + 1,
                   [from = staged.view().offsets,
                    to = pattern.offsets.data()] __device__(Offset row) { to[row] = from[row]; });
  }
  pattern.column =
      Array<Index>(std::span(given.column, static_cast<std::size_t>(staged.entries())), device);
  device.synchronize();  // the staged offsets are freed next
  return pattern;
}

/// True if columns increase in every row.
bool grows(const DevicePattern& pattern, const Device& device) {
  Array<int> falls(1, device);
  for_each_index(device.stream(), pattern.entries(),
                 [rows = pattern.view(), falls = falls.data()] __device__(Offset e) {
                   if (e == 0 || rows.column[e - 1] < rows.column[e]) return;
                   const Offset end = Offset(rows.rows) + 1;
                   const Offset row = device::first_at_least(rows.offsets, 0, end, e);
                   if (rows.offsets[row] != e) *falls = 1;  // no row begins here
                 });
  return falls.to_host()[0] == 0;
}

/// The scalars of a matrix's values in memory that kernels read.
class Values {
 public:
  Values(Offset entries, const EntryTile& tile, const Device& device)
      : scalars_(static_cast<std::size_t>(entries) * static_cast<std::size_t>(tile.scalars())),
        scalar_bytes_(static_cast<std::size_t>(tile.scalar_bytes)),
        device_(device) {}

  const void* staged(const void* given) {
    if (scalars_ == 0 || is_device_memory(given, device_.stream())) return given;
    if (staged_.empty()) staged_ = Array<std::byte>(scalars_ * scalar_bytes_, device_);
    heddle::detail::copy_bytes(staged_.data(), given, staged_.size(), device_.stream());
    return staged_.data();
  }
  const double* doubles(const void* given) {
    const void* const from = staged(given);
    if (scalar_bytes_ == sizeof(double)) return static_cast<const double*>(from);
    if (wide_.empty()) wide_ = Array<double>(scalars_, device_);
    for_each_index(device_.stream(), static_cast<Offset>(scalars_),
                   [from = static_cast<const float*>(from),
                    to = wide_.data()] __device__(Offset i) { to[i] = from[i]; });
    return wide_.data();
  }

 private:
  std::size_t scalars_, scalar_bytes_;
  Device device_;
  Array<std::byte> staged_;
  Array<double> wide_;  // from floats
};

/// Sums are formed in doubles.
class Product final : public ComputedMatrix {
 public:
  Product(const PatternView& a, const EntryTile& of_a, const PatternView& b, const EntryTile& of_b,
          const Device& on)
      : ComputedMatrix(on),
        of_a_(of_a),
        of_b_(of_b),
        a_(pattern_on(a, on)),
        b_(pattern_on(b, on)),
        b_grows_(grows(b_, on)),
        c_(product_pattern(a_, b_, on)),
        places_(product_places(a_, b_, c_, false, on)),
        left_(a_.entries(), of_a, on),
        right_(b_.entries(), of_b, on) {
    rows = c_.rows;
    columns = c_.columns;
    const std::size_t scalars = c_.column.size() * static_cast<std::size_t>(of_a.height) *
                                static_cast<std::size_t>(of_b.width * of_a.ring);
    values = Array<std::byte>(scalars * static_cast<std::size_t>(of_a.scalar_bytes), on);
    if (of_a.scalar_bytes != sizeof(double)) sums_ = Array<double>(scalars, on);
    view_ = c_.view();
    offsets = std::move(c_.offsets);
    column = std::move(c_.column);
  }

  void compute(const void* left, const void* right) override {
    const Stream& stream = device.stream();
    device::TileProduct product;
    product.a = a_.view(), product.b = b_.view(), product.c = view_;
    product.left = left_.doubles(left), product.right = right_.doubles(right);
    product.result = sums_.empty() ? reinterpret_cast<double*>(values.data()) : sums_.data();
    product.places = places_.view();
    product.height = of_a_.height, product.middle = of_a_.width, product.width = of_b_.width;
    product.grows = b_grows_;
    multiply(product, of_a_.ring, b_.mean_length(), c_.longest, stream);
    for_each_index(stream, static_cast<Offset>(sums_.size()),
                   [from = sums_.data(), to = reinterpret_cast<float*>(values.data())] __device__(
                       Offset i) { to[i] = static_cast<float>(from[i]); });
  }

 private:
  EntryTile of_a_, of_b_;
  DevicePattern a_, b_;
  bool b_grows_;
  DevicePattern c_;
  DevicePlaces places_;
  Values left_, right_;
  device::TilePattern view_;
  Array<double> sums_;  // for floats
};

template <class S>
void turn(const EntryTile& tile, const S* from, const Offset* place, Offset entries, S* to,
          const Stream& stream) {
  const int numbers = tile.height * tile.width;
  for_each_index(stream, entries * numbers, [=] __device__(Offset t) {
    const Offset entry = t / numbers;
    const int at = static_cast<int>(t - entry * numbers), i = at / tile.width,
              j = at - i * tile.width;
    const S* const number = from + t * tile.ring;
    S* const adjoint = to + (place[entry] * numbers + j * tile.height + i) * tile.ring;
    adjoint[0] = number[0];
    for (int part = 1; part < tile.ring; ++part) adjoint[part] = -number[part];
  });
}

class Adjoint final : public ComputedMatrix {
 public:
  Adjoint(const PatternView& a, const EntryTile& of_a, const Device& on)
      : ComputedMatrix(on), of_a_(of_a) {
    DevicePattern transpose = adjoint_pattern(pattern_on(a, on), place_, on);
    rows = transpose.rows;
    columns = transpose.columns;
    offsets = std::move(transpose.offsets);
    column = std::move(transpose.column);
    values = Array<std::byte>(column.size() * static_cast<std::size_t>(of_a.scalars()) *
                                  static_cast<std::size_t>(of_a.scalar_bytes),
                              on);
    given_.emplace(static_cast<Offset>(column.size()), of_a, on);
  }

  void compute(const void* left, const void*) override {
    const void* const from = given_->staged(left);
    const auto put = [&]<class S>(S) {
      turn(of_a_, static_cast<const S*>(from), place_.data(), static_cast<Offset>(column.size()),
           reinterpret_cast<S*>(values.data()), device.stream());
    };
    of_a_.scalar_bytes == sizeof(double) ? put(double()) : put(float());
  }

 private:
  EntryTile of_a_;
  Array<Offset> place_;
  std::optional<Values> given_;
};

}  // namespace computed_matrix

std::shared_ptr<heddle::detail::ComputedMatrix> make_product(const PatternView& a,
                                                             const heddle::detail::EntryTile& of_a,
                                                             const PatternView& b,
                                                             const heddle::detail::EntryTile& of_b,
                                                             const Device& device) {
  return std::make_shared<computed_matrix::Product>(a, of_a, b, of_b, device);
}

std::shared_ptr<heddle::detail::ComputedMatrix> make_adjoint(const PatternView& a,
                                                             const heddle::detail::EntryTile& of_a,
                                                             const Device& device) {
  return std::make_shared<computed_matrix::Adjoint>(a, of_a, device);
}

}  // namespace heddle::cuda
