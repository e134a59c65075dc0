#include "heddle/operator.hpp"

namespace heddle {

template class Operator<complex<float>>;
template class Operator<complex<double>>;
template class Operator<stored_as<float, complex<double>>>;

}  // namespace heddle
