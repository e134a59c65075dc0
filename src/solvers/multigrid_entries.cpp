// The entries of interpolations from levels of more candidates than a row has numbers, and of their
// adjoints. A level has no copies in 16 bits, whose products would take most of the time to
// compile.
#include "heddle/operator.hpp"

namespace heddle::detail {

template <class E>
EntryTableHandle<vector_scalar_t<E>> interpolation_table() {
  static const auto made = [] {
    using S = vector_scalar_t<E>;
    auto table = make_plain_table<E>();
    if constexpr (can_narrow<E>) table.narrow = interpolation_table<stored_as<float, E>>();
    table.holds_floats = std::is_same_v<stored_scalar_t<E>, float>;
    table.residual = product_cpu<typename promoted<E>::type, S, StoreResidual<S>>;
    table.place = place_values_on_cpu<stored_scalar_t<E>, E::components>;
    table.adjoint = adjoint_components<arithmetic_t<E>, S>;
    table.adjoint_entry = interpolation_table<typename stored_adjoint<E>::type>;
    return std::make_shared<const EntryTable<S>>(std::move(table));
  }();
  return made;
}

template EntryTableHandle<float> interpolation_table<block<float, 3, 6>>();
template EntryTableHandle<double> interpolation_table<block<double, 3, 6>>();
template EntryTableHandle<float> interpolation_table<block<float, 2, 3>>();
template EntryTableHandle<double> interpolation_table<block<double, 2, 3>>();

}  // namespace heddle::detail
