// Passes and assembly kernels become programs for a GPU that need not be present, from files that
// no nvcc compiles. Skips without NVRTC.
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/assembly.hpp"
#include "spmv/nvrtc.hpp"
#include "spmv/pass_program.hpp"
#include "support/compiled_images.hpp"
#include "support/element_kernel_texts.hpp"

namespace compiled_pass {
namespace {

using namespace heddle;
using namespace heddle::test;
using cuda::CompiledFunctor;
using heddle::detail::AssembleEntries;
using heddle::detail::AssembleVectors;
using heddle::detail::TileSums;

template <class F>
CompiledFunctor functor() {
  return {heddle::detail::entry_text_of<F>::text(), nullptr, sizeof(F)};
}

TEST(CompiledPass, HasTheTextsOfEntryAndKernelOnce) {
  const EntryText text = functor<AssembleEntries<block<double, 3, 3>, PlacesKernel>>().text;
  EXPECT_EQ(text.type,
            "heddle::detail::AssembleEntries<heddle::block<double, 3, 3>, "
            "heddle::test::PlacesKernel>");
  EXPECT_EQ(text.headers,
            (std::vector<std::string>{"heddle/entries/block.hpp", "element_kernels.hpp",
                                      "heddle/kernels/assembly_sums.hpp"}));
  static_assert(has_entry_text<TileSums<AssembleEntries<real<float>, NumbersKernel<real<float>>>>>);
  struct WithoutText : NumbersKernel<real<float>> {};
  static_assert(!has_entry_text<AssembleEntries<real<float>, WithoutText>>);
}

class CompiledPasses : public testing::Test {
 protected:
  void SetUp() override {
    try {
      cuda::nvrtc();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  template <class E, class Kernel>
  void add_sums() {
    using Entries = AssembleEntries<E, Kernel>;
    using Vectors = AssembleVectors<E, Kernel>;
    sources.push_back(cuda::pass_source(functor<Entries>(), 1));
    sources.push_back(cuda::pass_source(functor<Vectors>(), 1));
    if constexpr (heddle::detail::fits_in_tiles<typename Entries::Sum>) {
      sources.push_back(cuda::tiles_source(functor<TileSums<Entries>>()));
    }
  }
  template <class... E>
  void add_numbers() {
    (add_sums<E, NumbersKernel<E>>(), ...);
  }

  std::vector<cuda::KernelSource> sources;
};

/// Each program compares the bytes of its functor with those on the host.
TEST_F(CompiledPasses, OfEveryKindOfEntry) {
  add_numbers<real<float>, real<double, 4>, complex<double>, quaternion<float>,
              dual_quaternion<double>, block<double, 2, 3>>();
  add_sums<block<double, 3, 3>, PlacesKernel>();
  sources.push_back(cuda::pass_source(functor<AddNumber>(), 4));
  for (const cuda::KernelImage& image : compiled_images(sources, 90)) {
    EXPECT_EQ(std::string(image.data.begin() + 1, image.data.begin() + 4), "ELF");
  }
  const std::string tiles = sources[2].text;
  EXPECT_NE(tiles.find("heddle_tiles"), std::string::npos);
  for (const int architecture : {80, 100, 120}) {
    EXPECT_FALSE(cuda::compile_kernel(sources[2], architecture).data.empty());
  }
}

std::string error_of(const CompiledFunctor& pass) {
  try {
    cuda::compile_kernel(cuda::pass_source(pass, 1), 90);
  } catch (const cuda::CompileError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

TEST_F(CompiledPasses, ThatDoNotCompileNameTheirOwnLine) {
  const std::string text =
      "#include \"heddle/entries/real.hpp\"\n"
      "struct Mistaken {\n"
      "  heddle::real<double> entry(heddle::Offset e, int a, int b) const {\n"
      "    return {{conductivity[e]}};\n"
      "  }\n"
      "};\n";
  EntryText of_sums = functor<AssembleEntries<real<double>, NumbersKernel<real<double>>>>().text;
  of_sums.type = "heddle::detail::AssembleEntries<heddle::real<double>, Mistaken>";
  of_sums.headers.emplace_back("mistaken.hpp");
  of_sums.texts["mistaken.hpp"] = text;
  const std::string message = error_of({of_sums, nullptr, 1});
  EXPECT_TRUE(message.starts_with("kernel " + of_sums.type +
                                  " does not compile: mistaken.hpp:4: error: identifier "
                                  "\"conductivity\" is undefined"))
      << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST_F(CompiledPasses, ThatAreOtherOnTheHostAreRefused) {
  CompiledFunctor pass = functor<AddNumber>();
  pass.bytes = 24;
  const std::string message = error_of(pass);
  EXPECT_NE(message.find("heddle kernel: bytes on the host: 24, different on the GPU"),
            std::string::npos)
      << message;
}

}  // namespace
}  // namespace compiled_pass
