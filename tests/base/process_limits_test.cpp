// The memory and cores that control groups and the limits of a process leave.
#include "base/cores.hpp"
#include "base/memory_limits.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "heddle/array.hpp"
#include "heddle/error.hpp"
#include "io/temporary_folder.hpp"
#include "support/child.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

constexpr long long no_limit = std::numeric_limits<long long>::max();

/// A machine's folders, as far as they describe control groups.
struct Machine {
  TemporaryFolder folder;

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path place = std::filesystem::path(folder / "") / path;
    std::filesystem::create_directories(place.parent_path());
    std::ofstream(place) << text;
  }
  void mount(const std::string& line) const { write("proc/self/mountinfo", line + "\n"); }
  std::string root() const {
    std::string name = folder / "";
    name.pop_back();
    return name;
  }
  long long leaves() const { return control_groups_leave(root()); }
  double cores() const { return cores_of_control_groups(root()); }
};

const std::string version_2 =
    "21 20 0:19 / /proc rw - proc proc rw\n"
    "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate";

TEST(MemoryLimits, NoGroupsAreNoLimit) { EXPECT_EQ(Machine().leaves(), no_limit); }

TEST(MemoryLimits, Version2UpTheHierarchy) {
  const Machine machine;
  machine.mount(version_2);
  machine.write("proc/self/cgroup", "0::/user.slice/job\n");
  machine.write("sys/fs/cgroup/memory.stat", "anon 5\n");
  EXPECT_EQ(machine.leaves(), no_limit);
  const std::string job = "sys/fs/cgroup/user.slice/job/", slice = "sys/fs/cgroup/user.slice/";
  machine.write(job + "memory.max", "max\n");
  machine.write(job + "memory.current", "700\n");
  EXPECT_EQ(machine.leaves(), no_limit);
  machine.write(job + "memory.max", "1000\n");
  EXPECT_EQ(machine.leaves(), 300);
  // Cached pages of files can be dropped.
  machine.write(job + "memory.stat", "anon 500\ninactive_file 60\nactive_file 40\nfile 150\n");
  EXPECT_EQ(machine.leaves(), 400);
  machine.write(slice + "memory.max", "2000\n");
  machine.write(slice + "memory.current", "1950\n");
  EXPECT_EQ(machine.leaves(), 50);
  machine.write(slice + "memory.current", "2100\n");
  EXPECT_EQ(machine.leaves(), 0);
}

TEST(MemoryLimits, Version2OfAContainer) {
  const Machine machine;
  machine.mount(version_2);
  machine.write("proc/self/cgroup", "0::/../seen/from/elsewhere\n");
  machine.write("sys/fs/cgroup/memory.max", "5000\n");
  machine.write("sys/fs/cgroup/memory.current", "1000\n");
  EXPECT_EQ(machine.leaves(), 4000);
}

TEST(MemoryLimits, Version1) {
  const Machine machine;
  machine.mount(
      "31 24 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
      "32 24 0:28 /docker/7 /sys/fs/cgroup/memory ro,nosuid master:3 - cgroup cgroup rw,memory");
  machine.write("proc/self/cgroup", "5:cpu,cpuacct:/docker/7\n4:memory:/docker/7\n0::/\n");
  machine.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  machine.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "600\n");
  EXPECT_GT(machine.leaves(), 1LL << 60);
  machine.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000\n");
  machine.write("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 100\n");
  EXPECT_EQ(machine.leaves(), 500);
}

TEST(CoreLimits, NoGroupsAreNoLimit) { EXPECT_TRUE(std::isinf(Machine().cores())); }

TEST(CoreLimits, Version2UpTheHierarchy) {
  const Machine machine;
  machine.mount(version_2);
  machine.write("proc/self/cgroup", "0::/user.slice/job\n");
  machine.write("sys/fs/cgroup/user.slice/job/cpu.max", "max 100000\n");
  EXPECT_TRUE(std::isinf(machine.cores()));
  machine.write("sys/fs/cgroup/user.slice/cpu.max", "250000 100000\n");
  EXPECT_EQ(machine.cores(), 2.5);
  machine.write("sys/fs/cgroup/user.slice/job/cpu.max", "50000 100000\n");
  EXPECT_EQ(machine.cores(), 0.5);
}

TEST(CoreLimits, Version1) {
  const Machine machine;
  machine.mount("31 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct");
  machine.write("proc/self/cgroup", "5:cpu,cpuacct:/docker/7\n4:memory:/docker/7\n0::/\n");
  const std::string group = "sys/fs/cgroup/cpu,cpuacct/";
  machine.write(group + "cpu.cfs_quota_us", "-1\n");
  machine.write(group + "cpu.cfs_period_us", "100000\n");
  EXPECT_TRUE(std::isinf(machine.cores()));
  machine.write(group + "cpu.cfs_quota_us", "150000\n");
  EXPECT_EQ(machine.cores(), 1.5);
  machine.write(group + "docker/7/cpu.cfs_quota_us", "100000\n");
  machine.write(group + "docker/7/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(machine.cores(), 1);
}

TEST(MemoryLimits, OfTheProcess) {
  if (addresses_are_reserved) GTEST_SKIP() << "sanitizers reserve more addresses";
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    const int status = status_of_child([&] {
      constexpr long long most = 3LL << 30;
      if (!limit(resource, most)) return 1;
      const long long left = available_host_memory();
      if (left <= 0 || left >= most) return 2;
      try {
        const Array<double> array(std::size_t(most) / sizeof(double));
        return 3;
      } catch (const Error& error) {
        return error.kind() == ErrorKind::memory ? 0 : 4;
      }
    });
    EXPECT_EQ(status, 0);
  }
}

TEST(MemoryLimits, MoreThanTheMachineHasIsNotAskedFor) {
  const auto bytes = static_cast<std::size_t>(available_host_memory());
  const auto expect_refused = [](std::size_t size) {
    try {
      const Array<double> array(size);
      ADD_FAILURE() << "made";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::memory);
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  };
  expect_refused(2 * bytes / sizeof(double));
  expect_refused(std::numeric_limits<std::size_t>::max() / sizeof(double) + 2);
}

}  // namespace
