// Claims in a file cost neither memory nor time: endless sources, and sizes beyond the available
// memory.
#include <gtest/gtest.h>
#include <malloc.h>
#include <zip.h>

#include <algorithm>

#include "heddle/matrix_market.hpp"
#include "heddle/npz.hpp"
#include "io/matrix_market_read.hpp"
#include "support/child.hpp"
#include "temporary_folder.hpp"

namespace {

using namespace heddle;

/// A beginning, followed by the same bytes forever.
class Endless final : public io::ByteSource {
 public:
  Endless(std::string begin, std::string again)
      : text_(std::move(begin)), again_(std::move(again)) {}

  std::size_t read(char* to, std::size_t bytes) override {
    while (text_.size() < bytes) text_ += again_;
    const std::size_t count = text_.copy(to, bytes);
    text_.erase(0, count);
    read_ += count;
    if (read_ > (std::size_t(1) << 29)) throw std::runtime_error("read on and on");
    return count;
  }

 private:
  std::string text_;
  std::string again_;
  std::size_t read_ = 0;
};

void expect_refused(const std::string& begin, const std::string& again, ErrorKind kind,
                    const std::string& message) {
  SCOPED_TRACE(message);
  for (const int threads : {1, 2}) {
    try {
      io::read_matrix_market("m", std::make_unique<Endless>(begin, again), Device::cpu(threads));
      ADD_FAILURE() << "was read";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind);
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  }
}

const std::string banner = "%%MatrixMarket matrix coordinate real general\n";

TEST(Promises, ReadingEndsWithTheEntriesThatWerePromised) {
  expect_refused(banner + "3 3 2\n", "1 1 1\n", ErrorKind::malformed_file,
                 "m:5: one entry more than the 2 that line 2 promises");
}

TEST(Promises, LinesHaveAnEnd) {
  const std::string message = "a line of more than ";
  expect_refused("", std::string(4096, '%'), ErrorKind::malformed_file, "m:1: " + message);
  expect_refused(banner + "3 3 2\n", std::string(4096, '\0'), ErrorKind::malformed_file, message);
}

TEST(Promises, EntriesFitTheMemory) {
  if (Device::cpu().available_memory() > 150LL << 30) GTEST_SKIP() << "they fit here";
  expect_refused(banner + "3 3 9999999999\n", "1 1 1\n", ErrorKind::memory,
                 "m:2: 9999999999 entries take at least 149.0 GiB, available are ");
  // A file too short for its entries says so.
  const TemporaryFolder folder;
  const std::string path = folder.write("short.mtx", banner + "3 3 9999999999\n1 1 1\n");
  try {
    read_scalar_matrix(path);
    ADD_FAILURE() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::malformed_file) << error.what();
  }
}

/// A NumPy array of zeros.
std::string zeros(const std::string& type, std::size_t bytes_of_item, std::size_t items) {
  const std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" +
                             std::to_string(items) + ",), }\n";
  std::string bytes("\x93NUMPY\x01\0", 8);
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  return bytes + header + std::string(items * bytes_of_item, '\0');
}

TEST(Promises, ArraysThatUnpackToMoreThanTheMemoryAreRefused) {
  if (test::addresses_are_reserved) GTEST_SKIP() << "sanitizers reserve more addresses";
  const TemporaryFolder folder;
  const std::string path = folder / "zeros.npz";
  constexpr std::size_t rows = 8'000'000;
  // Also in a process of its own: memory freed afterwards could be used for reading.
  const int written = test::status_of_child([&] {
    const std::string shape = zeros("<i8", 8, 2), offsets = zeros("<i4", 4, rows + 1),
                      none = zeros("<i4", 4, 0);
    std::string format = zeros("|S3", 3, 1);
    format.replace(format.size() - 3, 3, "csr");
    std::string sizes = shape;
    for (int i = 0; i < 4; ++i) {
      sizes[sizes.size() - 16 + static_cast<std::size_t>(i)] = static_cast<char>(rows >> (8 * i));
    }
    zip_t* zip = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    const std::pair<const char*, const std::string*> members[] = {{"format.npy", &format},
                                                                  {"shape.npy", &sizes},
                                                                  {"indptr.npy", &offsets},
                                                                  {"indices.npy", &none},
                                                                  {"data.npy", &none}};
    for (const auto& [name, bytes] : members) {
      zip_file_add(zip, name, zip_source_buffer(zip, bytes->data(), bytes->size(), 0), 0);
    }
    return zip_close(zip);
  });
  ASSERT_EQ(written, 0);
  const int status = test::status_of_child([&] {
    constexpr rlim_t allowance = 40 << 20;  // the offsets take 64 MB
    malloc_trim(0);                         // memory freed by earlier tests could be used, too
    rlim_t in_use = 0;
    std::ifstream("/proc/self/statm") >> in_use;
    in_use *= static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
    if (!test::limit(RLIMIT_AS, in_use + allowance)) return 1;
    try {
      read_npz(path, Device::cpu(1));
      return 2;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::memory ? 0 : 3;
    }
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
