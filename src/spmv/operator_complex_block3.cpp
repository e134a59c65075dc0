#include "heddle/operator.hpp"

namespace heddle {

template detail::EntryTableHandle<float> detail::entry_table<block<complex<float>, 3, 3>>();
template detail::EntryTableHandle<double> detail::entry_table<block<complex<double>, 3, 3>>();
template detail::EntryTableHandle<double>
detail::entry_table<stored_as<float, block<complex<double>, 3, 3>>>();

}  // namespace heddle
