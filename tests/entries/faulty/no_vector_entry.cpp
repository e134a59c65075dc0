// Must not compile: vector_entry is missing, and the first error says so.
#include "heddle/csr.hpp"

struct faulty {
  using stored_scalar = double;
  using scalar = double;
  static constexpr int components = 1;
  static constexpr heddle::Ring ring = heddle::Ring::real;

  double component[components];

  static faulty zero() { return {}; }
  friend faulty add(const faulty& a, const faulty& b) {
    return {{a.component[0] + b.component[0]}};
  }
  friend void multiply_add(heddle::small_vector<double, 1>& y, const faulty& a,
                           const heddle::small_vector<double, 1>& x) {
    y.component[0] += a.component[0] * x.component[0];
  }
};

template class heddle::CsrMatrix<faulty>;
