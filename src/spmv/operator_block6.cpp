#include "heddle/operator.hpp"

namespace heddle {

template class Operator<block<float, 6, 6>>;
template class Operator<block<double, 6, 6>>;
template class Operator<stored_as<float, block<double, 6, 6>>>;

}  // namespace heddle
