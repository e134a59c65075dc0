#include "heddle/operator.hpp"

namespace heddle {

template class Operator<real<float>>;
template class Operator<real<double>>;
template class Operator<stored_as<float, real<double>>>;

}  // namespace heddle
