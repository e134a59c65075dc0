#include "heddle/operator.hpp"

namespace heddle {

template detail::EntryTableHandle<float> detail::entry_table<quaternion<float>>();
template detail::EntryTableHandle<double> detail::entry_table<quaternion<double>>();
template detail::EntryTableHandle<double>
detail::entry_table<stored_as<float, quaternion<double>>>();

}  // namespace heddle
