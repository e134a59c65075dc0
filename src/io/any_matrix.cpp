#include "heddle/runtime/any_matrix.hpp"

#include "heddle/read.hpp"
#include "read_numbers.hpp"

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

AnyMatrix read_numbers(const std::string& path, Precision precision, const Device& device,
                       Progress* progress) {
  ScalarMatrix file = read_scalar_matrix(path, device, progress);
  const EntryKind kind = file.is_complex() ? EntryKind::complex : EntryKind::real;
  return detail::naming_file(path, [&] {
    return visit_entry(kind, precision, [&]<class E>() {
      return AnyMatrix(fold<E>(std::move(file), Tiling::automatic, device));
    });
  });
}

}  // namespace heddle
