// One state on its way to a file: in the host's memory, in the order of the mesh.
#pragma once

#include <memory>
#include <span>

#include "elastic_system.hpp"
#include "host_copy.hpp"

namespace heddle::elastic {

class FrameBuffer {
 public:
  FrameBuffer(const ElasticSystem& system, bool with_velocity);
  FrameBuffer(const FrameBuffer&) = delete;
  FrameBuffer& operator=(const FrameBuffer&) = delete;

  /// Copies, with the stress that the system has; on a GPU queues that. `velocity` may be null.
  void take(const ElasticSystem& system, const VertexField& displacement,
            const VertexField* velocity);
  /// Until what was taken is there. By any thread.
  void wait() const;

  std::span<const double> displacement() const { return part(0, vertices_); }
  std::span<const double> velocity() const { return part(vertices_, velocities_); }
  std::span<const double> stress() const { return part(vertices_ + velocities_, 6 * elements_); }
  std::span<const double> equivalent_stress() const {
    return part(vertices_ + velocities_ + 6 * elements_, elements_);
  }

 private:
  struct FreeMemory {
    bool pinned;
    void operator()(double* data) const;
  };
  struct FreeEvent {
    void operator()(CUevent_st* event) const;
  };

  std::span<const double> part(std::size_t first, std::size_t count) const {
    return {data_.get() + first, count};
  }
  /// Into the order of the mesh; by way of `turned`, where the field is a GPU's.
  void take_field(const VertexField& field, VertexField& turned, double* to);
  void take_array(const Array<double>& array, double* to);

  Device device_;
  std::size_t vertices_, velocities_, elements_;  // numbers of each; of elements one each
  std::unique_ptr<double[], FreeMemory> data_;
  std::unique_ptr<CUevent_st, FreeEvent> done_;  // on a GPU
  VertexField turned_displacement_, turned_velocity_;
};

}  // namespace heddle::elastic
