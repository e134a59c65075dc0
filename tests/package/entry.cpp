#include <iostream>

#include "heddle/entry_text.hpp"

// Of a library that this program links but names nothing of.
int main() {
  std::cout << heddle::entry_header("dual_complex.hpp").size() << " characters\n";
  return 0;
}
