#include "heddle/operator.hpp"

namespace heddle {

template class Operator<block<float, 2, 2>>;
template class Operator<block<double, 2, 2>>;
template class Operator<stored_as<float, block<double, 2, 2>>>;

}  // namespace heddle
