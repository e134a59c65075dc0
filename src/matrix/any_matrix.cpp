#include "heddle/any_matrix.hpp"

#include "heddle/read.hpp"

namespace heddle {

AnyMatrix AnyMatrix::read(const std::string& path, EntryKind kind, Precision precision,
                          const Device& device, Progress* progress) {
  return visit_entry(kind, precision, [&]<class E>() {
    return AnyMatrix(read_matrix<E>(path, device, Tiling::automatic, progress));
  });
}

}  // namespace heddle
