// The entries of interpolations from levels of more candidates than a row has numbers, and of their
// adjoints.
#include "heddle/operator.hpp"

namespace heddle::detail {

#define HEDDLE_INTERPOLATION(H, W)                                      \
  template EntryTableHandle<float> entry_table<block<float, H, W>>();   \
  template EntryTableHandle<double> entry_table<block<double, H, W>>(); \
  template EntryTableHandle<double> entry_table<stored_as<float, block<double, H, W>>>();
HEDDLE_INTERPOLATION(3, 6)
HEDDLE_INTERPOLATION(6, 3)
HEDDLE_INTERPOLATION(2, 3)
HEDDLE_INTERPOLATION(3, 2)
#undef HEDDLE_INTERPOLATION

}  // namespace heddle::detail
