// The user's entry of tests/entries, with the text from which a GPU gets it.
#pragma once

#include "entries/dual_complex.hpp"
#include "heddle/entry_text.hpp"

HEDDLE_ENTRY(dual_complex<float>, "dual_complex.hpp")
HEDDLE_ENTRY(dual_complex<double>, "dual_complex.hpp")
