#include "heddle/jacobi.hpp"

namespace heddle {

#define HEDDLE_INSTANTIATE(...) template class Jacobi<__VA_ARGS__>;
HEDDLE_FOR_EACH_ENTRY(HEDDLE_INSTANTIATE, float)
HEDDLE_FOR_EACH_ENTRY(HEDDLE_INSTANTIATE, double)

}  // namespace heddle
