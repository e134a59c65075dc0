#include "heddle/operator.hpp"

namespace heddle {

template detail::EntryTableHandle<float> detail::entry_table<block<float, 3, 3>>();
template detail::EntryTableHandle<double> detail::entry_table<block<double, 3, 3>>();
template detail::EntryTableHandle<double>
detail::entry_table<stored_as<float, block<double, 3, 3>>>();

}  // namespace heddle
