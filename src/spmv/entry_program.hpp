// Programs over an entry: its text in front, and what the host knows of it checked.
#pragma once

#include <string>

#include "heddle/detail/product_cuda.hpp"
#include "heddle/entry_text.hpp"
#include "kernel_compiler.hpp"

namespace heddle::cuda {

/// A program that begins with the headers of an entry, the user's own text among them. Throws as
/// `entry_header`.
KernelSource program_over(const EntryText& entry, std::string name, const std::string& text);

/// Assertions that a program's `Plan::entry` has the sizes of the host's, to stand behind `Plan`.
std::string entry_assertions(const EntryShape& shape);

}  // namespace heddle::cuda
