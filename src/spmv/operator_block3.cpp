#include "heddle/operator.hpp"

namespace heddle {

template class Operator<block<float, 3, 3>>;
template class Operator<block<double, 3, 3>>;
template class Operator<stored_as<float, block<double, 3, 3>>>;

}  // namespace heddle
