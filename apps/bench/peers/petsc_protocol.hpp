// The protocol between `heddle bench` and its program for PETSc: a matrix in a file, then lines.
//
//     heddle_petsc_peer --version              prints, say, "PETSc 3.18.5"
//     heddle_petsc_peer FILE aij|baij          reads the matrix, says "ready RANKS BYTES", serves:
//
//     product                                  y = A x: "done SECONDS"
//     solve TYPE none|jacobi TOLERANCE MAX     A x = b from x = 0: "done SECONDS ITERATIONS REASON"
//     result FILE                              y or x of the last as doubles: "done"
//     history FILE                             residual norms of the last solve likewise: "done"
//     quit
//
// Numbers in files are in the machine's format. Any failure ends the program, with a line on its
// standard error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::bench {

/// PETSc's solver for a method of that name; none where `type` is empty.
struct KspMethod {
  std::string type;
  int counted = 1;  // iterations that PETSc counts for each of Heddle's
};
inline KspMethod ksp_method(std::string_view method) {
  if (method == "bicgstab") return {"bcgs"};
  if (method == "bicgstab2") return {"bcgsl", 2};  // ell is 2 by default
  const bool has_the_name = method == "cg" || method == "minres" || method == "cr" ||
                            method == "gmres" || method == "fgmres";
  return {has_the_name ? std::string(method) : std::string()};
}

/// The header is followed by block_rows + 1 offsets (int64), a column per block (int32), the
/// numbers of all blocks row by row (double), and x, which is also b (double).
struct PetscFileHeader {
  std::int64_t block_rows = 0;
  std::int64_t block_size = 1;
  std::int64_t blocks = 0;

  std::int64_t offsets_at() const { return sizeof(PetscFileHeader); }
  std::int64_t columns_at() const { return offsets_at() + 8 * (block_rows + 1); }
  std::int64_t values_at() const { return columns_at() + 4 * blocks; }
  std::int64_t x_at() const { return values_at() + 8 * blocks * block_size * block_size; }
  std::int64_t end() const { return x_at() + 8 * block_rows * block_size; }
};

}  // namespace heddle::bench
