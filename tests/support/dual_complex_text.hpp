// The user's entry from tests/entries, with the text that a GPU gets.
#pragma once

#include "entries/dual_complex.hpp"
#include "heddle/entry_text.hpp"

HEDDLE_ENTRY(dual_complex<float>, "dual_complex.hpp")
HEDDLE_ENTRY(dual_complex<double>, "dual_complex.hpp")
