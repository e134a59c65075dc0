#include "heddle/field.hpp"

#include <algorithm>

namespace heddle::detail {

namespace {

/// The bytes that a view spans, first and one past the last.
struct Range {
  std::uintptr_t begin;
  std::uintptr_t end;
};

Range range_of(const Footprint& a) {
  const Offset along = (a.size - 1) * a.entry_stride;
  const Offset across = (a.components - 1) * a.component_stride;
  const Offset first = std::min<Offset>(along, 0) + std::min<Offset>(across, 0);
  const Offset last = std::max<Offset>(along, 0) + std::max<Offset>(across, 0);
  return {a.data + static_cast<std::uintptr_t>(first),
          a.data + static_cast<std::uintptr_t>(last + a.scalar)};
}

}  // namespace

void check_sizes(Index size, int components, const Basis* basis) {
  if (size < 0 || components < 1) {
    throw Error(ErrorKind::size_mismatch, "a field cannot have " + std::to_string(size) +
                                              " rows of " + std::to_string(components) +
                                              " components");
  }
  if (basis != nullptr && basis->size() != size) {
    throw Error(ErrorKind::size_mismatch, "a field of " + std::to_string(size) +
                                              " rows does not fit a basis of " +
                                              std::to_string(basis->size()));
  }
}

void refuse_null(Index size, int components) {
  throw Error(ErrorKind::usage, "a null pointer to a field of " + std::to_string(size) +
                                    " rows of " + std::to_string(components) + " components");
}

bool overlap(const Footprint& a, const Footprint& b) {
  if (a.size == 0 || b.size == 0) return false;
  const Range of_a = range_of(a), of_b = range_of(b);
  if (of_a.end <= of_b.begin || of_b.end <= of_a.begin) return false;
  const Offset stride = a.entry_stride;
  if (stride == 0 || stride != b.entry_stride || a.component_stride != b.component_stride) {
    return true;
  }
  // Fields may be interleaved, like columns of one table: row i of a and row i + rows of b coincide
  // where component k of a is component k + across of b.
  const auto apart = static_cast<Offset>(a.data - b.data);
  if (apart % a.scalar != 0) return true;
  for (Offset across = 1 - a.components; across < b.components; ++across) {
    const Offset along = apart - across * a.component_stride;
    const Offset rows = along / stride;
    if (along % stride == 0 && rows > -a.size && rows < b.size) return true;
  }
  return false;
}

void refuse_overlap(const char* a, const char* b) {
  throw Error(ErrorKind::usage,
              std::string(a) + " and " + b + " share memory; give each its own array");
}

}  // namespace heddle::detail
