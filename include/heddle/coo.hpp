// Entries in any order, each with its row and column.
#pragma once

#include "heddle/csr.hpp"
#include "heddle/device.hpp"
#include "heddle/entries/slots.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// A user's arrays, not owned: a row, a column (both counted from 0) and E::components scalars per
/// entry. A place may be named once.
template <class E>
struct HEDDLE_EXPORT CooView {
  static_assert(check_entry<E>());

  Index rows = 0;
  Index columns = 0;
  Offset entries = 0;
  const Index* row = nullptr;
  const Index* column = nullptr;
  const stored_scalar_t<E>* values = nullptr;
  ComponentOrder order = ComponentOrder::row_major;
  Device device = Device::cpu();
};

}  // namespace heddle
