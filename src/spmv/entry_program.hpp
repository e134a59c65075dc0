// Programs over an entry: they begin with its text, and check what the host knows of it.
#pragma once

#include <string>

#include "heddle/detail/product_cuda.hpp"
#include "heddle/entry_text.hpp"
#include "kernel_compiler.hpp"

namespace heddle::cuda {

/// A program that begins with the headers of an entry, including the user's own text. Throws like
/// `entry_header`.
KernelSource program_over(const EntryText& entry, std::string name, const std::string& text);

/// Assertions, placed after `Plan`, that a program's `Plan::entry` has the sizes of the host's.
std::string entry_assertions(const EntryShape& shape);

}  // namespace heddle::cuda
