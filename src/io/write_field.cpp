// Fields of numbers as Matrix Market, NumPy and text files.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "field_files.hpp"
#include "heddle/error.hpp"
#include "heddle/matrix_market.hpp"
#include "heddle/tools/output_file.hpp"
#include "heddle/tools/team.hpp"
#include "npy.hpp"
#include "text_writer.hpp"

namespace heddle {

namespace {

constexpr long long numbers_a_chunk = 8192;

int team_of(const ScalarFieldView& field) {
  return team_size(Device::cpu().stream(), field.rows * field.columns);
}

void write_market(const std::string& path, const ScalarFieldView& field, Progress* progress) {
  io::TextWriter writer(path, team_of(field), progress);
  writer.write(std::string("%%MatrixMarket matrix array ") +
               (field.is_complex ? "complex" : "real") + " general\n" + std::to_string(field.rows) +
               ' ' + std::to_string(field.columns) + '\n');
  const int scalars = field.is_complex ? 2 : 1;
  writer.write_ranges(field.rows * field.columns, numbers_a_chunk,
                      [&](long long begin, long long end, std::string& text) {
                        for (long long i = begin; i < end; ++i) {
                          const Offset row = i % field.rows, column = i / field.rows;
                          const double* const value =
                              field.values + (row * field.columns + column) * scalars;
                          io::append_number(text, value[0]);
                          if (field.is_complex) io::append_number(text += ' ', value[1]);
                          text += '\n';
                        }
                      });
  writer.commit();
}

/// The number as NumPy and Python read it.
void append_complex(std::string& text, const double* value) {
  io::append_number(text, value[0]);
  if (!std::signbit(value[1])) text += '+';
  io::append_number(text, value[1]);
  text += 'j';
}

void write_text(const std::string& path, const ScalarFieldView& field, Progress* progress) {
  io::TextWriter writer(path, team_of(field), progress);
  const Offset rows_a_chunk =
      std::max<Offset>(numbers_a_chunk / std::max<Offset>(field.columns, 1), 1);
  writer.write_ranges(field.rows, rows_a_chunk,
                      [&](long long begin, long long end, std::string& text) {
                        for (long long i = begin * field.columns; i < end * field.columns; ++i) {
                          if (field.is_complex) {
                            append_complex(text, field.values + 2 * i);
                          } else {
                            io::append_number(text, field.values[i]);
                          }
                          text += (i + 1) % field.columns == 0 ? '\n' : ' ';
                        }
                      });
  writer.commit();
}

/// One column is an array of one dimension, like NumPy's vectors.
void write_npy(const std::string& path, const ScalarFieldView& field) {
  OutputFile file(path);
  std::vector<std::int64_t> shape{field.rows};
  if (field.columns != 1) shape.push_back(field.columns);
  file.write(io::npy_header(field.is_complex ? "<c16" : "<f8", shape));
  const auto scalars =
      static_cast<std::size_t>(field.rows * field.columns) * (field.is_complex ? 2 : 1);
  const std::string_view bytes{reinterpret_cast<const char*>(field.values),
                               scalars * sizeof(double)};
  constexpr std::size_t portion = std::size_t(1) << 17;  // numbers that a buffer takes
  for (std::size_t at = 0; at < bytes.size(); at += portion) file.write(bytes.substr(at, portion));
  file.commit();
}

}  // namespace

bool io::is_special_file(const std::string& path) {
  std::error_code none;
  return named_descriptor(path) >= 0 ||
         std::filesystem::is_other(std::filesystem::status(path, none));
}

void io::check_field_path(const std::string& option, const std::string& path) {
  for (const char* const end : {".mtx", ".mtx.gz", ".npy", ".txt", ".txt.gz"}) {
    if (path.ends_with(end)) return;
  }
  if (is_special_file(path)) return;
  throw Error(ErrorKind::usage, option + (option.empty() ? "" : ": ") + io::printable(path) +
                                    " does not end in .mtx, .mtx.gz, .npy, .txt or .txt.gz");
}

void write_scalar_field(const std::string& path, const ScalarFieldView& field, Progress* progress) {
  io::check_field_path("", path);
  if (path.ends_with(".npy")) return write_npy(path, field);
  const bool is_text = path.ends_with(".txt") || path.ends_with(".txt.gz");
  is_text ? write_text(path, field, progress) : write_market(path, field, progress);
}

}  // namespace heddle
