#include "heddle/operator.hpp"

namespace heddle {

template detail::EntryTableHandle<float> detail::entry_table<dual_quaternion<float>>();
template detail::EntryTableHandle<double> detail::entry_table<dual_quaternion<double>>();
template detail::EntryTableHandle<double>
detail::entry_table<stored_as<float, dual_quaternion<double>>>();

}  // namespace heddle
