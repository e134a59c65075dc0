// The adjoint of a sliced matrix: another matrix, whose values come from the slots of the first.
#include <string>
#include <utility>
#include <vector>

#include "base/long_double.hpp"
#include "heddle/detail/sliced_operator.hpp"
#include "heddle/runtime/entry_definition.hpp"
#include "heddle/tools/team.hpp"
#include "matrix/adjoint_values.hpp"
#include "matrix/stored_rows.hpp"

namespace heddle::detail {

namespace {

template <class S>
[[noreturn]] void refuse_adjoint(const EntryTable<S>& entry, const char* why) {
  throw Error(ErrorKind::unsupported, "no adjoint: " +
                                          (entry.definition ? "entry " + entry.definition->name
                                                            : std::string("the entry")) +
                                          " " + why);
}

/// The `AdjointMap::component` of an entry: the images of the unit vectors under `adjoint`.
template <class S>
std::vector<int> components_of_adjoint(const EntryTable<S>& entry) {
  if (entry.adjoint == nullptr) {
    refuse_adjoint(entry, "has none of its kind, or is encoded");
  }
  const auto K = static_cast<std::size_t>(entry.sizes.components);
  std::vector<int> component(K);
  std::vector<S> unit(K), adjoint(K);
  for (std::size_t k = 0; k < K; ++k) {
    unit[k] = S(1);
    entry.adjoint(entry, unit.data(), adjoint.data());
    unit[k] = S(0);
    for (std::size_t to = 0; to < K; ++to) {
      if (adjoint[to] == 0) continue;
      if (component[to] != 0 || (adjoint[to] != 1 && adjoint[to] != -1)) {
        refuse_adjoint(entry, "mixes its components in its adjoint");
      }
      component[to] = static_cast<int>(adjoint[to]) * (static_cast<int>(k) + 1);
    }
  }
  for (const int of : component) {
    if (of == 0) refuse_adjoint(entry, "mixes its components in its adjoint");
  }
  return component;
}

}  // namespace

template <class S>
struct SlicedOperator<S>::Adjoint {
  SlicedOperator matrix;
  AdjointMap map;
};

template <class S>
std::shared_ptr<typename SlicedOperator<S>::Adjoint> SlicedOperator<S>::make_adjoint() const {
  const std::vector<int> component = components_of_adjoint(entry());
  const Stream host = Device::cpu(device_.threads()).stream();
  const StoredRows rows = stored_rows(pattern(), host);
  Array<Offset> place;
  const UserRows transpose = transposed(rows, columns(), host, place);
  Array<Offset> slot(place.size());
  parallel_for(team_size(host, rows.entries()), place.size(),
               [&](std::size_t i) { slot[static_cast<std::size_t>(place[i])] = rows.slot[i]; });
  const EntryTableHandle<S> of_entry =
      entry().adjoint_entry != nullptr ? entry().adjoint_entry() : state().entry;
  SlicedOperator matrix(of_entry, transpose.view(this->rows()), ComponentOrder::row_major, plan(),
                        device_, column_basis(), row_basis());
  matrix.state().adjoint_of = state_;
  matrix.state().its_schedule = schedule_;
  return std::make_shared<Adjoint>(Adjoint{
      std::move(matrix), {Array<Offset>(slot.span(), device_), Array<int>(component, device_)}});
}

template <class S>
void SlicedOperator<S>::update_adjoint() const {
  const auto& [matrix, map] = *state().adjoint;
  place_adjoint_values(pattern(), stored_values(), matrix.pattern(), matrix.stored_values(), map,
                       plan().layout.inner, entry().sizes.stored_bytes, device_.stream());
  SlicedOperator here = matrix;
  here.device_ = device_;
  here.values_changed();
}

template <class S>
std::shared_ptr<const LinearOperator<S>> SlicedOperator<S>::adjoint() const {
  const auto as_here = [&](SlicedOperator same) {
    return std::make_shared<SlicedOperator>(same.on(device_).scheduled(plan()));
  };
  auto source = state().adjoint_of.lock();
  auto schedule = state().its_schedule.lock();
  if (source && schedule) {
    SlicedOperator same = *this;
    same.state_ = std::move(source);
    same.schedule_ = std::move(schedule);
    return as_here(std::move(same));
  }
  const std::lock_guard<std::mutex> lock(state().making_adjoint);
  if (!state().adjoint) {
    state().adjoint = make_adjoint();
    try {
      update_adjoint();
    } catch (...) {
      state().adjoint.reset();
      throw;
    }
  }
  return as_here(state().adjoint->matrix);
}

#define HEDDLE_SLICED_ADJOINT(S)                                                                  \
  template std::shared_ptr<typename SlicedOperator<S>::Adjoint> SlicedOperator<S>::make_adjoint() \
      const;                                                                                      \
  template void SlicedOperator<S>::update_adjoint() const;                                        \
  template std::shared_ptr<const LinearOperator<S>> SlicedOperator<S>::adjoint() const;
HEDDLE_SLICED_ADJOINT(float)
HEDDLE_SLICED_ADJOINT(double)
HEDDLE_IN_LONG_DOUBLE(HEDDLE_SLICED_ADJOINT(long double))
#undef HEDDLE_SLICED_ADJOINT

}  // namespace heddle::detail
