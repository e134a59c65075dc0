#include "heddle/detail/diagonal_search.hpp"

#include <string>

#include "gpu_pattern.hpp"
#include "heddle/config.hpp"
#include "heddle/tools/team.hpp"

namespace heddle {

detail::DiagonalSearch detail::diagonal_search(const SlicedPattern& A) {
  if (A.rows != A.columns) {
    throw Error(ErrorKind::size_mismatch, "the diagonal of a " + std::to_string(A.rows) + " x " +
                                              std::to_string(A.columns) +
                                              " matrix was requested; it must be square");
  }
  const Device& device = A.offset.device();
  return {A.view(),
          A.row_length.data(),
          A.column.data(),
          A.target.data(),
          A.row_basis->user_rows_on(device),
          A.column_basis->positions_on(device),
          A.row_basis == A.column_basis || same_basis(*A.row_basis, *A.column_basis)};
}

Array<Offset> diagonal_slots(const SlicedPattern& A) {
  const detail::DiagonalSearch search = detail::diagonal_search(A);
  const Device& device = A.offset.device();
  Array<Offset> slots(static_cast<std::size_t>(A.rows), device);
  if constexpr (has_cuda) {
    if (device.on_gpu()) {
      cuda::find_diagonal(search, A.rows, slots.data(), device.stream());
      return slots;
    }
  }
  parallel_for(team_size(device.stream(), A.entries), A.rows, [&](Index stored) {
    slots[static_cast<std::size_t>(search.row_of(stored))] = search.slot_among(stored, 0, 1);
  });
  return slots;
}

}  // namespace heddle
