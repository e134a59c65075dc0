// Entries from JSON: compared with the same entries in C++, and every fault of a definition in one
// line.
#include "heddle/runtime/entry_definition.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "entries/dual_complex.hpp"
#include "entries/printed/dual_complex.hpp"
#include "entries/printed/split_complex.hpp"
#include "entries/printed/symmetric_block.hpp"
#include "heddle/csr.hpp"
#include "heddle/entries.hpp"
#include "heddle/error.hpp"
#include "io/temporary_folder.hpp"

namespace {

using heddle::EntryDefinition;

const std::string source_folder = HEDDLE_SOURCE_DIR;

EntryDefinition shipped(const std::string& name) {
  return heddle::read_entry_definition(source_folder + "/data/entries/" + name + ".json");
}

/// A 2 x 2 symmetric block of three numbers that acts on two.
const char* const symmetric_block = R"json({
  "name": "symmetric-block", "members": ["xx", "yy", "xy"], "vector_members": ["x", "y"],
  "multiply": {"x": "a.xx * x.x + a.xy * x.y", "y": "a.xy * x.x + a.yy * x.y"},
  "inverse": {"xx": "a.yy / (a.xx * a.yy - a.xy * a.xy)",
              "yy": "a.xx / (a.xx * a.yy - a.xy * a.xy)",
              "xy": "-a.xy / (a.xx * a.yy - a.xy * a.xy)"},
  "adjoint": {"xx": "a.xx", "yy": "a.yy", "xy": "a.xy"}})json";

const char* const hamilton = R"json({
  "name": "hamilton", "members": ["w", "x", "y", "z"], "ring": "quaternion",
  "multiply": {"w": "a.w*x.w - a.x*x.x - a.y*x.y - a.z*x.z",
               "x": "a.w*x.x + a.x*x.w + a.y*x.z - a.z*x.y",
               "y": "a.w*x.y - a.x*x.z + a.y*x.w + a.z*x.x",
               "z": "a.w*x.z + a.x*x.y - a.y*x.x + a.z*x.w"},
  "add": {"w": "a.w + b.w", "x": "b.x + a.x", "y": "a.y + b.y", "z": "a.z + b.z"},
  "inverse": {"w": "a.w / (a.w*a.w + a.x*a.x + a.y*a.y + a.z*a.z)",
              "x": "-a.x / (a.w*a.w + a.x*a.x + a.y*a.y + a.z*a.z)",
              "y": "-a.y / (a.w*a.w + a.x*a.x + a.y*a.y + a.z*a.z)",
              "z": "-a.z / (a.w*a.w + a.x*a.x + a.y*a.y + a.z*a.z)"},
  "adjoint": {"w": "a.w", "x": "-a.x", "y": "-a.y", "z": "-a.z"}})json";

template <class E>
E random_entry(std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  E e;
  for (auto& c : e.component) c = static_cast<std::decay_t<decltype(c)>>(uniform(random));
  return e;
}

template <class E>
void expect_close(const E& expected, const E& actual, double tolerance) {
  double size = 0, difference = 0;
  for (int k = 0; k < E::components; ++k) {
    size = std::hypot(size, expected.component[k]);
    difference = std::hypot(difference, expected.component[k] - actual.component[k]);
  }
  EXPECT_TRUE(difference <= tolerance * size) << difference << " of " << size;
}

/// Compares the definition with a C++ entry of the same components: product, inverse, adjoint.
template <class E>
void compare(const EntryDefinition& definition) {
  ASSERT_EQ(definition.size(), E::components);
  ASSERT_EQ(definition.vector_size(), E::vector_entry::components);
  EXPECT_EQ(definition.ring, E::ring);
  EXPECT_EQ(definition.has_adjoint(), heddle::has_adjoint<E>);
  EXPECT_EQ(definition.has_inverse(), heddle::has_inverse<E>);
  constexpr int V = E::vector_entry::components;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const E a = random_entry<E>(random);
    const auto tile = heddle::real_representation(a);
    const std::vector<double> own = heddle::real_representation(definition, a.component);
    for (int i = 0; i < V; ++i) {
      for (int j = 0; j < V; ++j) EXPECT_EQ(tile[i][j], own[i * V + j]) << i << ", " << j;
    }
    std::vector<double> registers;
    E result;
    if constexpr (heddle::has_inverse<E>) {
      for (const double scale : {1.0, 1e-200, 1e200}) {
        E scaled = a;
        for (double& c : scaled.component) c *= scale;
        heddle::invert(definition, scaled.component, result.component, registers);
        for (double& c : result.component) c *= scale;
        expect_close(inverse(a), result, 1e-12);
      }
    }
    if constexpr (heddle::has_adjoint<E>) {
      heddle::evaluate<double>(definition.adjoint, a.component, nullptr, result.component,
                               registers);
      expect_close(adjoint(a), result, 0);
    }
  }
}

TEST(EntryDefinition, IsTheEntryOfTheSameAlgebra) {
  compare<dual_complex<double>>(shipped("dual-complex"));
  compare<heddle::quaternion<double>>(heddle::parse_entry_definition(hamilton, "h"));
}

/// The map x -> x, with `expression` for its only member.
std::string one_member(const std::string& expression) {
  return R"json({"name": "n", "members": ["x"], "multiply": {"x": ")json" + expression +
         R"json("}})json";
}

TEST(EntryDefinition, PrintsWhatCompilesToTheSame) {
  compare<heddle_user::dual_complex_entry<double>>(shipped("dual-complex"));
  compare<heddle_user::split_complex_entry<double>>(shipped("split-complex"));
  compare<heddle_user::symmetric_block_entry<double>>(
      heddle::parse_entry_definition(symmetric_block, "s"));
}

TEST(EntryDefinition, PrintsTheFilesThatThisTestIncludes) {
  const std::pair<EntryDefinition, std::string> printed[] = {
      {shipped("dual-complex"), "dual_complex"},
      {shipped("split-complex"), "split_complex"},
      {heddle::parse_entry_definition(symmetric_block, "s"), "symmetric_block"}};
  for (const auto& [definition, name] : printed) {
    EXPECT_EQ(heddle::cuda_type_name(definition), "heddle_user::" + name + "_entry");
    const std::string text = heddle::cuda_text(definition);
    EXPECT_EQ(text, contents(source_folder + "/tests/entries/printed/" + name + ".hpp")) << text;
  }
}

/// No C++ integer type holds such numbers.
TEST(EntryDefinition, PrintsLargeNumbersAsNumbersWithAnExponent) {
  for (const std::string number : {"9223372036854775808", "18446744073709551616", "1e19"}) {
    const EntryDefinition definition =
        heddle::parse_entry_definition(one_member(number + " * a.x * x.x"), "f");
    const std::string text = heddle::cuda_text(definition);
    EXPECT_NE(text.find("e+1"), std::string::npos) << text;
  }
  const EntryDefinition small = heddle::parse_entry_definition(one_member("2 * a.x * x.x"), "f");
  EXPECT_NE(heddle::cuda_text(small).find("S(2)"), std::string::npos);
}

TEST(EntryDefinition, PrintedTypesAreEntries) {
  static_assert(heddle::check_entry<heddle_user::split_complex_entry<float>>());
  static_assert(heddle::check_entry<heddle_user::symmetric_block_entry<double>>());
  static_assert(sizeof(heddle_user::symmetric_block_entry<float>) == 3 * sizeof(float));
  static_assert(heddle::has_inverse<heddle_user::dual_complex_entry<double>>);
  static_assert(!heddle::has_adjoint<heddle_user::dual_complex_entry<double>>);
}

TEST(EntryDefinition, SplitComplexNumbersSquareToOne) {
  const EntryDefinition split = shipped("split-complex");
  const double e[] = {0, 1};
  EXPECT_EQ(heddle::real_representation(split, e), (std::vector<double>{0, 1, 1, 0}));
  const double singular[] = {2, 2};  // 2 (1 + e) is a zero divisor
  double inverse[2];
  std::vector<double> registers;
  heddle::invert(split, singular, inverse, registers);
  EXPECT_FALSE(std::isfinite(inverse[0]) && std::isfinite(inverse[1]));
}

double coefficient_of(const std::string& expression) {
  const EntryDefinition definition = heddle::parse_entry_definition(one_member(expression), "f");
  return definition.product.at(0).coefficient;
}

TEST(EntryDefinition, ExpressionsFollowTheRulesOfArithmetic) {
  EXPECT_EQ(coefficient_of("a.x * x.x"), 1);
  EXPECT_EQ(coefficient_of("-a.x * x.x"), -1);
  EXPECT_EQ(coefficient_of("8 / 4 / 2 * a.x * x.x"), 1);
  EXPECT_EQ(coefficient_of("(8 - 4 - 2) * a . x * x.x"), 2);
  EXPECT_EQ(coefficient_of("2 + 3 * 4 * a.x * x.x - 2"), 12);
  EXPECT_EQ(coefficient_of("a.x * (x.x + 0.5e1 * x.x) / - -2."), 3);
  EXPECT_EQ(coefficient_of("conj(a.x) * +x.x * .25"), 0.25);
  EXPECT_EQ(coefficient_of("0.1 * a.x * x.x"), 0.1);
}

TEST(EntryDefinition, ComplexMembersMultiplyAndDivide) {
  // With one complex member, conj and both parts at work: z -> conj(a) (3 z / (1 + 1)) ...
  const EntryDefinition definition = heddle::parse_entry_definition(
      R"json({"name": "n", "members": [{"name": "z", "type": "complex"}], "ring": "complex",
          "multiply": {"z": "a.z * x.z"}, "inverse": {"z": "conj(a.z) / (a.z * conj(a.z))"},
          "adjoint": {"z": "conj(a.z)"}})json",
      "f");
  EXPECT_EQ(definition.components, (std::vector<std::string>{"z.re", "z.im"}));
  compare<heddle::complex<double>>(definition);
}

struct Fault {
  std::string text;
  std::string message;
};

TEST(EntryDefinition, EveryFaultIsOneLine) {
  const auto with = [](const std::string& more) {
    return R"json({"name": "n", "members": ["x", "y"], "multiply": {"x": "a.x * x.x + a.y * x.y",)json"
           R"json( "y": "a.x * x.y + a.y * x.x"})json" +
           more + "}";
  };
  const auto deep = [](int levels) {
    return std::string(levels, '(') + "a.x" + std::string(levels, ')') + " * x.x";
  };
  std::string longest = "a.x * x.x";
  for (int i = 2; i < 3000; ++i) longest += " + " + std::to_string(i) + " * a.x * x.x";
  const Fault faults[] = {
      {"", "f: parse error at line 1, column 1"},
      {"{", "f: parse error at line 1, column 2"},
      {"\xff", "f: parse error"},
      {"[]", "f: must be one JSON object"},
      {"{}", "f: name: is missing"},
      {R"json({"name": 1})json", "f: name: must be a string"},
      {R"json({"name": "a--b"})json", "f: name: 'a--b' must be words"},
      {R"json({"name": "a b\n"})json", "f: name: 'a b?' must be words"},
      {R"json({"name": "quaternion"})json",
       "f: name: 'quaternion' is the name of a built-in entry"},
      {R"json({"name": "n", "name": "m"})json", "f: the key 'name' appears twice"},
      {R"json({"name": "n", "n": [[[[]]]]})json", "f: more than 3 levels of nesting"},
      {R"json({"name": "n", "nmae": 1})json", "f: 'nmae': no such key; there are name"},
      {R"json({"name": "n"})json", "f: members: is missing"},
      {R"json({"name": "n", "members": ["x"]})json", "f: multiply: is missing"},
      {R"json({"name": "n", "members": [], "multiply": {}})json", "f: members: must be a list"},
      {R"json({"name": "n", "members": [1], "multiply": {}})json",
       "f: members[0]: must be a name or"},
      {R"json({"name": "n", "members": ["x", "x"], "multiply": {}})json",
       "f: members[1]: 'x' is given twice"},
      {R"json({"name": "n", "members": ["1x"], "multiply": {}})json",
       "f: members[0]: '1x' must be letters"},
      {R"json({"name": "n", "members": [{"name": "x"}], "multiply": {}})json",
       "f: members[0]: type: is missing"},
      {R"json({"name": "n", "members": [{"name": "x", "type": "int"}], "multiply": {}})json",
       "f: members[0]: type: 'int' is none of real complex"},
      {R"json({"name": "n", "members": ["x"], "multiply": 1})json",
       "f: multiply: must be an object"},
      {R"json({"name": "n", "members": ["x"], "multiply": {}})json", "f: multiply.x: is missing"},
      {R"json({"name": "n", "members": ["x"], "multiply": {"x": 1}})json",
       "f: multiply.x: must be a string"},
      {R"json({"name": "n", "members": ["x"], "multiply": {"y": "1"}})json",
       "f: multiply.'y': no such key; there are x"},
      {one_member(""), "f: multiply.x: column 1: the expression ends where a number"},
      {one_member("a.x * x.x $"), "f: multiply.x: column 11: '$' where an operator or the end"},
      {one_member("a.x * "), "f: multiply.x: column 7: the expression ends"},
      {one_member("a.x x.x"), "f: multiply.x: column 5: 'x' where an operator"},
      {one_member("(a.x * x.x"), "f: multiply.x: column 11: the expression ends where ')'"},
      {one_member("a.q * x.x"), "f: multiply.x: column 3: 'q' is not a member of a; there are x"},
      {one_member("a * x.x"), "f: multiply.x: column 3: '*' where '.' and a member of a"},
      {one_member("b.x * x.x"), "f: multiply.x: column 1: 'b' is unknown"},
      {one_member("1e999 * a.x * x.x"), "f: multiply.x: column 1: the number is out of"},
      {one_member("."), "f: multiply.x: column 1: '.' where a number is expected"},
      {one_member(deep(64)), "f: multiply.x: column 65: more than 64 nested signs and parentheses"},
      {one_member(std::string(100000, '-') + "a.x * x.x"), "f: multiply.x: column 65: more than"},
      {one_member(longest), "f: multiply.x: the operator takes more than 4096 operations"},
      {one_member("a.x * x.x + 1"), "f: multiply: component x is not linear in x"},
      {one_member("a.x * x.x * x.x"), "f: multiply: component x is not linear in x"},
      {one_member("a.x * a.x * x.x"), "f: multiply: component x is not linear in a"},
      {one_member("x.x"), "f: multiply: component x is not linear in a"},
      {one_member("a.x * x.x / 0"), "f: multiply: component x is not linear in x"},
      {one_member("0 * a.x * x.x"), "f: multiply: no component depends on a.x"},
      {with(R"json(, "add": {"x": "a.x + b.x", "y": "a.y - b.y"})json"),
       "f: add: component y is not a.y + b.y"},
      {with(R"json(, "ring": "octonion")json"), "f: ring: 'octonion' is none of"},
      {with(R"json(, "ring": "quaternion")json"),
       "f: ring: 2 components are not a whole number of groups of 4"},
      {with(R"json(, "ring": "complex")json"),
       "f: ring: a (x c) is not (a x) c for complex numbers"},
      {with(R"json(, "inverse": {"x": "a.x", "y": "a.y"})json"),
       "f: inverse: inverse(a) * (a * x) is not x"},
      {with(R"json(, "inverse": {"x": "1 / (a.x - a.x)", "y": "a.y"})json"),
       "f: inverse: inverse(a)"},
      {with(R"json(, "adjoint": {"x": "a.x", "y": "-a.y"})json"),
       "f: adjoint: its real representation"},
      {R"json({"name": "n", "members": ["x", {"name": "z", "type": "complex"}],
           "multiply": {"x": "a.z * x.z", "z": "a.x * x.z"}})json",
       "f: multiply.x: the expression is complex, the member is real"},
      {R"json({"name": "n", "members": [{"name": "z", "type": "complex"}],
           "multiply": {"z": "a.z.rd * x.z"}})json",
       "f: multiply.z: column 5: 'rd' is not a part of a complex number"}};
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.text.substr(0, 200));
    try {
      heddle::parse_entry_definition(fault.text, "f");
      ADD_FAILURE() << "no error: " << fault.message;
    } catch (const heddle::Error& error) {
      EXPECT_EQ(error.kind(), heddle::ErrorKind::malformed_file);
      const std::string message = error.what();
      EXPECT_EQ(message.substr(0, fault.message.size()), fault.message) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos);
      EXPECT_LT(message.size(), 300u);
    }
  }
  EXPECT_NO_THROW(heddle::parse_entry_definition(one_member(deep(60)), "f"));
}

TEST(EntryDefinition, FilesThatCannotBeRead) {
  const TemporaryFolder folder;
  for (const std::string& path : {folder / "none.json", folder / ""}) {
    try {
      heddle::read_entry_definition(path);
      ADD_FAILURE() << path;
    } catch (const heddle::Error& error) {
      EXPECT_EQ(error.kind(), heddle::ErrorKind::io) << error.what();
    }
  }
  const std::string big = folder.write("big.json", std::string((1 << 20) + 1, ' '));
  EXPECT_THROW(heddle::read_entry_definition(big), heddle::Error);
}

TEST(EntryDefinition, RepresentationsThatMixComponentsAreNotFolded) {
  const EntryDefinition golden = heddle::parse_entry_definition(
      R"json({"name": "golden", "members": ["a", "b"],
          "multiply": {"a": "a.a * x.a + a.b * x.b", "b": "a.a * x.b + a.b * (x.a + x.b)"}})json",
      "f");
  try {
    heddle::arrangement(golden);
    ADD_FAILURE();
  } catch (const heddle::Error& error) {
    EXPECT_EQ(error.kind(), heddle::ErrorKind::unsupported);
  }
}

}  // namespace
