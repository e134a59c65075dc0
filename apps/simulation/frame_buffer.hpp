// One state on its way to a file: in the host's memory, in the order of the mesh.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "heddle/field.hpp"
#include "host_copy.hpp"

namespace heddle::simulation {

/// One array of a state, in the memory of the device that computes it: numbers of the vertices, in
/// any basis, or of the tetrahedra, one after the other in the order of the mesh.
struct FrameArray {
  enum class Of { vertices, tetrahedra };

  std::string_view name;  // of a constant
  Of of;
  FieldView<const double> values;
};

class FrameBuffer {
 public:
  /// For states of such arrays.
  FrameBuffer(std::span<const FrameArray> shape, const Device& device);
  FrameBuffer(const FrameBuffer&) = delete;
  FrameBuffer& operator=(const FrameBuffer&) = delete;

  /// Copies arrays of that shape; on a GPU queues that.
  void take(std::span<const FrameArray> arrays);
  /// Until what was taken is there. By any thread.
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
  std::vector<std::size_t> first_;  // number of each array, and the end
  std::unique_ptr<double[], FreeMemory> data_;
  std::unique_ptr<CUevent_st, FreeEvent> done_;  // on a GPU
  std::vector<Array<double>> turned_;            // on a GPU: those in a basis, in that of the mesh
};

}  // namespace heddle::simulation
