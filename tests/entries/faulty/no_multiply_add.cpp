// Must not compile: multiply_add(y, a, x) is missing, and the first error says so.
#include "heddle/csr.hpp"

struct faulty {
  using stored_scalar = double;
  using scalar = double;
  using vector_entry = heddle::small_vector<double, 1>;
  static constexpr int components = 1;
  static constexpr heddle::Ring ring = heddle::Ring::real;

  double component[components];

  static faulty zero() { return {}; }
  friend faulty add(const faulty& a, const faulty& b) {
    return {{a.component[0] + b.component[0]}};
  }
};

template class heddle::CsrMatrix<faulty>;
