// Tables of numbers in other formats than Matrix Market: NumPy's .npy, and plain text.
#pragma once

#include <string>
#include <string_view>

#include "heddle/matrix_market.hpp"
#include "line_blocks.hpp"

namespace heddle::io {

/// True if a file with these first bytes is a text of numbers, as numpy.savetxt writes it.
bool begins_as_text_of_numbers(std::string_view first_bytes);

/// An array of one or two dimensions, in either order of numbers and bytes. Throws `Error`, with
/// `name` in front, also for bytes after its last number.
ScalarField read_npy_field(const std::string& name, ByteSource& source, const Device& device);

/// One row a line: numbers separated by blanks, commas or semicolons; complex ones as 1+2j, also in
/// parentheses; # or % begins a comment. Throws `Error` with "name:line: " in front.
ScalarField read_text_field(const std::string& name, std::unique_ptr<ByteSource> source,
                            const Device& device, Progress* progress);

/// True if the path is not a regular file: a pipe, a device, /dev/stdout. Its suffix says nothing.
bool is_special_file(const std::string& path);

/// Throws `Error` (usage), `option` in front, unless the name gives the format of a field: it ends
/// in .mtx, .mtx.gz, .npy, .txt or .txt.gz, or is that of a special file.
void check_field_path(const std::string& option, const std::string& path);

}  // namespace heddle::io
