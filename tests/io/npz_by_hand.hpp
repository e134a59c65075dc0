// SciPy's sparse files, assembled byte by byte.
#pragma once

#include <gtest/gtest.h>
#include <zip.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "temporary_folder.hpp"

/// A NumPy array of version 1, written by hand.
template <class T>
std::string npy(const std::string& type, const std::string& shape, const std::vector<T>& items,
                const std::string& fortran = "False") {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
  std::string bytes("\x93NUMPY\x01\0", 8);
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  bytes += header;
  std::string raw(items.size() * sizeof(T), '\0');
  if (!items.empty()) std::memcpy(raw.data(), items.data(), raw.size());
  return bytes + raw;
}

using Members = std::vector<std::pair<std::string, std::string>>;

inline std::string archive(const TemporaryFolder& folder, const Members& members, int method) {
  const std::string path = folder / "hand.npz";
  zip_t* zip = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  for (const auto& [name, bytes] : members) {
    zip_source_t* source = zip_source_buffer(zip, bytes.data(), bytes.size(), 0);
    const auto index = zip_file_add(zip, name.c_str(), source, 0);
    zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), method, 0);
  }
  EXPECT_EQ(zip_close(zip), 0);
  return path;
}

/// [0 2 0; 1 0 4], with the second row unsorted and containing a duplicate.
inline Members small_csr() {
  return {{"indices.npy", npy<std::int64_t>("<i8", "(4,)", {1, 2, 0, 2})},
          {"indptr.npy", npy<std::int32_t>("<i4", "(3,)", {0, 1, 4})},
          {"format.npy", npy<char>("|S3", "()", {'c', 's', 'r'})},
          {"shape.npy", npy<std::int64_t>("<i8", "(2,)", {2, 3})},
          {"data.npy", npy<float>("<f4", "(4,)", {2, 3, 1, 1})},
          {"_is_array.npy", npy<char>("|b1", "()", {1})}};
}
