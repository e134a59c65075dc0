// Runs in both builds.
// Ctrl-C: status 130, no half-written file, and an older file of that name unchanged.
#include <chrono>
#include <thread>

#include "cli/run.hpp"
#include "heddle/device.hpp"
#include "support/where_it_runs.hpp"

namespace {

class Interrupt : public CommandLine {
 protected:
  /// True if `condition` became true before the program ended; waits at most 60 s.
  template <class Condition>
  static bool wait_for(const Process& process, const Condition& condition) {
    for (int i = 0; i < 60000 && !process.has_ended(); ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  bool is_writing() const {
    for (const std::string& name : files()) {
      if (name.ends_with(".part")) return true;
    }
    return false;
  }
};

TEST_F(Interrupt, WhileWriting) {
  HEDDLE_RELEASE_ONLY();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    for (const char* name : {"a.mtx", "a.mtx.gz", "a.npz"}) {
      SCOPED_TRACE(std::string(name) + ", signal " + std::to_string(signal));
      folder.write(name, "old");
      // Far more than can be written before the signal arrives.
      Process process(HEDDLE_PROGRAM, {"generate", "poisson", "--size", "1000000", "-o", name},
                      folder / "");
      ASSERT_TRUE(wait_for(process, [&] { return is_writing(); }));
      process.signal(signal);
      const Result result = process.wait();
      EXPECT_EQ(result.status, 130);
      EXPECT_EQ(result.out + result.error, "");
      EXPECT_EQ(files(), Names{name});
      EXPECT_EQ(text_of(name), "old");
      std::filesystem::remove(folder / name);
    }
  }
}

TEST_F(Interrupt, WhileIterating) {
  HEDDLE_RELEASE_ONLY();
  ASSERT_EQ(run({"generate", "poisson", "--size", "30000", "-o", "a.mtx", "-q"}).status, 0);
  // Takes minutes unless it is ended.
  Process process(HEDDLE_PROGRAM,
                  {"solve", "a.mtx", "--repetitions", "100000", "--preconditioner", "none", "-o",
                   "x.mtx", "--history", "h.csv"},
                  folder / "");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  process.signal(SIGINT);
  const Result result = process.wait();
  EXPECT_EQ(result.status, 130) << result.out << result.error;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(files(), Names{"a.mtx"});
}

TEST_F(Interrupt, WhileIteratingOnAGpu) {
  HEDDLE_RELEASE_ONLY();
  const std::string why = heddle::Device::why_no_gpu();
  if (!why.empty()) GTEST_SKIP() << why;
  ASSERT_EQ(run({"generate", "poisson", "--size", "30000", "-o", "a.mtx", "-q"}).status, 0);
  for (const char* plan : {"loop=stepped", "loop=graph", "loop=replay", "loop=persistent"}) {
    SCOPED_TRACE(plan);
    Process process(HEDDLE_PROGRAM,
                    {"solve", "a.mtx", "--device", "cuda", "--plan", std::string("Sl-32,") + plan,
                     "--repetitions", "100000", "--preconditioner", "none", "-o", "x.mtx",
                     "--history", "h.csv"},
                    folder / "");
    std::this_thread::sleep_for(std::chrono::seconds(5));
    EXPECT_FALSE(process.has_ended());
    const auto asked = std::chrono::steady_clock::now();
    process.signal(SIGINT);
    const Result result = process.wait();
    EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds(20));
    EXPECT_EQ(result.status, 130) << result.out << result.error;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(files(), Names{"a.mtx"});
  }
}

TEST_F(Interrupt, IsIgnoredWhereTheParentIgnoresIt) {
  const Result result = shell(
      "trap '' INT HUP; $heddle generate poisson --size 300000 -q -o a.mtx & id=$!;"
      " sleep 0.05; kill -INT $id; kill -HUP $id; wait $id");
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(files(), Names{"a.mtx"});
}

}  // namespace
