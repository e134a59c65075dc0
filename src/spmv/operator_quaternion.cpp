#include "heddle/operator.hpp"

namespace heddle {

template class Operator<quaternion<float>>;
template class Operator<quaternion<double>>;

}  // namespace heddle
