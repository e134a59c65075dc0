// Plans: the papers' names, the canonical text and JSON both ways, and every refusal.
#include "heddle/plan.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "support/expect_error.hpp"
#include "support/random_matrix.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;
using enum LoopForm;

constexpr int trials = 500;

template <class T>
T one_of(std::initializer_list<T> values, Generator& generator) {
  return values.begin()[random_between(0, int(values.size()) - 1, generator)];
}

/// Any valid plan.
Plan random_plan(Generator& generator) {
  Plan plan;
  auto& [layout, schedule, cpu, gpu, loop] = plan;
  layout.lanes = random_between(0, 64, generator);  // 0: all rows
  layout.sort_window = one_of({0, 1, 2, 77, 1 << 30}, generator);
  if (layout.lanes != Layout::all_rows) {
    const int several_threads = random_between(0, 2, generator);
    if (several_threads == 0) {
      do {
        layout.threads_per_row = random_between(1, layout.lanes, generator);
      } while (layout.lanes % layout.threads_per_row != 0);
    } else if (several_threads == 1) {
      layout.threshold = random_between(0, 1000, generator);
    }
  }
  layout.order = one_of({RowOrder::natural, RowOrder::reverse_cuthill_mckee}, generator);
  layout.columns = one_of({ColumnOrder::sorted, ColumnOrder::given}, generator);
  layout.basis = one_of({BasisUse::permuted, BasisUse::user}, generator);
  layout.inner = one_of(
      {InnerLayout::aos, InnerLayout::soa, InnerLayout::aosoa_component, InnerLayout::aosoa_16},
      generator);
  layout.vector = one_of({VectorLayout::aos, VectorLayout::soa}, generator);
  layout.stored = static_cast<StoredScalar>(random_between(0, 6, generator));
  schedule.kind =
      one_of({ScheduleKind::fixed, ScheduleKind::dynamic, ScheduleKind::full}, generator);
  schedule.chunk = random_between(1, 1 << 20, generator);
  cpu.prefetch_x = random_between(0, CpuSchedule::furthest_prefetch_x, generator);
  cpu.prefetch_matrix = random_between(0, 1 << 20, generator);
  gpu.block_size = one_of({32, 64, 96, 128, 160, 192, 224, 256, 384, 512, 768, 1024}, generator);
  gpu.blocks = random_between(0, 32, generator);
  gpu.unroll = random_between(1, 8, generator);
  gpu.load =
      one_of({LoadHint::normal, LoadHint::streaming, LoadHint::no_allocate, LoadHint::evict_first},
             generator);
  gpu.l2_percent = random_between(0, 100, generator);
  loop.form = one_of({stepped, graph, replay, persistent}, generator);
  loop.launch = one_of({KernelLaunch::serial, KernelLaunch::overlapped}, generator);
  loop.single_reduction = random_between(0, 1, generator) == 1;
  loop.fused_updates = random_between(0, 1, generator) == 1;
  loop.recurrence = one_of({Recurrence::ring, Recurrence::real}, generator);
  return plan;
}

TEST(Plan, PapersNames) {
  constexpr Index n = Layout::all_rows;
  const Plan k1{
      .layout = {
          .lanes = 32, .sort_window = n, .columns = ColumnOrder::given, .basis = BasisUse::user}};
  Plan k1r = k1, k1rs = k1;
  k1r.layout.basis = BasisUse::permuted;
  k1rs.layout.basis = BasisUse::permuted;
  k1rs.layout.columns = ColumnOrder::sorted;
  const auto with_threshold = [](Plan plan) {
    plan.layout.threshold = 8;
    return plan;
  };
  const std::vector<std::pair<std::string, Plan>> names = {
      {"CSR", {}},
      {"ELL", {.layout = {.lanes = n}}},
      {"Sl-16", {.layout = {.lanes = 16}}},
      {"Sl-32", {.layout = {.lanes = 32}}},
      {"pJDS", {.layout = {.lanes = 32, .sort_window = n}}},
      {"K1", k1},
      {"K1r", k1r},
      {"K1rs", k1rs},
      {"K2", with_threshold(k1)},
      {"K2r", with_threshold(k1r)},
      {"K2rs", with_threshold(k1rs)},
  };
  for (const auto& [name, plan] : names) {
    SCOPED_TRACE(name);
    EXPECT_EQ(parse_plan(name), plan) << to_string(parse_plan(name));
    Plan changed = plan;
    changed.layout.inner = InnerLayout::soa;
    changed.cpu.prefetch_x = 7;
    EXPECT_EQ(parse_plan(name + ",entry-layout=soa,prefetch-x=7"), changed);
  }
}

TEST(Plan, CanonicalTextSaysWhatIsNotTheDefault) {
  EXPECT_EQ(to_string(Plan{}), "CSR");
  EXPECT_EQ(to_string(parse_plan("loop=graph,C=32,block-size=256,sigma=n")),
            "C=32,sigma=n,loop=graph");
  EXPECT_EQ(to_string(parse_plan("K2")), "C=32,sigma=n,threshold=8,columns=given,basis=user");
  EXPECT_EQ(to_string(parse_plan("CSR,l2-percent=0,unroll=4")), "unroll=4");
}

TEST(Plan, FullText) {
  EXPECT_EQ(to_full_string(Plan{}),
            "C=1,sigma=1,threads-per-row=1,threshold=0,order=natural,columns=sorted,"
            "basis=permuted,entry-layout=aos,vector-layout=aos,iteration-precision=full,"
            "column-bits=32,schedule=static,chunk=16,prefetch-x=48,prefetch-matrix=4096,"
            "block-size=256,blocks=0,unroll=2,load=default,l2-percent=0,loop=stepped,"
            "launch=serial,cg=standard,fused-updates=off,recurrence=ring");
  EXPECT_EQ(to_full_string(parse_plan(
                "ELL,sigma=n,order=rcm,columns=given,basis=user,entry-layout=aosoa16,"
                "vector-layout=soa,iteration-precision=single,schedule=dynamic,block-size=1024,"
                "blocks=3,unroll=8,load=evict-first,loop=graph,launch=overlapped,"
                "cg=single-reduction,fused-updates=on,recurrence=real")),
            "C=n,sigma=n,threads-per-row=1,threshold=0,order=rcm,columns=given,basis=user,"
            "entry-layout=aosoa16,vector-layout=soa,iteration-precision=single,column-bits=32,"
            "schedule=dynamic,chunk=16,prefetch-x=48,prefetch-matrix=4096,block-size=1024,"
            "blocks=3,unroll=8,load=evict-first,l2-percent=0,loop=graph,launch=overlapped,"
            "cg=single-reduction,fused-updates=on,recurrence=real");
  EXPECT_EQ(parse_plan("threads-per-row=4,C=8"), parse_plan("C=8,threads-per-row=4"));
  EXPECT_EQ(parse_plan("entry-layout=aosoa").layout.inner, InnerLayout::aosoa_component);
}

TEST(Plan, KeysOfAGpu) {
  const std::pair<const char*, Plan> plans[] = {
      {"block-size=32", {.gpu = {.block_size = 32}}},
      {"block-size=64", {.gpu = {.block_size = 64}}},
      {"block-size=96", {.gpu = {.block_size = 96}}},
      {"block-size=192", {.gpu = {.block_size = 192}}},
      {"block-size=1024", {.gpu = {.block_size = 1024}}},
      {"blocks=7", {.gpu = {.blocks = 7}}},
      {"unroll=1", {.gpu = {.unroll = 1}}},
      {"unroll=8", {.gpu = {.unroll = 8}}},
      {"schedule=full", {.schedule = {.kind = ScheduleKind::full}}},
      {"load=default", {.gpu = {.load = LoadHint::normal}}},
      {"load=streaming", {.gpu = {.load = LoadHint::streaming}}},
      {"load=no-allocate", {.gpu = {.load = LoadHint::no_allocate}}},
      {"load=evict-first", {.gpu = {.load = LoadHint::evict_first}}},
      {"load=evict-first,l2-percent=30",
       {.gpu = {.load = LoadHint::evict_first, .l2_percent = 30}}},
      {"loop=stepped", {.loop = {.form = LoopForm::stepped}}},
      {"loop=graph", {.loop = {.form = LoopForm::graph}}},
      {"loop=replay", {.loop = {.form = LoopForm::replay}}},
      {"loop=persistent", {.loop = {.form = LoopForm::persistent}}},
      {"launch=serial", {.loop = {.launch = KernelLaunch::serial}}},
      {"launch=overlapped", {.loop = {.launch = KernelLaunch::overlapped}}},
      {"cg=single-reduction", {.loop = {.single_reduction = true}}},
      {"fused-updates=on", {.loop = {.fused_updates = true}}},
  };
  for (const auto& [text, plan] : plans) EXPECT_EQ(parse_plan(text), plan) << text;
}

TEST(Plan, FormsOfTheLoopHaveTheNamesThatTextsHave) {
  for (const LoopForm loop : {stepped, graph, replay, persistent}) {
    EXPECT_EQ(parse_plan("loop=" + std::string(name(loop))).loop.form, loop);
  }
}

TEST(Plan, TheDocumentationShowsTheCanonicalText) {
  std::ifstream file(HEDDLE_SOURCE_DIR "/docs/reference/plans.md");
  const std::string page((std::istreambuf_iterator<char>(file)), {});
  const std::string in_one_line = std::regex_replace(page, std::regex(",\n"), ",");
  EXPECT_NE(in_one_line.find("```\n" + to_full_string(Plan{}) + "\n```"), std::string::npos);
  // Each key has a row of the table, in the order of the text.
  std::size_t at = 0;
  const auto json = nlohmann::ordered_json::parse(to_json(Plan{}));
  for (const auto& [key, value] : json.items()) {
    const std::size_t row = page.find("\n| `" + key + "` |", at);
    ASSERT_NE(row, std::string::npos) << key;
    at = row + 1;
  }
}

TEST(Plan, TextAndJsonGiveThePlanBack) {
  Seed seed(101);
  for (int i = 0; i < trials; ++i) {
    const Plan plan = random_plan(seed.generator);
    const std::string text = to_string(plan);
    SCOPED_TRACE(text);
    EXPECT_EQ(parse_plan(text), plan);
    EXPECT_EQ(to_string(parse_plan(text)), text);
    EXPECT_EQ(parse_plan(to_full_string(plan)), plan);
    EXPECT_EQ(plan_from_json(to_json(plan)), plan);
  }
}

TEST(Plan, ChangesKeepWhatTheyDoNotSay) {
  const Plan base = parse_plan("pJDS,block-size=512,blocks=3,unroll=4");
  Plan expected = base;
  expected.layout.stored = StoredScalar::single;
  EXPECT_EQ(parse_plan("iteration-precision=single", base), expected);
  expected = base;
  expected.gpu.blocks = 1;
  EXPECT_EQ(parse_plan("blocks=1", base), expected);
}

/// A bound on blocks belongs to the threads that it was chosen with.
TEST(Plan, OtherThreadsTakeBackBlocks) {
  const Plan base = parse_plan("pJDS,block-size=512,blocks=3,unroll=4");
  Plan expected = base;
  expected.gpu.block_size = 256;
  expected.gpu.blocks = 0;
  EXPECT_EQ(parse_plan("block-size=256", base), expected);
  expected.gpu.blocks = 6;
  EXPECT_EQ(parse_plan("block-size=256,blocks=6", base), expected);
  EXPECT_EQ(parse_plan("blocks=6,block-size=256", base), expected);
}

TEST(Plan, JsonHasTheKeysOfTheText) {
  Seed seed(102);
  const Plan plan = random_plan(seed.generator);
  std::string text;
  const auto json = nlohmann::ordered_json::parse(to_json(plan));
  for (const auto& [key, value] : json.items()) {
    text += (text.empty() ? "" : ",") + key + "=" + value.get<std::string>();
  }
  EXPECT_EQ(text, to_full_string(plan));
}

TEST(Plan, JsonTakesNumbersAndLeavesDefaults) {
  EXPECT_EQ(plan_from_json("{}"), Plan{});
  EXPECT_EQ(plan_from_json(R"({"C": 32, "sigma": "n", "threshold": 9})"),
            parse_plan("C=32,sigma=n,threshold=9"));
}

void expect_refused(const std::string& text, const std::string& message) {
  SCOPED_TRACE(text);
  expect_error(ErrorKind::bad_plan, message, [&] { parse_plan(text); });
}

TEST(Plan, RefusesWhatItDoesNotKnow) {
  const std::string keys =
      "C sigma threads-per-row threshold order columns basis entry-layout vector-layout "
      "iteration-precision column-bits schedule chunk prefetch-x prefetch-matrix block-size "
      "blocks unroll load l2-percent loop launch cg fused-updates recurrence";
  const std::string names = "CSR ELL Sl-16 Sl-32 pJDS K1 K1r K1rs K2 K2r K2rs";
  expect_refused("colour=red", "plan: there is no key 'colour'; there are " + keys);
  expect_refused("=4", "plan: there is no key ''; there are " + keys);
  for (const std::string name : {"", "cs r", "Sl-8", "K", "K3", " CSR"}) {
    expect_refused(name, "plan: '" + name + "' is neither key=value nor one of " + names);
  }
  expect_refused("K1x", "plan: 'K1x' is not a variant of K1: there are K1, r and rs");
  expect_refused("K2sr", "plan: 'K2sr' is not a variant of K2: there are K2, r and rs");
  expect_refused("C=4,CSR", "plan: 'CSR' is not key=value; only the first part may be a name");
  expect_refused("CSR,", "plan: '' is not key=value; only the first part may be a name");
  expect_refused("C=4,sigma=8,C=4", "plan: 'C' is given twice");
  expect_refused("order=amd", "plan: order=amd is none of natural rcm");
  expect_refused("columns=", "plan: columns= is none of sorted given");
  expect_refused("basis=both", "plan: basis=both is none of permuted user");
  expect_refused("entry-layout=a", "plan: entry-layout=a is none of aos soa aosoa aosoa16");
  expect_refused("vector-layout=aosoa", "plan: vector-layout=aosoa is none of aos soa");
  expect_refused(
      "iteration-precision=double",
      "plan: iteration-precision=double is none of full single half bfloat scaled dictionary unit");
  expect_refused("schedule=guided", "plan: schedule=guided is none of static dynamic full");
  expect_refused("load=cached",
                 "plan: load=cached is none of default streaming no-allocate evict-first");
  expect_refused("l2-percent=101", "plan: l2-percent=101 is not 0 to 100 percent");
  expect_refused("cg=1", "plan: cg=1 is none of standard single-reduction");
  expect_refused("fused-updates=2", "plan: fused-updates=2 is none of off on");
  expect_refused("loop=fused", "plan: loop=fused is none of stepped graph replay persistent");
  expect_refused("launch=eager", "plan: launch=eager is none of serial overlapped");
  expect_refused("recurrence=complex", "plan: recurrence=complex is none of ring real");
}

TEST(Plan, TakesNamesInAnyCase) {
  const std::pair<const char*, const char*> texts[] = {{"csr", "CSR"},
                                                       {"PJDS", "pJDS"},
                                                       {"sl-32", "Sl-32"},
                                                       {"k1RS", "K1rs"},
                                                       {"k2", "K2"},
                                                       {"c=4,SIGMA=N", "C=4,sigma=n"},
                                                       {"Entry-Layout=AOS", "entry-layout=aos"}};
  for (const auto& [given, name] : texts) EXPECT_EQ(parse_plan(given), parse_plan(name)) << given;
}

TEST(Plan, UnderstandsEarlierSpellings) {
  const std::pair<const char*, const char*> texts[] = {
      {"C=8,T=4", "C=8,threads-per-row=4"},
      {"use=scatter", "basis=user"},
      {"use=permuted", "basis=permuted"},
      {"inner=aosoa16", "entry-layout=aosoa16"},
      {"vector=soa", "vector-layout=soa"},
      {"stored=float", "iteration-precision=single"},
      {"stored=own", "iteration-precision=full"},
      {"threads=512", "block-size=512"},
      {"load=evict-first,kept=30", "load=evict-first,l2-percent=30"},
      {"reductions=1", "cg=single-reduction"},
      {"reductions=2", "cg=standard"},
      {"passes=1", "fused-updates=on"},
      {"passes=2", "fused-updates=off"}};
  for (const auto& [earlier, now] : texts) EXPECT_EQ(parse_plan(earlier), parse_plan(now)) << now;
  // A full text, as stored in profiles.
  EXPECT_EQ(
      to_string(parse_plan(
          "C=32,sigma=n,T=1,threshold=8,order=natural,columns=sorted,use=permuted,inner=aosoa16,"
          "vector=aos,stored=own,schedule=full,chunk=16,prefetch-x=48,prefetch-matrix=4096,"
          "threads=128,blocks=6,unroll=4,load=evict-first,kept=20,loop=graph,launch=overlapped,"
          "reductions=1,passes=1,recurrence=ring")),
      "C=32,sigma=n,threshold=8,entry-layout=aosoa16,schedule=full,block-size=128,blocks=6,"
      "unroll=4,load=evict-first,l2-percent=20,loop=graph,launch=overlapped,cg=single-reduction,"
      "fused-updates=on");
  EXPECT_EQ(plan_from_json(R"({"C": 32, "T": 4, "stored": "float", "passes": 1})"),
            parse_plan("C=32,threads-per-row=4,iteration-precision=single,fused-updates=on"));
  // One key in either spelling: a choice made with other threads is dropped.
  EXPECT_EQ(parse_plan("threads=256", parse_plan("block-size=512,blocks=3")), Plan{});
  expect_refused("C=8,T=2,threads-per-row=2", "plan: 'threads-per-row' is given twice");
  expect_refused("stored=quarter",
                 "plan: iteration-precision=quarter is none of full single half bfloat scaled "
                 "dictionary unit");
  expect_refused("reductions=3", "plan: cg=3 is none of standard single-reduction");
  expect_refused("passes=0", "plan: fused-updates=0 is none of off on");
}

TEST(Plan, RefusesNumbersOutOfRange) {
  expect_refused("C=0", "plan: C=0 is not a whole number of at least 1");
  expect_refused("C=-4", "plan: C=-4 is not a whole number of at least 1");
  expect_refused("C=4x", "plan: C=4x is not a whole number of at least 1");
  expect_refused("C=m", "plan: C=m is not a whole number of at least 1");
  expect_refused("C=4.0", "plan: C=4.0 is not a whole number of at least 1");
  expect_refused("C=65", "plan: C=65 is neither 1 to 64 nor n");
  expect_refused("sigma=0", "plan: sigma=0 is not a whole number of at least 1");
  expect_refused("sigma=99999999999",
                 "plan: sigma=99999999999 is not a whole number of at least 1");
  expect_refused("threads-per-row=0",
                 "plan: threads-per-row=0 is not a whole number of at least 1");
  expect_refused("threshold=-1", "plan: threshold=-1 is not a whole number of at least 0");
  expect_refused("chunk=0", "plan: chunk=0 is not a whole number of at least 1");
  expect_refused("prefetch-x=-1", "plan: prefetch-x=-1 is not a whole number of at least 0");
  expect_refused("prefetch-x=257", "plan: prefetch-x=257 is more than 256");
  expect_refused("prefetch-matrix=", "plan: prefetch-matrix= is not a whole number of at least 0");
  expect_refused("block-size=16", "plan: block-size=16 is not a whole number of at least 32");
  for (const std::string threads : {"65", "100", "320", "1536", "2048"}) {
    expect_refused("block-size=" + threads,
                   "plan: block-size=" + threads +
                       " is none of 32, 64, 96, 128, 160, 192, 224, 256, 384, 512, 768, 1024");
  }
  expect_refused("blocks=-1", "plan: blocks=-1 is not a whole number of at least 0");
  expect_refused("unroll=0", "plan: unroll=0 is not a whole number of at least 1");
  expect_refused("unroll=9", "plan: unroll=9 is not 1 to 8");
}

TEST(Plan, RefusesWhatHasNoMeaningTogether) {
  expect_refused("C=8,threads-per-row=3", "plan: threads-per-row=3 does not divide C=8");
  expect_refused("threads-per-row=2", "plan: threads-per-row=2 does not divide C=1");
  expect_refused("C=32,threads-per-row=64", "plan: threads-per-row=64 does not divide C=32");
  const std::string threads_of_all =
      "plan: several threads per row (threads-per-row, threshold) need slices of 1 to 64 lanes, "
      "not "
      "C=n";
  expect_refused("C=n,threads-per-row=2", threads_of_all);
  expect_refused("ELL,threshold=4", threads_of_all);
  const std::string two =
      "plan: threshold chooses threads-per-row for each slice; give one of the two";
  expect_refused("C=8,threads-per-row=2,threshold=4", two);
  expect_refused("K2rs,threads-per-row=2", two);
}

TEST(Plan, ChecksPlansThatNoTextMade) {
  const std::string negative =
      "plan: sigma, threshold, chunk, blocks and the prefetch distances must not be negative";
  for (const Plan& plan : {Plan{.layout = {.sort_window = -1}}, Plan{.layout = {.threshold = -1}},
                           Plan{.schedule = {.chunk = 0}}, Plan{.cpu = {.prefetch_x = -1}},
                           Plan{.cpu = {.prefetch_matrix = -1}}, Plan{.gpu = {.blocks = -1}}}) {
    expect_error(ErrorKind::bad_plan, negative, [&] { check_plan(plan); });
  }
  expect_error(ErrorKind::bad_plan, "plan: C=-1 is neither 1 to 64 nor n",
               [] { check_plan({.layout = {.lanes = -1}}); });
  expect_error(ErrorKind::bad_plan, "plan: threads-per-row=0 does not divide C=1",
               [] { check_plan({.layout = {.threads_per_row = 0}}); });
  for (const int threads : {-64, 0, 16, 100, 320}) {
    expect_error(ErrorKind::bad_plan,
                 "plan: block-size=" + std::to_string(threads) +
                     " is none of 32, 64, 96, 128, 160, 192, 224, 256, 384, 512, 768, 1024",
                 [&] { check_plan({.gpu = {.block_size = threads}}); });
  }
  expect_error(ErrorKind::bad_plan, "plan: unroll=0 is not 1 to 8",
               [] { check_plan({.gpu = {.unroll = 0}}); });
}

TEST(Plan, RefusesFaultyJson) {
  const auto expect_json_refused = [](const std::string& json, const std::string& message) {
    SCOPED_TRACE(json);
    expect_error(ErrorKind::bad_plan, message, [&] { plan_from_json(json); });
  };
  for (const char* json : {"", "{", "[]", "3", "\"CSR\""}) {
    expect_json_refused(json, "plan: not a JSON object");
  }
  expect_json_refused(R"({"C": 8.5})", "plan: the value of 'C' is neither text nor a whole number");
  expect_json_refused(R"({"order": ["rcm"]})",
                      "plan: the value of 'order' is neither text nor a whole number");
  expect_json_refused(R"({"C": 8, "threads-per-row": 3})",
                      "plan: threads-per-row=3 does not divide C=8");
  expect_json_refused(R"({"C": 80})", "plan: C=80 is neither 1 to 64 nor n");
}

}  // namespace
