#include "heddle/operator.hpp"

namespace heddle {

template detail::EntryTableHandle<float> detail::entry_table<real<float>>();
template detail::EntryTableHandle<double> detail::entry_table<real<double>>();
template detail::EntryTableHandle<double> detail::entry_table<stored_as<float, real<double>>>();

}  // namespace heddle
