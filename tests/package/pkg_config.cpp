#include <iostream>

#include "heddle/error.hpp"
#include "heddle/npz.hpp"

// Needs libzip, and lets an exception pass from the library to the program.
int main() {
  try {
    heddle::read_npz("absent.npz");
  } catch (const heddle::Error& error) {
    std::cout << error.what() << "\n";
    return error.kind() == heddle::ErrorKind::io ? 0 : 1;
  }
  return 1;
}
