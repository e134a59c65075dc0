// The projection onto the orthogonal complement of a null space, as work that a graph can hold.
#pragma once

#include <memory>
#include <vector>

#include "heddle/array.hpp"
#include "heddle/field.hpp"

namespace heddle::cuda {

template <class S>
class Projection {
 public:
  virtual ~Projection() = default;
  /// field -= v <v, field> for each vector, in the ring. Repeated calls must use one stream.
  virtual void queue(const FieldView<S>& field, const Stream& stream) = 0;
};

/// `vectors`: orthonormal over the ring, shaped as the fields will be, at least one; they outlive
/// the projection. Allocates.
template <class S>
std::unique_ptr<Projection<S>> make_projection(std::vector<FieldView<S>> vectors, Ring ring,
                                               const Device& device);

}  // namespace heddle::cuda
