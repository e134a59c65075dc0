#include "heddle/operator.hpp"

namespace heddle {

template class Operator<complex<float>>;
template class Operator<complex<double>>;

}  // namespace heddle
