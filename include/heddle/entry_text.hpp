// An entry as text, for the run-time compiler of a GPU, in place of the type.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "heddle/entries.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// The C++ name of a type, and the headers that a program must include to use it: headers of
/// heddle/entries/, texts given here by name (of a printed type), or registered headers.
struct HEDDLE_EXPORT EntryText {
  std::string type;
  std::vector<std::string> headers;
  std::map<std::string, std::string> texts = {};
};

/// The text of a user's header, by the name that `HEDDLE_ENTRY` gives it. CMake's
/// `heddle_embed_entry(target file.hpp)` writes the calls. `text` must stay in place. Several
/// threads may call it at once.
HEDDLE_EXPORT bool register_entry_header(const char* name, std::string_view text);

/// Throws `Error` (unsupported) if no header of that name was registered, or two different ones.
HEDDLE_EXPORT std::string_view entry_header(const std::string& name);

namespace detail {

template <class E>
struct entry_text_of;  // not defined: the entry has no text, see HEDDLE_ENTRY

template <class S>
constexpr std::string_view scalar_name() {
  return std::is_same_v<S, float> ? "float" : "double";
}
/// A template of the library with its arguments, an element and sizes, in the header of its name.
HEDDLE_EXPORT EntryText built_in_text(std::string_view name, std::string_view element,
                                      std::initializer_list<int> sizes = {});
template <class S, int K>
struct entry_text_of<real<S, K>> {
  static EntryText text() { return built_in_text("real", scalar_name<S>(), {K}); }
};
template <class S>
struct entry_text_of<complex<S>> {
  static EntryText text() { return built_in_text("complex", scalar_name<S>()); }
};
template <class S>
struct entry_text_of<quaternion<S>> {
  static EntryText text() { return built_in_text("quaternion", scalar_name<S>()); }
};
template <class S>
struct entry_text_of<dual_quaternion<S>> {
  static EntryText text() { return built_in_text("dual_quaternion", scalar_name<S>()); }
};
template <class T, int R, int C>
struct entry_text_of<block<T, R, C>> {
  static EntryText text() {
    using S = typename block<T, R, C>::scalar;
    constexpr std::string_view of_complex =
        std::is_same_v<S, float> ? "heddle::complex<float>" : "heddle::complex<double>";
    return built_in_text("block", block<T, R, C>::is_complex ? of_complex : scalar_name<S>(),
                         {R, C});
  }
};
/// The text of an entry that acts as `arithmetic` and is stored in another way, by a header of
/// entries/.
HEDDLE_EXPORT EntryText kept_as(std::string_view kept, std::string_view header,
                                EntryText arithmetic);
template <class Stored, class A>
  requires requires { entry_text_of<A>::text(); }
struct entry_text_of<stored_as<Stored, A>> {
  static EntryText text() {
    return kept_as(scalar_name<Stored>(), "stored_as", entry_text_of<A>::text());
  }
};

template <class Code>
constexpr std::string_view code_name() {
  return std::is_same_v<Code, half_code>         ? "heddle::half_code"
         : std::is_same_v<Code, bfloat_code>     ? "heddle::bfloat_code"
         : std::is_same_v<Code, scaled_code>     ? "heddle::scaled_code"
         : std::is_same_v<Code, dictionary_code> ? "heddle::dictionary_code"
                                                 : "heddle::unit_code";
}
template <class Code, class A>
  requires requires { entry_text_of<A>::text(); }
struct entry_text_of<encoded<Code, A>> {
  static EntryText text() {
    return kept_as(code_name<Code>(), "encoded", entry_text_of<A>::text());
  }
};

}  // namespace detail

/// True if the entry's text is known, so that a GPU can run it.
template <class E>
concept has_entry_text = requires { detail::entry_text_of<E>::text(); };

}  // namespace heddle

/// States the text of a user's entry: HEDDLE_ENTRY(my::split<double>, "split.hpp"), outside of any
/// namespace and before the entry is first used. Write the type as any file would name it, without
/// a comma; for float entries, state also the one over double, in which residuals are computed. The
/// header must include only headers of heddle/entries/.
#define HEDDLE_ENTRY(Type, header)                                \
  template <>                                                     \
  struct heddle::detail::entry_text_of<Type> {                    \
    static heddle::EntryText text() { return {#Type, {header}}; } \
  };
