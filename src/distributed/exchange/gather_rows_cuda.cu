#include "gather_rows_cuda.hpp"

#include <cstdint>

#include "base/launch_cuda.cuh"

namespace heddle::cuda {

namespace {

template <int bytes>
struct alignas(bytes) Piece {
  unsigned word[bytes / sizeof(unsigned)];
};

/// A thread moves a piece of a row.
template <class P>
struct GatherPieces {
  const Index* row;
  unsigned pieces;  // in a row
  const P* x;
  P* to;

  __device__ void operator()(Offset i) const {
    const Offset k = i / pieces;
    to[i] = x[row[k] * static_cast<Offset>(pieces) + (i - k * pieces)];
  }
};

template <int bytes>
void gather_pieces(const Array<Index>& rows, std::size_t row_bytes, const void* x, void* to,
                   const Stream& stream) {
  using P = Piece<bytes>;
  const auto pieces = static_cast<unsigned>(row_bytes / bytes);
  for_each_index(
      stream, static_cast<Offset>(rows.size()) * pieces,
      GatherPieces<P>{rows.data(), pieces, static_cast<const P*>(x), static_cast<P*>(to)});
}

}  // namespace

void gather_rows(const Array<Index>& rows, std::size_t row_bytes, const void* x, void* to,
                 const Stream& stream) {
  const auto divides = [&](std::size_t bytes) {
    return row_bytes % bytes == 0 && reinterpret_cast<std::uintptr_t>(x) % bytes == 0 &&
           reinterpret_cast<std::uintptr_t>(to) % bytes == 0;
  };
  if (divides(16)) return gather_pieces<16>(rows, row_bytes, x, to, stream);
  if (divides(8)) return gather_pieces<8>(rows, row_bytes, x, to, stream);
  gather_pieces<4>(rows, row_bytes, x, to, stream);
}

}  // namespace heddle::cuda
