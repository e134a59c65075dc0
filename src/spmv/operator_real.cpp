#include "heddle/operator.hpp"

namespace heddle {

template class Operator<real<float>>;
template class Operator<real<double>>;

}  // namespace heddle
