// Checks of a definition's operators on random numbers. Each throws `Error` (malformed_file)
// "key path: what is wrong".
#pragma once

#include "heddle/runtime/entry_definition.hpp"

namespace heddle::detail {

/// Throws unless `add` of two entries is their sum component by component.
void check_add(const EntryDefinition& definition, const Formula& add);

/// The terms of `multiply`, a function of an entry and a vector entry that must be linear in each.
std::vector<ProductTerm> product_terms(const EntryDefinition& definition, const Formula& multiply);

/// Checks the ring, the inverse and the adjoint against the product.
void check_operators(const EntryDefinition& definition);

}  // namespace heddle::detail
