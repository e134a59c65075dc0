#include "heddle/runtime/any_matrix.hpp"

#include "heddle/read.hpp"

namespace heddle {

AnyMatrix AnyMatrix::read(const std::string& path, const AnyEntry& entry, Precision precision,
                          const Device& device, Progress* progress) {
  if (const auto& definition = entry.definition()) {
    return precision == Precision::single_precision
               ? AnyMatrix(read_defined_matrix<float>(path, definition, device, progress))
               : AnyMatrix(read_defined_matrix<double>(path, definition, device, progress));
  }
  return visit_entry(entry.kind(), precision, [&]<class E>() {
    return AnyMatrix(read_matrix<E>(path, device, Tiling::automatic, progress));
  });
}

}  // namespace heddle
