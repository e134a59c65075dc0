// Products and adjoints of matrices of any entry that is a tile of numbers, on a GPU. Defined in
// builds with CUDA.
#pragma once

#include "heddle/detail/computed_matrix.hpp"

namespace heddle::cuda {

std::shared_ptr<heddle::detail::ComputedMatrix> make_product(const PatternView& a,
                                                             const heddle::detail::EntryTile& of_a,
                                                             const PatternView& b,
                                                             const heddle::detail::EntryTile& of_b,
                                                             const Device& device);
std::shared_ptr<heddle::detail::ComputedMatrix> make_adjoint(const PatternView& a,
                                                             const heddle::detail::EntryTile& of_a,
                                                             const Device& device);

}  // namespace heddle::cuda
