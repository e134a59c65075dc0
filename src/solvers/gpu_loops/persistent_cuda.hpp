// A solver's loop in one cooperative kernel: the host's part, for any method.
#pragma once

#include <memory>

#include "heddle/detail/method_loop.hpp"
#include "heddle/detail/product_cuda.hpp"
#include "persistent_program.hpp"

namespace heddle::cuda {

/// A whole run as one kernel: for matrices that keep a GPU busy only for microseconds. `ring`:
/// components of a coefficient, 0 for those of the entry. `inverses`: those of a
/// `RowPreconditioner`, null without one. Throws `Error` (bad_plan) if the plan's slices or the
/// GPU's shared memory do not allow it.
template <class S>
std::unique_ptr<detail::MethodLoop<S>> make_persistent_loop(PersistentMethod method, int ring,
                                                            const Product& product,
                                                            const void* inverses,
                                                            const Device& device);

}  // namespace heddle::cuda
