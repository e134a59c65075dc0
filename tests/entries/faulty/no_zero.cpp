// Must not compile: zero() is missing, and the first error says so.
#include "heddle/csr.hpp"

struct faulty {
  using stored_scalar = double;
  using scalar = double;
  using vector_entry = heddle::small_vector<double, 1>;
  static constexpr int components = 1;
  static constexpr heddle::Ring ring = heddle::Ring::real;

  double component[components];

  friend faulty add(const faulty& a, const faulty& b) {
    return {{a.component[0] + b.component[0]}};
  }
  friend void multiply_add(vector_entry& y, const faulty& a, const vector_entry& x) {
    y.component[0] += a.component[0] * x.component[0];
  }
};

template class heddle::CsrMatrix<faulty>;
