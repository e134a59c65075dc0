// nvcc accepts every header of the library.
#include "heddle/heddle.hpp"

__global__ void invert_all(heddle::quaternion<double>* entries) {
  entries[threadIdx.x] = inverse(entries[threadIdx.x]);
}

void multiply_by(const heddle::Operator<heddle::complex<double>>& A) {
  heddle::Field<heddle::complex<double>> x = A.field(), y = A.field();
  A.apply(1, x, 0, y, A.device().stream());
}

struct Clear {
  heddle::Offset count;
  heddle::EntryWriter<heddle::complex<double>> entries;

  HEDDLE_INLINE void operator()(heddle::Offset slot) const { entries.store(slot, {}); }
};

void clear(heddle::Operator<heddle::complex<double>>& A) {
  heddle::for_each_on(A.device(), Clear{A.pattern().slots, A.entry_writer()});
}
