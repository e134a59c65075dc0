#include <iostream>

#include "heddle/entry_text.hpp"

// The text comes from a library that this program links without naming anything in it.
int main() {
  std::cout << heddle::entry_header("dual_complex.hpp").size() << " characters\n";
  return 0;
}
