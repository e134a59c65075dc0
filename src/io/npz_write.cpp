#include <zip.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <vector>

#include "heddle/npz.hpp"
#include "heddle/tools/output_file.hpp"
#include "npy.hpp"

namespace heddle {

namespace {

/// The file that libzip writes, and its answers to libzip. No exception may pass through libzip.
struct Target {
  explicit Target(const std::string& path) : file(path) { zip_error_init(&error); }

  OutputFile file;
  zip_error_t error;
  std::exception_ptr failure;

  static zip_int64_t call(void* state, void* data, zip_uint64_t length, zip_source_cmd_t command) {
    auto& target = *static_cast<Target*>(state);
    try {
      return target.answer(data, length, command);
    } catch (...) {
      target.failure = std::current_exception();
      zip_error_set(&target.error, ZIP_ER_WRITE, 0);
      return -1;
    }
  }

 private:
  zip_int64_t answer(void* data, zip_uint64_t length, zip_source_cmd_t command) {
    switch (command) {
      case ZIP_SOURCE_WRITE:
        file.write({static_cast<const char*>(data), length});
        return static_cast<zip_int64_t>(length);
      case ZIP_SOURCE_TELL_WRITE:
        return file.position();
      case ZIP_SOURCE_SEEK_WRITE: {
        end_ = std::max(end_, static_cast<zip_uint64_t>(file.position()));
        const auto to = zip_source_seek_compute_offset(static_cast<zip_uint64_t>(file.position()),
                                                       end_, data, length, &error);
        if (to < 0) return -1;
        file.seek(to);
        return 0;
      }
      case ZIP_SOURCE_STAT:
        zip_stat_init(static_cast<zip_stat_t*>(data));
        return sizeof(zip_stat_t);
      case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&error, data, length);
      case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(
            ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL,
            ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, ZIP_SOURCE_BEGIN_WRITE,
            ZIP_SOURCE_COMMIT_WRITE, ZIP_SOURCE_ROLLBACK_WRITE, ZIP_SOURCE_SEEK_WRITE,
            ZIP_SOURCE_TELL_WRITE, ZIP_SOURCE_WRITE, ZIP_SOURCE_REMOVE, -1);
      default:
        return 0;  // nothing to read, to begin or to undo: OutputFile sees to that
    }
  }

  zip_uint64_t end_ = 0;
};

/// 1 January 1980, the first day that a ZIP file can name.
constexpr zip_uint16_t first_day = (1 << 5) | 1;

/// One array to be written: its header and its numbers, which libzip reads at the end.
struct NpyMember {
  const char* name;
  std::string header;
  const void* data;
  std::size_t bytes;
};

void write_members(const std::string& path, const std::vector<NpyMember>& members,
                   NpzCompression compression) {
  Target target(path);
  zip_error_t error;
  zip_error_init(&error);
  const auto fail = [&](zip_error_t* why) {
    if (target.failure) std::rethrow_exception(target.failure);
    throw Error(ErrorKind::io, path + ": cannot write: " + zip_error_strerror(why));
  };
  zip_source_t* source = zip_source_function_create(Target::call, &target, &error);
  if (source == nullptr) fail(&error);
  zip_t* archive = zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &error);
  if (archive == nullptr) {
    zip_source_free(source);
    fail(&error);
  }
  std::unique_ptr<zip_t, decltype(&zip_discard)> discard(archive, zip_discard);
  const int method = compression == NpzCompression::deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE;
  for (const NpyMember& member : members) {
    zip_buffer_fragment_t fragments[2] = {
        {reinterpret_cast<zip_uint8_t*>(const_cast<char*>(member.header.data())),
         member.header.size()},
        {static_cast<zip_uint8_t*>(const_cast<void*>(member.data)), member.bytes}};
    zip_source_t* contents =
        zip_source_buffer_fragment(archive, fragments, member.bytes == 0 ? 1 : 2, 0);
    if (contents == nullptr) fail(zip_get_error(archive));
    const zip_int64_t index = zip_file_add(archive, member.name, contents, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(contents);
      fail(zip_get_error(archive));
    }
    const auto place = static_cast<zip_uint64_t>(index);
    if (zip_set_file_compression(archive, place, method, 0) != 0) fail(zip_get_error(archive));
    // Members carry no clock time, so that equal matrices make equal files.
    if (zip_file_set_dostime(archive, place, 0, first_day, 0) != 0) fail(zip_get_error(archive));
  }
  if (zip_close(archive) != 0) fail(zip_get_error(archive));
  [[maybe_unused]] const auto* closed = discard.release();
  target.file.commit();
}

}  // namespace

void write_npz(const std::string& path, const BlockMatrixView& matrix, NpzCompression compression,
               Progress* progress) {
  if (progress != nullptr) progress->report(-1, "writing");
  const PatternView& pattern = matrix.pattern;
  const auto entries = static_cast<std::size_t>(pattern.entries());
  const auto rows = static_cast<std::size_t>(pattern.rows);
  // Narrow offsets if they suffice: SciPy needs indices and offsets of one width.
  const bool wide = pattern.entries() > std::numeric_limits<std::int32_t>::max();
  std::vector<std::int64_t> offsets64(wide ? rows + 1 : 0), column64(wide ? entries : 0);
  std::vector<std::int32_t> offsets32(wide ? 0 : rows + 1);
  for (std::size_t row = 1; row <= rows; ++row) {
    const Offset offset = pattern.offsets[static_cast<Offset>(row)];
    wide ? offsets64[row] = offset : offsets32[row] = static_cast<std::int32_t>(offset);
  }
  if (wide) std::copy_n(pattern.column, entries, column64.begin());
  const std::string integer = wide ? "<i8" : "<i4";
  const std::size_t width = wide ? 8 : 4;
  const void* offsets = wide ? static_cast<const void*>(offsets64.data())
                             : static_cast<const void*>(offsets32.data());
  const void* column =
      wide ? static_cast<const void*>(column64.data()) : static_cast<const void*>(pattern.column);

  const bool is_csr = matrix.block_rows == 1 && matrix.block_columns == 1;
  const std::int64_t shape[2] = {std::int64_t(pattern.rows) * matrix.block_rows,
                                 std::int64_t(pattern.columns) * matrix.block_columns};
  const auto count = static_cast<std::int64_t>(entries);
  std::vector<std::int64_t> data_shape{count};
  if (!is_csr) data_shape = {count, matrix.block_rows, matrix.block_columns};
  const std::string number = matrix.is_complex ? "<c16" : "<f8";
  const std::size_t value_bytes = entries * static_cast<std::size_t>(matrix.block_rows) *
                                  static_cast<std::size_t>(matrix.block_columns) *
                                  (matrix.is_complex ? 16 : 8);
  write_members(path,
                {{"indices.npy", io::npy_header(integer, {count}), column, entries * width},
                 {"indptr.npy", io::npy_header(integer, {std::int64_t(pattern.rows) + 1}), offsets,
                  (rows + 1) * width},
                 {"format.npy", io::npy_header("|S3", {}), is_csr ? "csr" : "bsr", 3},
                 {"shape.npy", io::npy_header("<i8", {2}), shape, sizeof(shape)},
                 {"data.npy", io::npy_header(number, data_shape), matrix.values, value_bytes}},
                compression);
}

}  // namespace heddle
