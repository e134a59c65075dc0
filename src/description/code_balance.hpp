// The bandwidth model of a product (Kreutzer et al. 2012, section 2.2): bytes per flop, and whether
// x and y are worth their transfer to a device and back.
#pragma once

#include "heddle/device.hpp"
#include "heddle/runtime/any_matrix.hpp"

namespace heddle::detail {

/// The assumptions of the model.
struct BalanceAssumptions {
  long long cache = 0;                 // bytes of x that it keeps; 0: as the device's last cache
  double bandwidth = 3000, link = 50;  // GB/s of a device's memory, and of its link to the host
};

struct CodeBalance {
  // Bytes of a stored entry with a column of 4 bytes, and of rows of x and y.
  int entry_bytes = 0, x_bytes = 0, y_bytes = 0;
  int flops = 0;  // multiplications and additions of an entry with x
  double row_length = 0;
  long long cache = 0;
  /// Fraction of the loads of rows of x that go to memory: with a cache of that size, rows in their
  /// order and least recently used eviction; and with a cache that keeps all of x.
  double alpha = 0, least_alpha = 0;
  double bytes_per_flop = 0, worst_bytes_per_flop = 0;  // equation 1: with alpha, and with 1
  double product_seconds = 0, transfer_seconds = 0;     // equation 2
  /// Rows up to the first length take less time than their transfer (equation 3); rows from the
  /// second length on take ten times as long (4). Below 1 if no row does.
  double favours_host_up_to = 0, hides_transfer_from = 0;
};

/// Multiplications and additions of y += a x for one entry a of that kind.
int flops_of(EntryKind kind);

/// Bytes of a row of x.
int row_bytes_of(const AnyMatrix& matrix);

/// The model's results are zero for a matrix without entries.
CodeBalance code_balance(const AnyMatrix& matrix, const BalanceAssumptions& assumptions,
                         const Device& device);

}  // namespace heddle::detail
