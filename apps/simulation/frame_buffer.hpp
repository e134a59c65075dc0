// One state on its way to a file: in the host's memory, in the order of the mesh.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "heddle/field.hpp"
#include "host_copy.hpp"

namespace heddle::simulation {

/// One array of a state, in the memory of the device that computes it: numbers at the vertices, in
/// any basis, or at the tetrahedra, one after the other in the order of the mesh.
struct FrameArray {
  enum class Of { vertices, tetrahedra };

  std::string_view name;  // must outlive the array, like a constant
  Of of;
  FieldView<const double> values;
};

class FrameBuffer {
 public:
  /// For states with arrays of this shape.
  FrameBuffer(std::span<const FrameArray> shape, const Device& device);
  FrameBuffer(const FrameBuffer&) = delete;
  FrameBuffer& operator=(const FrameBuffer&) = delete;

  /// Copies arrays of that shape; on a GPU this only queues the copies.
  void take(std::span<const FrameArray> arrays);
  /// Waits until the taken arrays are in host memory. May be called by any thread.
  void wait() const;

  std::span<const double> values(std::size_t array) const {
    return {data_.get() + first_[array], first_[array + 1] - first_[array]};
  }

 private:
  struct FreeMemory {
    bool pinned;
    void operator()(double* data) const;
  };
  struct FreeEvent {
    void operator()(CUevent_st* event) const;
  };

  Device device_;
  std::vector<std::size_t> first_;  // first number of each array, and the end
  std::unique_ptr<double[], FreeMemory> data_;
  std::unique_ptr<CUevent_st, FreeEvent> done_;  // on a GPU
  std::vector<Array<double>> permuted_;          // on a GPU: vertex arrays in mesh order
};

}  // namespace heddle::simulation
