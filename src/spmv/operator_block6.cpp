#include "heddle/operator.hpp"

namespace heddle {

template detail::EntryTableHandle<float> detail::entry_table<block<float, 6, 6>>();
template detail::EntryTableHandle<double> detail::entry_table<block<double, 6, 6>>();
template detail::EntryTableHandle<double>
detail::entry_table<stored_as<float, block<double, 6, 6>>>();

}  // namespace heddle
