// Runs in the release.
// GPU programs compile, for every compatible pair of their choices; no GPU is needed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "heddle/choose_plan.hpp"
#include "heddle/tuning/search_space.hpp"
#include "spmv/nvrtc.hpp"
#include "support/compiled_images.hpp"
#include "support/tuning/kernel_variants.hpp"

namespace heddle::test {
namespace {

/// Each entry occurs with each program, and few pairs need more: 700 for 24 programs, 795 for 30.
constexpr std::size_t max_variants = 800;
constexpr std::size_t max_in_ci = 150;
constexpr unsigned long long seed = 2601;

bool checks_deeply() { return std::getenv("HEDDLE_DEEP_CHECK") != nullptr; }

struct Variants {
  SelectionSpace space = variant_space();
  std::map<ValuePair, Selection> pairs = valid_pairs(space);
  std::vector<Selection> array;
  /// The subset compiled unless HEDDLE_DEEP_CHECK is set. A program occurs with a tenth of the
  /// kinds of entries, each in one precision, and with all of them over the programs. Entries and
  /// programs occur with a twentieth of a plan's choices, and with all of them over the entries and
  /// programs. Pairs of a plan's choices are left to chance.
  std::map<ValuePair, Selection> fewer_pairs = pairs;
  std::vector<Selection> fewer;
  Variants() {
    std::mt19937_64 generator(seed);
    array = covering_array(space, pairs, pairs, generator);
    std::erase_if(fewer_pairs, [](const auto& pair) {
      constexpr int part = 10, precisions = 3;
      const auto& [one, other] = pair.first;
      if (one.first > 1) return true;
      if (other.first > 1) return (one.second + other.second) % (2 * part) != 0;
      const int entry = one.second, program = other.second, kind = entry / precisions;
      return (kind + program) % precisions != entry % precisions ||
             (kind + program / precisions) % part != 0;
    });
    fewer = covering_array(space, pairs, fewer_pairs, generator);
  }
};
const Variants& variants() {
  static const Variants made;
  return made;
}

TEST(KernelVariants, CoverEveryPairOfChoicesThatGoTogether) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const auto& [space, all_pairs, array, fewer_pairs, fewer] = variants();
  for (const auto& [variants, pairs] : {std::tie(array, all_pairs), std::tie(fewer, fewer_pairs)}) {
    std::set<ValuePair> met;
    for (const Selection& selection : variants) {
      ASSERT_TRUE(is_valid_variant(selection)) << source_of(selection).name;
      for (const ValuePair& pair : pairs_of(selection)) met.insert(pair);
    }
    for (const auto& [pair, example] : pairs) {
      EXPECT_TRUE(met.contains(pair)) << "as in " << source_of(example).name;
    }
    for (const ValuePair& pair : met) EXPECT_TRUE(all_pairs.contains(pair));
    std::set<std::string> texts;
    for (const Selection& selection : variants) texts.insert(source_of(selection).text);
    std::cout << variants.size() << " variants, " << texts.size() << " different programs, "
              << pairs.size() << " pairs\n";
  }
  EXPECT_LE(array.size(), max_variants);
  EXPECT_LE(fewer.size(), max_in_ci);
}

/// The number of pairs excluded by the rules, counted by hand: the search has lost no pair.
TEST(KernelVariants, LeaveOutNoPairButThoseThatAreRefused) {
  const SelectionSpace& space = variants().space;
  std::size_t all = 0;
  for (std::size_t i = 0; i < space.sizes.size(); ++i) {
    for (std::size_t j = i + 1; j < space.sizes.size(); ++j) {
      all += static_cast<std::size_t>(space.sizes[i] * space.sizes[j]);
    }
  }
  constexpr std::size_t dual_quaternions = 3, solving_programs = 15, loops = 8, loops_in_shared = 4;
  constexpr std::size_t T_that_divides_no_C = 3 + 3 + 1 + 4;  // for C = 1, 3, 16 and n
  constexpr std::size_t blocks_of_no_loop = 8;                // too small, or not a power of two
  EXPECT_EQ(all - variants().pairs.size(), dual_quaternions * solving_programs +
                                               T_that_divides_no_C + loops +  // loops and C = n
                                               loops_in_shared +              // these and SoA
                                               blocks_of_no_loop * loops);
}

TEST(ProductProgram, BoundsNoMoreBlocksThanAMultiprocessorHolds) {
  const auto bounds_of = [](const std::string& plan, int architecture) {
    const std::string text = source_of(variant_entry<quaternion<double>>(), variant_programs()[0],
                                       parse_plan(plan), architecture)
                                 .text;
    std::smatch found;
    EXPECT_TRUE(std::regex_search(text, found, std::regex(R"(__launch_bounds__\((.*)\))"))) << text;
    return found[1].str();
  };
  struct Holds {
    int architecture;
    int of_64, of_128, of_512, of_1024;
  };
  // Architecture 999 is not known yet.
  for (const Holds& most : {Holds{75, 16, 8, 2, 1},
                            {80, 32, 16, 4, 2},
                            {86, 16, 12, 3, 1},
                            {87, 16, 12, 3, 1},
                            {89, 24, 12, 3, 1},
                            {90, 32, 16, 4, 2},
                            {100, 32, 16, 4, 2},
                            {103, 32, 16, 4, 2},
                            {110, 24, 12, 3, 1},
                            {120, 24, 12, 3, 1},
                            {121, 24, 12, 3, 1},
                            {999, 32, 16, 4, 2}}) {
    SCOPED_TRACE(most.architecture);
    for (const auto& [threads, blocks] : {std::pair{64, most.of_64},
                                          {128, most.of_128},
                                          {512, most.of_512},
                                          {1024, most.of_1024}}) {
      const std::string block = "threads=" + std::to_string(threads);
      EXPECT_EQ(bounds_of(block, most.architecture), "Plan::block");
      for (const int wanted : {1, blocks, blocks + 1, 1000}) {
        EXPECT_EQ(bounds_of(block + ",blocks=" + std::to_string(wanted), most.architecture),
                  "Plan::block, " + std::to_string(std::min(wanted, blocks)));
      }
    }
  }
}

class KernelVariantsCompiled : public testing::Test {
 protected:
  void SetUp() override {
    try {
      cuda::nvrtc();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  static void expect_images(const std::vector<cuda::KernelSource>& sources, int architecture) {
    const auto& known = cuda::nvrtc().architectures;
    if (!std::binary_search(known.begin(), known.end(), architecture)) {
      GTEST_SKIP() << "this libnvrtc knows no sm_" << architecture;
    }
    try {
      const auto images = compiled_images(sources, architecture);
      for (std::size_t i = 0; i < images.size(); ++i) {
        const std::string_view image(images[i].data.data(), images[i].data.size());
        EXPECT_TRUE(
            image.starts_with("\x7f"
                              "ELF"))
            << sources[i].name;
        EXPECT_NE(image.find("heddle_"), image.npos) << sources[i].name;
      }
    } catch (const cuda::CompileError& error) {
      FAIL() << error.what() << "\n" << error.log();
    }
  }
};

TEST_F(KernelVariantsCompiled, ForSm90) {
  std::vector<cuda::KernelSource> sources;
  for (const Selection& selection : checks_deeply() ? variants().array : variants().fewer) {
    sources.push_back(source_of(selection));
  }
  expect_images(sources, 90);
}

/// With 256 threads, the rows would need more shared memory for their exchange than a kernel may
/// have.
TEST_F(KernelVariantsCompiled, OfRowsThatDoNotFitInSharedMemory) {
  const VariantEntry wide = variant_entry<real<double, 30>>();
  std::vector<cuda::KernelSource> sources;
  for (const VariantProgram& program : variant_programs()) {
    if (program.kind != ProgramKind::diagonal &&
        program.kind != ProgramKind::preconditioned_steps) {
      continue;
    }
    for (const char* vectors : {"Sl-32,vector=aos", "Sl-32,vector=soa"}) {
      sources.push_back(source_of(wide, program, parse_plan(vectors)));
    }
  }
  EXPECT_GE(sources.size(), 6u);
  expect_images(sources, 90);
}

class SomeKernelVariants : public KernelVariantsCompiled,
                           public testing::WithParamInterface<int> {};

/// 2 programs for each architecture; 60 if HEDDLE_DEEP_CHECK is set.
TEST_P(SomeKernelVariants, ForOtherArchitectures) {
  const std::size_t some = checks_deeply() ? 60 : 2;
  const auto& array = variants().array;
  ASSERT_GE(array.size(), some);
  std::vector<cuda::KernelSource> sources;
  for (std::size_t i = 0; i < some; ++i) {
    sources.push_back(source_of(array[i * array.size() / some], GetParam()));
  }
  expect_images(sources, GetParam());
}
INSTANTIATE_TEST_SUITE_P(Sm, SomeKernelVariants, testing::Values(80, 100, 120),
                         testing::PrintToStringParamName());

/// Mueller-Roemer et al. (2020, section 4.3): every layout, static and dynamic, for every entry in
/// both precisions.
TEST_F(KernelVariantsCompiled, InEveryLayoutOfThePapers) {
  if (!checks_deeply()) GTEST_SKIP() << "HEDDLE_DEEP_CHECK is not set";
  DeviceProperties gpu;
  gpu.gpu = true;
  const std::vector<Axis> axes = SearchSpace::papers({}, gpu).axes();
  std::vector<std::string> plans = {""};
  for (const Axis& axis : {axes[0], axes[1], axes[2], axes[3]}) {
    std::vector<std::string> longer;
    for (const std::string& plan : plans) {
      for (const std::string& choice : axis.choices) {
        longer.push_back(plan.empty() ? choice : plan + "," + choice);
      }
    }
    plans = std::move(longer);
  }
  EXPECT_EQ(plans.size(), 72u);
  std::vector<cuda::KernelSource> sources;
  std::set<std::string> texts;
  for (const VariantEntry& entry : variant_entries()) {
    for (const std::string& plan : plans) {
      cuda::KernelSource source =
          source_of(entry, variant_programs().front(), parse_plan(plan), 90);
      if (texts.insert(source.text).second) sources.push_back(std::move(source));
    }
  }
  expect_images(sources, 90);
}

/// Kernels in a graph's loop may start while the previous one runs: in the PTX text, the code
/// before the wait for it reads only constants, and no path exits before that.
TEST_F(KernelVariantsCompiled, KernelsOfALoopWaitForTheOneBefore) {
  constexpr int unknown_architecture = 999;  // a compiler writes PTX for this
  const std::regex touches(R"(\b(st|atom|red|ld)\.(?!param|shared|local)|\b(ret|exit);)");
  const std::regex reads_constants(R"(ld\.global\.nc)");
  std::vector<cuda::KernelSource> sources;
  const VariantEntry entries[] = {variant_entry<quaternion<float>>(),
                                  variant_entry<block<double, 3, 3>>()};
  std::size_t programs = 0;
  for (const VariantProgram& program : variant_programs()) {
    const bool is_step =
        program.kind == ProgramKind::steps || program.kind == ProgramKind::preconditioned_steps;
    if (!program.in_loop && !is_step) continue;
    // One program with one of the plans, the next with another: all four take more than a minute.
    std::size_t number = 0;
    for (const char* plan : {"C=32,T=4,schedule=full", "C=1,schedule=full,load=evict-first",
                             "C=16,threshold=8,schedule=static", "C=n,schedule=dynamic"}) {
      if (!checks_deeply() && (programs + number++) % 4 != 0) continue;
      sources.push_back(
          source_of(entries[sources.size() % 2], program, parse_plan(plan), unknown_architecture));
    }
    ++programs;
  }
  const auto images = cuda::compile_kernels(sources, unknown_architecture);
  for (std::size_t i = 0; i < images.size(); ++i) {
    SCOPED_TRACE(sources[i].name);
    std::string_view ptx(images[i].data.data(), images[i].data.size() - 1);
    ASSERT_NE(ptx.find(".entry"), ptx.npos);
    while (!ptx.empty()) {
      ptx.remove_prefix(std::min(ptx.size(), ptx.find(".entry")));
      const std::string_view kernel = ptx.substr(0, ptx.find(".entry", 1));
      ptx.remove_prefix(kernel.size());
      if (kernel.empty()) break;
      const std::size_t lets_come = kernel.find("griddepcontrol.launch_dependents;");
      const std::size_t waits = kernel.find("griddepcontrol.wait;");
      ASSERT_NE(waits, kernel.npos);
      EXPECT_LT(lets_come, waits);
      EXPECT_EQ(kernel.find("griddepcontrol.wait;", waits + 1), kernel.npos);
      const std::string before(kernel.substr(0, waits));
      for (std::sregex_iterator found(before.begin(), before.end(), touches), end; found != end;
           ++found) {
        const std::string rest = before.substr(static_cast<std::size_t>(found->position()), 40);
        EXPECT_TRUE(
            std::regex_search(rest, reads_constants, std::regex_constants::match_continuous))
            << rest;
      }
    }
  }
}

/// The compiler reserves room for as many blocks as a multiprocessor holds, and ignores a larger
/// bound. The registers of a kernel that could use more show this.
TEST_F(KernelVariantsCompiled, MostBlocksAreThoseThatTheCompilerKnows) {
  constexpr int registers_of_multiprocessor = 65536;
  for (const int architecture : cuda::nvrtc().architectures) {
    SCOPED_TRACE(architecture);
    cuda::KernelSource source{"bounds", "", {}, {"--ptxas-options=-v"}};
    std::map<std::string, std::pair<int, bool>> kernels;  // registers per thread; if binding
    for (const int threads : {64, 128}) {                 // with 64, blocks may run out first
      const int most = cuda::max_blocks(threads, architecture);
      for (const int blocks : {most, most + 1}) {
        const std::string name = "of_" + std::to_string(threads) + "_by_" + std::to_string(blocks);
        source.text += "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(threads) +
                       ", " + std::to_string(blocks) + ") " + name +
                       "(volatile float* a) {\n"
                       "  float value[96];\n"
                       "  for (int i = 0; i < 96; ++i) value[i] = a[i];\n"
                       "  for (int i = 0; i < 96; ++i) a[95 - i] = value[i];\n}\n";
        kernels[name] = {registers_of_multiprocessor / (threads * blocks), blocks == most};
      }
    }
    const std::string log = cuda::compile_kernel(source, architecture).log;
    const std::regex used(R"(function '(\w+)' for '\w+'[^']*Used (\d+) registers)");
    std::size_t found = 0;
    for (std::sregex_iterator of(log.begin(), log.end(), used), end; of != end; ++of, ++found) {
      const auto& [registers, bounds] = kernels.at((*of)[1]);
      EXPECT_EQ(std::stoi((*of)[2]) <= registers, bounds) << of->str();
    }
    EXPECT_EQ(found, kernels.size()) << log;
  }
}

/// A plan for `rows` rows of `length` entries each.
Plan default_plan(Index rows, Index length, const VariantEntry& entry) {
  std::vector<Offset> offsets(static_cast<std::size_t>(rows) + 1);
  for (Index row = 0; row <= rows; ++row) {
    offsets[static_cast<std::size_t>(row)] = Offset(row) * length;
  }
  PatternView pattern;
  pattern.rows = pattern.columns = rows;
  pattern.offsets = offsets.data();
  const bool in_floats = entry.shape.stored_bytes < entry.shape.scalar_bytes;
  return choose_plan_for_gpu(pattern, entry.shape.components * entry.shape.scalar_bytes,
                             in_floats ? StoredScalar::single : StoredScalar::own);
}

/// The number in front of `what` in a text; -1 if `what` is absent.
int number_before(const std::string& text, const std::string& what) {
  std::smatch found;
  return std::regex_search(text, found, std::regex("(\\d+)" + what)) ? std::stoi(found[1]) : -1;
}

/// If registers are left, the stack that ptxas uses holds a few of the barriers at which lanes of
/// nested branches reconverge. A warp has 16 barriers; this costs two words, accessed once per row.
bool spills_registers(const std::string& log, const std::string& program) {
  constexpr int some_barriers = 16, registers_of_block = 65536, max_registers = 255;
  const int spilled = number_before(log, " bytes spill stores");
  std::smatch threads, bound;
  std::regex_search(program, threads, std::regex("block = (\\d+)"));
  const bool bounded = std::regex_search(program, bound, std::regex("Plan::block, (\\d+)"));
  const int blocks = bounded ? std::stoi(bound[1]) : 1;
  const int limit = std::min(max_registers, registers_of_block / std::stoi(threads[1]) / blocks);
  const bool registers_left = number_before(log, " registers") < limit - 16;
  return spilled < 0 || (spilled > 0 && !(registers_left && spilled <= some_barriers));
}

TEST_F(KernelVariantsCompiled, DefaultProductsKeepEverythingInRegisters) {
  std::vector<cuda::KernelSource> sources;
  std::set<std::string> texts;
  std::size_t number = 0;
  for (const VariantEntry& entry : variant_entries()) {
    ++number;
    for (const auto& [rows, length] :
         {std::pair{1000, 13}, {67000, 14}, {1200000, 7}, {400000, 30}}) {
      // Each entry with two of the plans, the next one with the others.
      if (!checks_deeply() && number++ % 2 != 0) continue;
      const VariantProgram& in_loop = variant_programs()[2];
      const VariantProgram& dot = variant_programs()[1];
      cuda::KernelSource source =
          source_of(entry, entry.has_adjoint ? in_loop : dot, default_plan(rows, length, entry));
      source.options.emplace_back("--ptxas-options=-v");
      if (texts.insert(source.text).second) sources.push_back(std::move(source));
    }
  }
  const auto images = cuda::compile_kernels(sources, 90);
  for (std::size_t i = 0; i < images.size(); ++i) {
    EXPECT_FALSE(spills_registers(images[i].log, sources[i].text)) << sources[i].name << "\n"
                                                                   << images[i].log;
  }
}

}  // namespace
}  // namespace heddle::test
