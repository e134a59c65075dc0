// How the value of a setting is read, and to which member it is written.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/names.hpp"
#include "heddle/runtime/settings.hpp"
#include "heddle/tools/text.hpp"

namespace heddle::detail {

/// The part of a row that follows from the kind of its value.
struct SettingValues {
  ValueKind kind;
  std::string_view words;
  bool (*is_value)(std::string_view);
  void (*write)(void*, std::string_view);
};

/// A double may begin with a +, and is 0 where it is smaller than all others.
template <class T>
std::optional<T> number_in(std::string_view text) {
  if (std::is_floating_point_v<T> && text.size() > 1 && text[0] == '+' && text[1] != '-') {
    text.remove_prefix(1);
  }
  T value{};
  const char *const begin = text.data(), *const end = begin + text.size();
  const auto [stop, failed] = std::from_chars(begin, end, value);
  if (stop != end || failed == std::errc::invalid_argument) return std::nullopt;
  if (failed == std::errc()) return value;
  if constexpr (std::is_floating_point_v<T>) {
    const double nearest = std::strtod(std::string(text).c_str(), nullptr);
    if (std::isfinite(nearest)) return nearest;
  }
  return std::nullopt;
}

/// Whole ones without a point, as far as doubles tell them apart.
inline std::string text_of_number(double value) {
  constexpr double exact = 9007199254740992.0;  // 2^53
  std::string text;
  if (std::abs(value) <= exact && value == std::trunc(value)) {
    io::append_number(text, static_cast<long long>(value));
  } else {
    io::append_number(text, value);
  }
  return text;
}

/// Numbers with blanks or commas between them; empty where something else is among them.
template <class T>
std::vector<T> numbers_in(std::string_view text) {
  std::vector<T> numbers;
  for (std::size_t from = text.find_first_not_of(" ,"); from != std::string_view::npos;) {
    const std::size_t to = std::min(text.find_first_of(" ,", from), text.size());
    const auto number = number_in<T>(text.substr(from, to - from));
    if (!number) return {};
    numbers.push_back(*number);
    from = text.find_first_not_of(" ,", to);
  }
  return numbers;
}

inline std::optional<bool> yes_or_no(std::string_view text) {
  for (const auto& [word, is_yes] : {std::pair{"true", true},
                                     {"yes", true},
                                     {"on", true},
                                     {"1", true},
                                     {"false", false},
                                     {"no", false},
                                     {"off", false},
                                     {"0", false}}) {
    if (is_same_name(text, word)) return is_yes;
  }
  return std::nullopt;
}

/// A member of a member of ... of `object`.
template <auto first, auto... rest, class Object>
auto& member_of(Object& object) {
  if constexpr (sizeof...(rest) == 0) {
    return object.*first;
  } else {
    return member_of<rest...>(object.*first);
  }
}

/// Kinds of values that `path` leads to from `Options`. `fits` tells which numbers are of the
/// range.
template <class Options, auto... path>
struct To {
  template <auto fits>
  static constexpr SettingValues number(std::string_view words) {
    return {ValueKind::number, words,
            [](std::string_view text) {
              const auto value = number_in<double>(text);
              return value && fits(*value);
            },
            [](void* options, std::string_view text) {
              const double value = *number_in<double>(text);
              at(options) = value;
            }};
  }
  template <auto fits>
  static constexpr SettingValues whole_number(std::string_view words) {
    using Whole =
        std::conditional_t<std::is_same_v<Member, std::uint64_t>, std::uint64_t, long long>;
    return {ValueKind::whole_number, words,
            [](std::string_view text) {
              const auto value = number_in<Whole>(text);
              return value && std::in_range<Member>(*value) && fits(*value);
            },
            [](void* options, std::string_view text) {
              at(options) = static_cast<Member>(*number_in<Whole>(text));
            }};
  }
  static constexpr SettingValues yes_or_no() {
    return {ValueKind::yes_or_no, "true or false",
            [](std::string_view text) { return detail::yes_or_no(text).has_value(); },
            [](void* options, std::string_view text) { at(options) = *detail::yes_or_no(text); }};
  }
  /// `find` gives what a name stands for, as an optional.
  template <auto find>
  static constexpr SettingValues name(std::string_view words) {
    return {ValueKind::name, words, [](std::string_view text) { return find(text).has_value(); },
            [](void* options, std::string_view text) { at(options) = *find(text); }};
  }
  /// In small letters.
  static constexpr SettingValues word(std::string_view words) {
    SettingValues values = text(words);
    values.write = [](void* options, std::string_view text) { at(options) = lower_case(text); };
    return values;
  }
  static constexpr SettingValues text(std::string_view words) {
    return {ValueKind::text, words, [](std::string_view text) { return !text.empty(); },
            [](void* options, std::string_view text) { at(options) = std::string(text); }};
  }

  static auto& at(void* options) { return member_of<path...>(*static_cast<Options*>(options)); }

 private:
  using Member = std::remove_cvref_t<decltype(member_of<path...>(std::declval<Options&>()))>;
};

constexpr SettingValues as_numbers(SettingValues values) {
  values.kind = ValueKind::numbers;
  return values;
}

// Ranges of numbers.
inline constexpr auto from_0 = [](double value) { return value >= 0; };
inline constexpr auto finite_from_0 = [](double value) {
  return value >= 0 && std::isfinite(value);
};
inline constexpr auto whole_from_0 = [](long long value) { return value >= 0; };

/// A row, whose help is put together in the order in which it is read.
constexpr SettingRow row(SettingUse use, std::string_view name, const SettingValues& values,
                         std::string_view value_name, std::string_view by_default,
                         std::string_view help, std::string_view alias = "",
                         bool MethodInfo::* taken_by = nullptr, bool of_programs = false) {
  return {name,       alias, use,      values.kind, value_name,      values.words,
          by_default, help,  taken_by, of_programs, values.is_value, values.write};
}

}  // namespace heddle::detail
