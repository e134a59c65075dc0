#include "heddle/operator.hpp"

namespace heddle {

template detail::EntryTableHandle<float> detail::entry_table<block<float, 4, 4>>();
template detail::EntryTableHandle<double> detail::entry_table<block<double, 4, 4>>();
template detail::EntryTableHandle<double>
detail::entry_table<stored_as<float, block<double, 4, 4>>>();

}  // namespace heddle
