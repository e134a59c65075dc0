#include "frame_buffer.hpp"

#include "heddle/config.hpp"
#include "heddle/vector_operations.hpp"

namespace heddle::simulation {

namespace {

double* allocate(std::size_t numbers, const Device& device) {
  if constexpr (has_cuda) {
    if (device.on_gpu()) return cuda::allocate_pinned(numbers, device.stream());
  }
  return new double[numbers];
}

std::vector<std::size_t> places_of(std::span<const FrameArray> arrays) {
  std::vector<std::size_t> first{0};
  for (const FrameArray& array : arrays) {
    first.push_back(first.back() + static_cast<std::size_t>(array.values.scalars()));
  }
  return first;
}

bool is_of_mesh(const FieldView<const double>& field) {
  return field.basis == nullptr && field.is_aos();
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

FrameBuffer::FrameBuffer(std::span<const FrameArray> shape, const Device& device)
    : device_(device),
      first_(places_of(shape)),
      data_(allocate(first_.back(), device_), FreeMemory{device_.on_gpu()}) {
  if constexpr (has_cuda) {
    if (!device_.on_gpu()) return;
    done_.reset(cuda::make_event(device_.stream()));
    for (const FrameArray& array : shape) {
      const bool stays = is_of_mesh(array.values);
      permuted_.emplace_back(stays ? 0 : static_cast<std::size_t>(array.values.scalars()), device_);
    }
  }
}

void FrameBuffer::take(std::span<const FrameArray> arrays) {
  const Stream& stream = device_.stream();
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const FieldView<const double>& field = arrays[i].values;
    double* const to = data_.get() + first_[i];
    if constexpr (has_cuda) {
      if (device_.on_gpu()) {
        const double* from = field.data;
        if (!is_of_mesh(field)) {
          permute<double>(field, {permuted_[i].data(), field.size, field.components}, 1, stream);
          from = permuted_[i].data();
        }
        cuda::copy_to_host(to, from, first_[i + 1] - first_[i], stream);
        continue;
      }
    }
    permute<double>(field, {to, field.size, field.components}, 1, stream);
  }
  if constexpr (has_cuda) {
    if (done_) cuda::record(done_.get(), stream);
  }
}

void FrameBuffer::wait() const {
  if constexpr (has_cuda) {
    if (done_) cuda::wait_for(done_.get(), device_.stream());
  }
}

}  // namespace heddle::simulation
