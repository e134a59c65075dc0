#include "heddle/operator.hpp"

namespace heddle {

template class Operator<block<float, 4, 4>>;
template class Operator<block<double, 4, 4>>;
template class Operator<stored_as<float, block<double, 4, 4>>>;

}  // namespace heddle
