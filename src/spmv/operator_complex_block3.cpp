#include "heddle/operator.hpp"

namespace heddle {

template class Operator<block<complex<float>, 3, 3>>;
template class Operator<block<complex<double>, 3, 3>>;
template class Operator<stored_as<float, block<complex<double>, 3, 3>>>;

}  // namespace heddle
