#include "heddle/operator.hpp"

namespace heddle {

template detail::EntryTableHandle<float> detail::entry_table<complex<float>>();
template detail::EntryTableHandle<double> detail::entry_table<complex<double>>();
template detail::EntryTableHandle<double> detail::entry_table<stored_as<float, complex<double>>>();

}  // namespace heddle
