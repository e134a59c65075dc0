#include "heddle/runtime/entry_definition.hpp"

#include <algorithm>
#include <cmath>

#include "entry_definition_checks.hpp"
#include "expression.hpp"
#include "heddle/runtime/entry_kind.hpp"
#include "heddle/tools/text.hpp"
#include "json_object.hpp"
#include "strict_json.hpp"

namespace heddle {

namespace {

using detail::JsonObject;
using detail::Member;
using io::in_quotes;
using nlohmann::json;

/// Runs `f`, and puts `where` in front of the message of its error.
template <class F>
decltype(auto) within(const std::string& where, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    throw Error(error.kind(), where + error.what());
  }
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

/// Reads a name for a C++ type and reports: words of letters and digits, joined by single hyphens.
std::string read_name(const JsonObject& object) {
  constexpr std::size_t longest = 40;
  const std::string name = object.text("name");
  bool good = !name.empty() && name.size() <= longest && is_letter(name[0]) && is_word(name.back());
  for (std::size_t i = 0; i < name.size(); ++i) {
    good = good && (is_word(name[i]) || (name[i] == '-' && name[i - 1] != '-'));
  }
  if (!good) {
    detail::malformed_file("name: " + in_quotes(name) +
                           " must be words of letters and digits joined by single "
                           "hyphens, at most " +
                           std::to_string(longest) + " characters, the first a letter");
  }
  const auto& kinds = entry_kind_names;
  if (std::find(kinds.begin(), kinds.end(), name) != kinds.end()) {
    detail::malformed_file("name: " + in_quotes(name) +
                           " is the name of a built-in entry; choose another");
  }
  return name;
}

bool is_member_name(const std::string& name) {
  constexpr std::size_t longest = 40;
  return !name.empty() && name.size() <= longest && (is_letter(name[0]) || name[0] == '_') &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_word(c) || c == '_'; });
}

Member read_member(const json& item) {
  if (item.is_string()) return {item.get<std::string>()};
  if (!item.is_object()) detail::malformed_file("must be a name or an object with name and type");
  const JsonObject object(item, "");
  object.check_keys({"name", "type"});
  const std::string name = object.text("name");
  return {name, object.text_of("type", {"real", "complex"}) == "complex"};
}

std::vector<Member> read_members(const json& list) {
  if (!list.is_array() || list.empty())
    detail::malformed_file(": must be a list of members, at least one");
  std::vector<Member> members;
  int components = 0;
  for (const json& item : list) {
    within("[" + std::to_string(members.size()) + "]: ", [&] {
      Member member = read_member(item);
      if (!is_member_name(member.name)) {
        detail::malformed_file(in_quotes(member.name) +
                               " must be letters, digits and _, not beginning with a digit");
      }
      for (const Member& other : members) {
        if (other.name == member.name)
          detail::malformed_file(in_quotes(member.name) + " is given twice");
      }
      member.first = components;
      components += member.is_complex ? 2 : 1;
      if (components > EntryDefinition::max_components) {
        detail::malformed_file("more than " + std::to_string(EntryDefinition::max_components) +
                               " components");
      }
      members.push_back(std::move(member));
    });
  }
  return members;
}

std::vector<std::string> component_names(const std::vector<Member>& members) {
  std::vector<std::string> names;
  for (const Member& member : members) {
    if (member.is_complex) {
      names.push_back(member.name + ".re");
      names.push_back(member.name + ".im");
    } else {
      names.push_back(member.name);
    }
  }
  return names;
}

Ring read_ring(const JsonObject& object, int components) {
  const std::string text = object.text_of("ring", {"real", "complex", "quaternion"});
  const Ring ring = text == "real"      ? Ring::real
                    : text == "complex" ? Ring::complex
                                        : Ring::quaternion;
  if (components % ring_size(ring) != 0) {
    detail::malformed_file("ring: " + std::to_string(components) +
                           " components are not a whole number of groups of " +
                           std::to_string(ring_size(ring)) + ", as ring " + text + " needs");
  }
  return ring;
}

/// One expression for each of `results`.
Formula read_operator(const json& value, const std::vector<Member>& results,
                      const std::vector<detail::Operand>& operands) {
  if (!value.is_object())
    detail::malformed_file(": must be an object with one expression per member");
  const JsonObject object(value, "");
  std::vector<std::string_view> known(results.size());
  std::ranges::transform(results, known.begin(), &Member::name);
  within(".", [&] { object.check_keys(known); });
  detail::FormulaBuilder builder;
  for (const Member& member : results) {
    within(".", [&] {
      const std::string text = object.text(member.name.c_str());
      within(member.name + ": ", [&] {
        const detail::Value result = detail::parse_expression(text, operands, builder);
        if (result.is_complex() && !member.is_complex) {
          detail::malformed_file("the expression is complex, the member is real");
        }
        builder.store(result, member.is_complex);
      });
    });
  }
  return builder.take();
}

EntryDefinition read_definition(const json& value) {
  if (!value.is_object()) detail::malformed_file("must be one JSON object");
  const JsonObject object(value, "");
  object.check_keys({"name", "description", "members", "vector_members", "ring", "multiply", "add",
                     "inverse", "adjoint"});
  EntryDefinition definition;
  definition.name = read_name(object);
  if (object.has("description")) object.text("description");
  for (const char* key : {"members", "multiply"}) static_cast<void>(object.at(key));
  const auto members_at = [&](const char* key) {
    return within(key, [&] { return read_members(object.at(key)); });
  };
  const auto members = members_at("members");
  const auto vector_members = object.has("vector_members") ? members_at("vector_members") : members;
  definition.components = component_names(members);
  definition.vector_components = component_names(vector_members);
  if (object.has("ring")) definition.ring = read_ring(object, definition.vector_size());

  const auto formula = [&](const char* key, const std::vector<Member>& results,
                           const std::vector<detail::Operand>& operands) {
    return within(key, [&] { return read_operator(object.at(key), results, operands); });
  };
  const detail::Operand a{"a", &members, Operation::first};
  const detail::Operand b{"b", &members, Operation::second};
  const detail::Operand x{"x", &vector_members, Operation::second};
  definition.product =
      detail::product_terms(definition, formula("multiply", vector_members, {a, x}));
  if (object.has("add")) detail::check_add(definition, formula("add", members, {a, b}));
  if (object.has("inverse")) definition.inverse = formula("inverse", members, {a});
  if (object.has("adjoint")) definition.adjoint = formula("adjoint", members, {a});
  detail::check_operators(definition);
  return definition;
}

}  // namespace

EntryDefinition parse_entry_definition(std::string_view json, const std::string& source) {
  constexpr int max_levels = 3;
  return within(source + ": ",
                [&] { return read_definition(detail::parse_strict_json(json, max_levels)); });
}

EntryDefinition read_entry_definition(const std::string& path) {
  constexpr std::size_t max_bytes = 1 << 20;
  return parse_entry_definition(detail::text_of_file(path, max_bytes), path);
}

std::vector<double> real_representation(const EntryDefinition& definition, const double* entry) {
  const int n = definition.vector_size();
  std::vector<double> matrix(static_cast<std::size_t>(n * n));
  for (const ProductTerm& term : definition.product) {
    matrix[static_cast<std::size_t>(term.result * n + term.right)] +=
        term.coefficient * entry[term.left];
  }
  return matrix;
}

detail::Arrangement arrangement(const EntryDefinition& definition) {
  const int n = definition.vector_size();
  detail::Arrangement arranged{n, n, definition.size(),
                               definition.ring == Ring::complex && definition.size() % 2 == 0,
                               std::vector<detail::Position>(static_cast<std::size_t>(n * n))};
  for (const ProductTerm& term : definition.product) {
    detail::Position& position =
        arranged.at[static_cast<std::size_t>(term.result * n + term.right)];
    if (position.sign != 0 || std::abs(term.coefficient) != 1) {
      throw Error(ErrorKind::unsupported, "the real representation of entry " + definition.name +
                                              " holds more than components and their negatives, so "
                                              "its tiles cannot be read; write the components, " +
                                              std::to_string(definition.size()) +
                                              " rows per entry");
    }
    position = {term.left, term.coefficient > 0 ? 1 : -1};
  }
  return arranged;
}

template <class S>
void invert(const EntryDefinition& definition, const S* entry, S* inverse,
            std::vector<S>& registers) {
  // An inverse is homogeneous of degree -1: inverse(a / s) / s = inverse(a).
  S scaled[EntryDefinition::max_components] = {};
  const auto K = static_cast<std::size_t>(definition.size());
  S largest = 0;
  for (std::size_t k = 0; k < K; ++k) largest = std::max(largest, std::abs(entry[k]));
  for (std::size_t k = 0; k < K; ++k) scaled[k] = entry[k] / largest;
  evaluate<S>(definition.inverse, scaled, nullptr, inverse, registers);
  for (std::size_t k = 0; k < K; ++k) inverse[k] /= largest;
}
template void invert(const EntryDefinition&, const float*, float*, std::vector<float>&);
template void invert(const EntryDefinition&, const double*, double*, std::vector<double>&);

}  // namespace heddle
