// Programs over an entry: its text in front.
#pragma once

#include <string>

#include "heddle/entry_text.hpp"
#include "kernel_compiler.hpp"

namespace heddle::cuda {

/// A program that begins with the headers of an entry, the user's own text among them. Throws as
/// `entry_header`.
KernelSource program_over(const EntryText& entry, std::string name, const std::string& text);

}  // namespace heddle::cuda
