// Runs in the release.
// Programs become images for GPUs that need not be present. Skips without NVRTC.
#include "spmv/kernel_compiler.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "io/temporary_folder.hpp"
#include "spmv/embedded_headers.hpp"
#include "spmv/nvrtc.hpp"

namespace {

namespace fs = std::filesystem;
using heddle::Error;
using heddle::ErrorKind;
using heddle::cuda::compile_kernel;
using heddle::cuda::compile_kernels;
using heddle::cuda::CompileError;
using heddle::cuda::KernelImage;
using heddle::cuda::KernelSource;

/// Compilations here use this cache, home and working folder, all of them empty.
class Folders : public testing::Environment {
 public:
  void SetUp() override {
    fs::create_directory(folder / "home");
    fs::current_path(folder / "home");
    setenv("HEDDLE_CACHE_DIR", (folder / "cache").c_str(), 1);
    for (const char* name : {"HOME", "TMPDIR", "XDG_CACHE_HOME"}) {
      setenv(name, (folder / "home").c_str(), 1);
    }
  }
  void TearDown() override { fs::current_path("/"); }

  TemporaryFolder folder;
};
Folders& folders() {
  static auto* made = static_cast<Folders*>(testing::AddGlobalTestEnvironment(new Folders));
  return *made;
}
[[maybe_unused]] const Folders& made_before_main = folders();

class KernelCompiler : public testing::Test {
 protected:
  void SetUp() override {
    try {
      heddle::cuda::nvrtc();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    fs::remove_all(cache());
  }
  static fs::path cache() { return folders().folder / "cache"; }
  static std::size_t cached_files() {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(cache()), {}));
  }
};

std::string text(const KernelImage& image) { return {image.data.begin(), image.data.end()}; }

const std::string kernel_template = R"(
template <class E>
__device__ void multiply(int rows, const int* length, const long long* first, const int* columns,
                         const heddle::stored_scalar_t<E>* values,
                         const heddle::vector_scalar_t<E>* x, heddle::vector_scalar_t<E>* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const auto result = heddle::row_product<E>(
      heddle::PackedValues<E>{values}, columns, heddle::PackedVector<heddle::vector_entry_t<E>>{x},
      first[row / 32], 32, row % 32, length[row]);
  constexpr int components = heddle::result_entry_t<E>::components;
  for (int k = 0; k < components; ++k) y[row * components + k] = result.component[k];
}
)";

/// A product with row_product, as an extern "C" kernel called `name`.
std::string kernel(const std::string& name, const std::string& entry) {
  return "extern \"C\" __global__ void " + name +
         "(int rows, const int* length, const long long* first, const int* columns,\n"
         "  const heddle::stored_scalar_t<" +
         entry +
         ">* values,\n"
         "  const heddle::vector_scalar_t<" +
         entry + ">* x, heddle::vector_scalar_t<" + entry + ">* y) {\n  multiply<" + entry +
         ">(rows, length, first, columns, values, x, y);\n}\n";
}

KernelSource quaternion_product() {
  return {
      "product quaternion<double>",
      "#include \"heddle/entries/quaternion.hpp\"\n#include \"heddle/entries/row_product.hpp\"\n" +
          kernel_template + kernel("product", "heddle::quaternion<double>"),
      {},
      {}};
}

TEST_F(KernelCompiler, ProductsOfEveryEntryHeader) {
  KernelSource source{"products", "", {}, {}};
  std::size_t entries = 0;
  for (const auto& header : heddle::cuda::embedded_headers()) {
    if (std::string_view(header.name).starts_with("heddle/entries/")) {
      source.text += "#include \"" + std::string(header.name) + "\"\n";
      ++entries;
    }
  }
  EXPECT_GE(entries, 11u);
  source.text += kernel_template;
  const std::vector<std::string> kinds = {"heddle::real<double>",
                                          "heddle::real<float, 3>",
                                          "heddle::complex<double>",
                                          "heddle::quaternion<float>",
                                          "heddle::dual_quaternion<double>",
                                          "heddle::block<double, 3, 3>",
                                          "heddle::block<heddle::complex<double>, 3, 3>",
                                          "heddle::stored_as<float, heddle::quaternion<double>>"};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    // Commas would split a macro argument.
    source.text += "using entry" + std::to_string(i) + " = " + kinds[i] + ";\n" +
                   kernel("product" + std::to_string(i), "entry" + std::to_string(i));
  }
  std::set<std::string> images;
  for (const int architecture : {80, 90, 100, 120}) {
    SCOPED_TRACE(architecture);
    const KernelImage image = compile_kernel(source, architecture);
    EXPECT_FALSE(image.cached);
    EXPECT_GT(image.seconds, 0);
    EXPECT_EQ(text(image).substr(1, 3), "ELF");
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      EXPECT_NE(text(image).find("product" + std::to_string(i)), std::string::npos) << kinds[i];
    }
    images.insert(text(image));
  }
  EXPECT_EQ(images.size(), 4u);
}

TEST_F(KernelCompiler, AGpuNewerThanNvrtcGetsPtx) {
  const KernelImage image = compile_kernel(quaternion_product(), 10000);
  ASSERT_FALSE(image.data.empty());
  EXPECT_EQ(image.data.back(), '\0');
  EXPECT_NE(text(image).find(".version"), std::string::npos);
  EXPECT_NE(text(image).find(".entry product"), std::string::npos);
}

TEST_F(KernelCompiler, AGpuOlderThanNvrtcIsRefused) {
  try {
    compile_kernel(quaternion_product(), 20);
    FAIL() << "compiled for sm_20";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::no_device);
    EXPECT_NE(std::string(error.what()).find("sm_20"), std::string::npos) << error.what();
  }
}

TEST_F(KernelCompiler, TheSecondTimeComesFromTheCache) {
  KernelSource source = quaternion_product();
  const KernelImage first = compile_kernel(source, 90);
  const KernelImage second = compile_kernel(source, 90);
  EXPECT_FALSE(first.cached);
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(first.data, second.data);

  // A change of anything that the image depends on makes another image.
  EXPECT_FALSE(compile_kernel(source, 80).cached);
  source.options = {"-DUNUSED=1"};
  EXPECT_FALSE(compile_kernel(source, 90).cached);
  source.options = {"-DUNUSED=2"};
  EXPECT_FALSE(compile_kernel(source, 90).cached);
  source.headers = {{"mine.hpp", "int one();"}};
  EXPECT_FALSE(compile_kernel(source, 90).cached);
  source.headers = {{"mine.hpp", "int two();"}};
  EXPECT_FALSE(compile_kernel(source, 90).cached);
  source.text += "\n";
  EXPECT_FALSE(compile_kernel(source, 90).cached);
  EXPECT_TRUE(compile_kernel(source, 90).cached);
}

TEST_F(KernelCompiler, ADamagedImageIsCompiledAgain) {
  const KernelImage first = compile_kernel(quaternion_product(), 90);
  ASSERT_EQ(cached_files(), 1u);
  const fs::path file = fs::directory_iterator(cache())->path();
  fs::resize_file(file, fs::file_size(file) - 1);
  const KernelImage again = compile_kernel(quaternion_product(), 90);
  EXPECT_FALSE(again.cached);
  EXPECT_EQ(again.data, first.data);
  EXPECT_TRUE(compile_kernel(quaternion_product(), 90).cached);
}

TEST_F(KernelCompiler, WritesNothingNextToTheCache) {
  compile_kernel(quaternion_product(), 90);
  EXPECT_EQ(cached_files(), 1u);
  EXPECT_TRUE(fs::is_empty(folders().folder / "home"));
  EXPECT_EQ(folders().folder.files(), 2u);
}

/// The error message of a source that must not compile.
std::string error_of(const KernelSource& source) {
  try {
    compile_kernel(source, 90);
  } catch (const CompileError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(error.log().find("error"), std::string::npos);
    return error.what();
  }
  ADD_FAILURE() << source.name << " compiles";
  return "";
}

const std::string user_entry = R"(#pragma once
#include "heddle/entries/entry.hpp"
template <class S>
struct pair {
  using stored_scalar = S;
  using vector_entry = pair;
  static constexpr int components = 2;
  static constexpr heddle::Ring ring = heddle::Ring::real;
  S component[2];
  HEDDLE_HD static constexpr pair zero() { return {{S(0), S(0)}}; }
  friend HEDDLE_INLINE void multiply_add(pair& y, const pair& a, const pair& x) {
    y.component[0] += a.component[0] * x.component[0];
    y.component[1] += a.component[1] * x.component[1];
  }
  friend HEDDLE_HD pair add(const pair& a, const pair& b) {
    return {{a.component[0] + b.component[0], a.component[1] + b.component[1]}};
  }
  using scalar = S;
};
)";

KernelSource pair_product(const std::string& entry) {
  return {"product pair<double>",
          "#include \"my/pair.hpp\"\n#include \"heddle/entries/row_product.hpp\"\n"
          "static_assert(heddle::check_entry<pair<double>>());\n" +
              kernel_template + kernel("product", "pair<double>"),
          {{"my/pair.hpp", entry}},
          {}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST_F(KernelCompiler, AUsersEntryCompiles) {
  EXPECT_FALSE(compile_kernel(pair_product(user_entry), 90).data.empty());
}

TEST_F(KernelCompiler, ErrorsNameTheUsersLine) {
  const std::string place = "product pair<double> does not compile: my/pair.hpp:";
  const std::string unknown = place + "13: error: identifier \"nothing\" is undefined";
  const std::string message = error_of(
      pair_product(replaced(user_entry, "    y.component[1]", "    nothing y.component[1]")));
  EXPECT_EQ(message.substr(0, unknown.size()), unknown);
  // An error that shows only when the product uses the entry.
  const std::string late =
      error_of(pair_product(replaced(user_entry, "a.component[1] * x", "a.components[1] * x")));
  EXPECT_EQ(late.substr(0, place.size() + 10), place + "13: error:");
  EXPECT_EQ(late.find('\n'), std::string::npos);
  // A missing semicolon is reported where the next line begins.
  const std::string semicolon =
      error_of(pair_product(replaced(user_entry, "S component[2];", "S component[2]")));
  EXPECT_EQ(semicolon.substr(0, place.size() + 10), place + "10: error:");
}

TEST_F(KernelCompiler, WhatAnEntryLacksIsNamed) {
  const std::string message =
      error_of(pair_product(replaced(user_entry, "components = 2", "number = 2")));
  EXPECT_NE(message.find("heddle entry: "), std::string::npos) << message;
  EXPECT_NE(message.find("components"), std::string::npos) << message;
}

TEST_F(KernelCompiler, ErrorsOfTheProgramAndOfOptionsAreNamed) {
  KernelSource source{"small", "__device__ int a;\n__device__ int b() { return c; }\n", {}, {}};
  EXPECT_EQ(error_of(source),
            "small does not compile: small:2: error: identifier \"c\" is undefined");
  source.text = "#include \"absent.hpp\"\n";
  EXPECT_NE(error_of(source).find("small:1: catastrophic error: cannot open source file"),
            std::string::npos);
  source = {"optional", "__device__ int a;\n", {}, {"--no-such-option"}};
  EXPECT_NE(error_of(source).find("no-such-option"), std::string::npos) << error_of(source);
}

TEST_F(KernelCompiler, SeveralAtOnceInTheirOrder) {
  std::vector<KernelSource> sources;
  for (int i = 0; i < 5; ++i) {
    const std::string name = "kernel" + std::to_string(i);
    sources.push_back({name, "extern \"C\" __global__ void " + name + "() {}\n", {}, {}});
  }
  compile_kernel(sources[2], 90);
  const auto images = compile_kernels(sources, 90);
  ASSERT_EQ(images.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(images[i].cached, i == 2);
    EXPECT_NE(text(images[i]).find(sources[i].name), std::string::npos);
  }
  EXPECT_TRUE(compile_kernels({}, 90).empty());

  for (auto& source : sources) source.options = {"-DAGAIN"};
  sources[1].text = "first";
  sources[3].text = "second";
  try {
    compile_kernels(sources, 90);
    FAIL() << "compiled";
  } catch (const CompileError& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, 7), "kernel1") << error.what();
  }
  // The successful compilations are kept.
  EXPECT_TRUE(compile_kernel(sources[4], 90).cached);
}

TEST_F(KernelCompiler, FromSeveralThreads) {
  std::array<KernelImage, 4> images;
  {
    std::vector<std::jthread> threads;
    for (KernelImage& image : images) {
      threads.emplace_back([&] { image = compile_kernel(quaternion_product(), 90); });
    }
  }
  for (const KernelImage& image : images) EXPECT_EQ(image.data, images[0].data);
  EXPECT_FALSE(images[0].data.empty());
  EXPECT_EQ(cached_files(), 1u);
}

/// Ends the process, with status 7 if kernels cannot be compiled because there is no compiler.
[[noreturn]] void compile_without_nvrtc() {
  setenv("HEDDLE_NVRTC", "/nonexistent/libnvrtc.so", 1);
  int status = 9;
  try {
    compile_kernel(quaternion_product(), 90);
  } catch (const Error& error) {
    std::cerr << error.what();
    status = error.kind() == ErrorKind::no_device ? 7 : 8;
  }
  fs::remove_all(folders().folder / "");
  _exit(status);
}

TEST(WithoutNvrtc, SaysSo) {
  // In a process of its own: this one may already have opened the library.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(compile_without_nvrtc(), testing::ExitedWithCode(7),
              "HEDDLE_NVRTC.*/nonexistent/libnvrtc.so");
}

}  // namespace
