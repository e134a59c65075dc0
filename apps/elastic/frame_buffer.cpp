#include "frame_buffer.hpp"

#include <algorithm>

#include "heddle/config.hpp"
#include "heddle/vector_operations.hpp"

namespace heddle::elastic {

namespace {

double* allocate(std::size_t numbers, const Device& device) {
  if constexpr (has_cuda) {
    if (device.on_gpu()) return cuda::allocate_pinned(numbers, device.stream());
  }
  return new double[numbers];
}

}  // namespace

void FrameBuffer::FreeMemory::operator()(double* data) const {
  if constexpr (has_cuda) {
    if (pinned) return cuda::free_pinned(data);
  }
  delete[] data;
}

void FrameBuffer::FreeEvent::operator()([[maybe_unused]] CUevent_st* event) const {
  if constexpr (has_cuda) cuda::free_event(event);
}

FrameBuffer::FrameBuffer(const ElasticSystem& system, bool with_velocity)
    : device_(system.device()),
      vertices_(3 * static_cast<std::size_t>(system.vertices())),
      velocities_(with_velocity ? vertices_ : 0),
      elements_(static_cast<std::size_t>(system.elements())),
      data_(allocate(vertices_ + velocities_ + 7 * elements_, device_),
            FreeMemory{device_.on_gpu()}) {
  if constexpr (has_cuda) {
    if (!device_.on_gpu()) return;
    done_.reset(cuda::make_event(device_.stream()));
    turned_displacement_ = VertexField(system.vertices(), device_);
    if (with_velocity) turned_velocity_ = VertexField(system.vertices(), device_);
  }
}

void FrameBuffer::take_field(const VertexField& field, VertexField& turned, double* to) {
  const Stream& stream = device_.stream();
  if constexpr (has_cuda) {
    if (device_.on_gpu()) {
      permute<double>(field.view(), turned.view(), 1, stream);
      return cuda::copy_to_host(to, turned.scalars().data(), vertices_, stream);
    }
  }
  permute<double>(field.view(), {to, field.size(), 3}, 1, stream);
}

void FrameBuffer::take_array(const Array<double>& array, double* to) {
  if constexpr (has_cuda) {
    if (device_.on_gpu()) {
      return cuda::copy_to_host(to, array.data(), array.size(), device_.stream());
    }
  }
  std::copy(array.begin(), array.end(), to);
}

void FrameBuffer::take(const ElasticSystem& system, const VertexField& displacement,
                       const VertexField* velocity) {
  double* const data = data_.get();
  take_field(displacement, turned_displacement_, data);
  if (velocity != nullptr) take_field(*velocity, turned_velocity_, data + vertices_);
  take_array(system.stress(), data + vertices_ + velocities_);
  take_array(system.equivalent_stress(), data + vertices_ + velocities_ + 6 * elements_);
  if constexpr (has_cuda) {
    if (done_) cuda::record(done_.get(), device_.stream());
  }
}

void FrameBuffer::wait() const {
  if constexpr (has_cuda) {
    if (done_) cuda::wait_for(done_.get(), device_.stream());
  }
}

}  // namespace heddle::elastic
