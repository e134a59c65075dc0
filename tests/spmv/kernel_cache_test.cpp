// The cache of compiled kernels returns either the stored image or nothing, whatever happens to its
// files.
#include "spmv/kernel_cache.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "io/temporary_folder.hpp"
#include "support/scoped_environment.hpp"

namespace {

namespace fs = std::filesystem;
using heddle::cuda::KernelCache;
using heddle::cuda::KernelKey;
using Image = std::vector<char>;

KernelKey key_of(int i) {
  return {"kernel " + std::to_string(i), "sm_90", "program " + std::to_string(i * 7919)};
}

Image random_image(unsigned seed, std::size_t bytes) {
  std::mt19937 random(seed);
  Image image(bytes);
  for (char& c : image) c = static_cast<char>(random());
  return image;
}

/// Replaces NVRTC: the image of a key is always the same.
Image compile(const KernelKey& key, std::size_t bytes) {
  return random_image(static_cast<unsigned>(std::hash<std::string>()(key.inputs)), bytes);
}

class KernelCacheTest : public testing::Test {
 protected:
  /// The only image file in the folder.
  fs::path only_file() const {
    fs::path found;
    for (const auto& file : fs::directory_iterator(path)) found = file.path();
    return found;
  }
  std::uintmax_t bytes_used() const {
    std::uintmax_t sum = 0;
    for (const auto& file : fs::directory_iterator(path)) sum += file.file_size();
    return sum;
  }

  TemporaryFolder folder;
  fs::path path = folder / "deep/cache";
};

TEST_F(KernelCacheTest, GivesBackWhatWasStored) {
  KernelCache cache(path);
  EXPECT_FALSE(cache.load(key_of(0)));
  int i = 0;
  for (const std::size_t bytes : {0, 1, 7, 8, 9, 4096, 1000003}) {
    SCOPED_TRACE(bytes);
    const Image image = random_image(11, bytes);
    cache.store(key_of(i), image);
    EXPECT_EQ(cache.load(key_of(i)), image);
    EXPECT_EQ(KernelCache(path).load(key_of(i)), image);
    ++i;
  }
  cache.store(key_of(1), random_image(12, 50));
  EXPECT_EQ(cache.load(key_of(1)), random_image(12, 50));
}

TEST_F(KernelCacheTest, EveryPartOfTheKeyCounts) {
  KernelCache cache(path);
  const KernelKey key{"product", "sm_90", "text"};
  cache.store(key, random_image(1, 100));
  for (const KernelKey& other :
       {KernelKey{"product ", "sm_90", "text"}, KernelKey{"product", "sm_80", "text"},
        KernelKey{"product", "sm_90", "texu"}, KernelKey{"product", "sm_90", "text\n"},
        KernelKey{"product", "sm_90", std::string("text\0", 5)}, KernelKey{"", "", ""}}) {
    EXPECT_FALSE(cache.load(other)) << other.kernel << other.architecture << other.inputs;
  }
  EXPECT_TRUE(cache.load(key));
}

TEST_F(KernelCacheTest, KeysOfEqualHashAreDistinguished) {
  KernelCache cache(path);
  cache.store(key_of(1), random_image(1, 100));
  const fs::path first = only_file();
  const std::string of_first = contents(first);
  fs::remove(first);
  cache.store(key_of(2), random_image(2, 100));
  std::ofstream(only_file(), std::ios::binary) << of_first;
  EXPECT_FALSE(cache.load(key_of(2)));
  cache.store(key_of(2), random_image(2, 100));
  EXPECT_EQ(cache.load(key_of(2)), random_image(2, 100));
}

TEST_F(KernelCacheTest, DamagedFilesCountAsAbsent) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  KernelCache cache(path);
  const Image image = random_image(seed, 333);
  cache.store(key_of(1), image);
  const fs::path file = only_file();
  const std::string good = contents(file);
  const auto expect_absent = [&](const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
    EXPECT_FALSE(cache.load(key_of(1)));
    EXPECT_EQ(cache.list().size(), 1u);
  };
  for (std::size_t at = 0; at < good.size(); ++at) {
    SCOPED_TRACE("flipped at " + std::to_string(at));
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
    expect_absent(bad);
  }
  for (std::size_t length = 0; length < good.size(); ++length) {
    SCOPED_TRACE("cut to " + std::to_string(length));
    expect_absent(good.substr(0, length));
  }
  expect_absent(good + "x");
  expect_absent(std::string(5000, '\xff'));
  cache.store(key_of(1), image);
  EXPECT_EQ(cache.load(key_of(1)), image);
  EXPECT_EQ(contents(file), good);
}

TEST_F(KernelCacheTest, AFolderOrPipeInPlaceOfAFileIsHarmless) {
  KernelCache cache(path);
  cache.store(key_of(1), random_image(1, 10));
  const fs::path file = only_file();
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_FALSE(cache.load(key_of(1)));
  cache.store(key_of(1), random_image(1, 10));
  EXPECT_FALSE(cache.load(key_of(1)));
  fs::remove(file);
  ASSERT_EQ(std::system(("mkfifo " + file.string()).c_str()), 0);
  EXPECT_FALSE(cache.load(key_of(1)));
}

TEST_F(KernelCacheTest, StaysWithinItsBound) {
  const std::uintmax_t bound = 100000;
  KernelCache cache(path, bound);
  for (int i = 0; i < 300; ++i) {
    cache.store(key_of(i), random_image(static_cast<unsigned>(i), 900 + i));
    ASSERT_LE(bytes_used(), bound) << i;
    ASSERT_TRUE(cache.load(key_of(i))) << i;
  }
  EXPECT_GT(bytes_used(), bound / 2);
  cache.store(key_of(999), random_image(1, bound));
  EXPECT_FALSE(cache.load(key_of(999)));
  EXPECT_GT(bytes_used(), bound / 2);
}

TEST_F(KernelCacheTest, TheLeastRecentlyUsedGoFirst) {
  const Image image = random_image(1, 1000);
  {
    KernelCache cache(path, 1 << 20);
    for (int i = 0; i < 20; ++i) cache.store(key_of(i), image);
  }
  // All images were last used long ago, then some of them again.
  for (const auto& file : fs::directory_iterator(path)) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1000));
  }
  const std::set<int> used = {0, 3, 4, 11, 19};
  KernelCache cache(path, 12000);
  for (const int i : used) EXPECT_TRUE(cache.load(key_of(i)));
  cache.store(key_of(20), image);
  std::size_t kept = 0;
  for (int i = 0; i < 20; ++i) {
    const bool there = cache.load(key_of(i)).has_value();
    kept += there;
    EXPECT_TRUE(there || !used.contains(i)) << i;
  }
  EXPECT_LT(kept, 12u);
  EXPECT_LE(bytes_used(), 12000u);
}

TEST_F(KernelCacheTest, WithoutAUsableFolderKeepsNothing) {
  const std::string file = folder.write("file", "text");
  for (const fs::path& bad : {fs::path(), fs::path(file), fs::path(file) / "below",
                              fs::path("/dev/null"), fs::path("/proc/heddle")}) {
    SCOPED_TRACE(bad);
    KernelCache cache(bad);
    cache.store(key_of(1), random_image(1, 100));
    EXPECT_FALSE(cache.load(key_of(1)));
    EXPECT_TRUE(cache.list().empty());
    EXPECT_EQ(cache.clear().files, 0u);
  }
  EXPECT_EQ(contents(file), "text");
}

TEST_F(KernelCacheTest, ListsAndClearsItsOwnFilesOnly) {
  KernelCache cache(path);
  for (int i = 0; i < 3; ++i) cache.store(key_of(i), random_image(1, 100 * i + 1));
  const std::set<std::string> foreign = {"notes.txt", ".hidden", "abc.kernel",
                                         std::string(32, 'g') + ".kernel"};
  for (const std::string& name : foreign) std::ofstream(path / name) << "mine";
  // A file left by a process that was killed.
  std::ofstream(path / ("." + std::string(32, 'a') + ".kernel.77-0.part")) << "half";

  const auto kernels = cache.list();
  ASSERT_EQ(kernels.size(), 3u);
  std::set<std::string> names;
  for (const auto& kernel : kernels) {
    names.insert(kernel.kernel);
    EXPECT_EQ(kernel.architecture, "sm_90");
    EXPECT_GT(kernel.bytes, 0u);
  }
  EXPECT_EQ(names, (std::set<std::string>{"kernel 0", "kernel 1", "kernel 2"}));

  EXPECT_EQ(cache.clear().files, 4u);
  EXPECT_TRUE(cache.list().empty());
  std::set<std::string> left;
  for (const auto& file : fs::directory_iterator(path)) left.insert(file.path().filename());
  EXPECT_EQ(left, foreign);
}

TEST_F(KernelCacheTest, RemovesWhatAKilledProcessLeft) {
  KernelCache(path).store(key_of(0), random_image(1, 10));
  const fs::path old = path / ("." + std::string(32, 'a') + ".kernel.77-0.part");
  const fs::path fresh = path / ("." + std::string(32, 'b') + ".kernel.77-0.part");
  for (const fs::path& file : {old, fresh}) std::ofstream(file) << "half";
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  KernelCache(path).store(key_of(1), random_image(1, 10));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh));
}

/// A length claimed in a file causes no allocation of that size.
TEST_F(KernelCacheTest, ClaimsOfFilesAreNotBelieved) {
  KernelCache cache(path);
  const Image image = random_image(1, 1000);
  cache.store(key_of(1), image);
  const fs::path file = only_file();
  const std::string good = contents(file);
  constexpr std::uint64_t huge = std::uint64_t(1) << 42;
  // The lengths of key and image are the third and fourth numbers.
  for (const std::size_t at : {16U, 24U}) {
    std::string bad = good;
    std::uint64_t length = 0;
    std::memcpy(&length, bad.data() + at, sizeof length);
    length += huge;
    std::memcpy(bad.data() + at, &length, sizeof length);
    std::ofstream(file, std::ios::binary) << bad;
    std::error_code too_large;
    fs::resize_file(file, good.size() + huge, too_large);
    if (too_large) GTEST_SKIP() << too_large.message();
    EXPECT_FALSE(cache.load(key_of(1)));
    EXPECT_EQ(cache.list().size(), 1U);
  }
}

/// Kernels are machine code, which runs as this user.
TEST_F(KernelCacheTest, FoldersThatOthersMayWriteAreNotUsed) {
  KernelCache cache(path);
  const Image image = random_image(1, 100);
  cache.store(key_of(1), image);
  EXPECT_EQ(cache.why_unsafe(), "");
  for (const auto mode : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(path, mode, fs::perm_options::add);
    EXPECT_NE(cache.why_unsafe().find("chmod go-w"), std::string::npos) << cache.why_unsafe();
    EXPECT_FALSE(cache.load(key_of(1)));
    cache.store(key_of(2), image);
    EXPECT_EQ(cache.list().size(), 1U);
    fs::permissions(path, mode, fs::perm_options::remove);
  }
  EXPECT_EQ(cache.load(key_of(1)), image);
  // A file that others may write to is not used either; it is replaced by one that they may not.
  fs::permissions(only_file(), fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(cache.load(key_of(1)));
  cache.store(key_of(1), image);
  EXPECT_EQ(cache.load(key_of(1)), image);
  if (geteuid() != 0) return;
  ASSERT_EQ(chown(path.c_str(), 12345, 12345), 0);
  EXPECT_NE(cache.why_unsafe().find("another user (12345)"), std::string::npos);
  EXPECT_FALSE(cache.load(key_of(1)));
}

TEST_F(KernelCacheTest, ARelativeFolderStaysWhereItWas) {
  const fs::path before = fs::current_path();
  fs::current_path(folder / "");
  KernelCache cache("here");
  fs::current_path(before);
  cache.store(key_of(1), random_image(1, 10));
  EXPECT_TRUE(fs::is_directory(folder / "here"));
}

/// Looks up or "compiles" random keys while eviction goes on; false if an image is ever wrong.
bool use(KernelCache& cache, unsigned seed) {
  std::mt19937 random(seed);
  for (int i = 0; i < 300; ++i) {
    const KernelKey key = key_of(static_cast<int>(random() % 24));
    const Image right = compile(key, 500 + key.inputs.size() * 100);
    if (const auto found = cache.load(key)) {
      if (*found != right) return false;
    } else {
      cache.store(key, right);
    }
    if (random() % 100 == 0) cache.list();
    if (random() % 200 == 0) cache.clear();
  }
  return true;
}

TEST_F(KernelCacheTest, ProcessesShareAFolder) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::vector<pid_t> children;
  for (unsigned i = 0; i < 6; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      bool right = false;
      try {
        KernelCache cache(path, 20000);
        right = use(cache, seed + i);
      } catch (...) {
        right = false;
      }
      _exit(right ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  for (const auto& file : fs::directory_iterator(path)) {
    EXPECT_NE(file.path().extension(), ".part");
  }
}

TEST_F(KernelCacheTest, ThreadsShareACache) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  KernelCache cache(path, 20000);
  std::array<bool, 4> right{};
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < right.size(); ++i) {
      threads.emplace_back([&, i] { right[i] = use(cache, seed + i); });
    }
  }
  for (const bool r : right) EXPECT_TRUE(r);
}

TEST(KernelCacheFolder, IsWhereTheEnvironmentSays) {
  const auto folder = [](const char* own, const char* caches, const char* home) {
    const heddle::test::ScopedEnvironment first("HEDDLE_CACHE_DIR", own),
        second("XDG_CACHE_HOME", caches), third("HOME", home);
    return heddle::cuda::kernel_cache_folder();
  };
  EXPECT_EQ(folder("/own", "/caches", "/home/me"), "/own");
  EXPECT_EQ(folder("", "/caches", "/home/me"), "/caches/heddle");
  EXPECT_EQ(folder(nullptr, "caches", "/home/me"), "/home/me/.cache/heddle");
  EXPECT_EQ(folder(nullptr, nullptr, "/home/me"), "/home/me/.cache/heddle");
  EXPECT_EQ(folder(nullptr, nullptr, ""), "");
  EXPECT_EQ(folder(nullptr, nullptr, nullptr), "");
}

}  // namespace
