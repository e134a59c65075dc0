// A program that uses heddle as an installed package and as a subdirectory.
#include <cstdio>

#include "heddle/csr.hpp"
#include "heddle/entries.hpp"
#include "heddle/version.hpp"

int main() {
  using E = heddle::quaternion<double>;
  const heddle::Index column[] = {0};
  const heddle::Offset offsets[] = {0, 1};
  const double values[] = {2.0, 0.0, 0.0, 0.0};
  const heddle::CsrMatrix<E> matrix(1, 1, heddle::Array<heddle::Offset>(offsets),
                                    heddle::Array<heddle::Index>(column),
                                    heddle::Array<double>(values));
  std::printf("heddle %s, %lld entry\n", heddle::version, matrix.entries());
}
