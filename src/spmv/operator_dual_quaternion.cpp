#include "heddle/operator.hpp"

namespace heddle {

template class Operator<dual_quaternion<float>>;
template class Operator<dual_quaternion<double>>;
template class Operator<stored_as<float, dual_quaternion<double>>>;

}  // namespace heddle
