#include "heddle/operator.hpp"

namespace heddle {

template class Operator<quaternion<float>>;
template class Operator<quaternion<double>>;
template class Operator<stored_as<float, quaternion<double>>>;

}  // namespace heddle
