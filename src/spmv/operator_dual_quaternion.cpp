#include "heddle/operator.hpp"

namespace heddle {

template class Operator<dual_quaternion<float>>;
template class Operator<dual_quaternion<double>>;

}  // namespace heddle
