#include "heddle/operator.hpp"

namespace heddle {

template detail::EntryTableHandle<float> detail::entry_table<block<float, 2, 2>>();
template detail::EntryTableHandle<double> detail::entry_table<block<double, 2, 2>>();
template detail::EntryTableHandle<double>
detail::entry_table<stored_as<float, block<double, 2, 2>>>();

}  // namespace heddle
