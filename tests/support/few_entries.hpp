// Entries that a typed test runs over: each listed entry costs time to compile and to run.
#pragma once

#include <gtest/gtest.h>

#include <type_traits>

#include "heddle/entries.hpp"
#include "support/sanitizers.hpp"

namespace heddle::test {

/// Groups of entries that methods distinguish.
enum class EntryGroup { real, complex, quaternion, square, other };

template <class E>
inline constexpr EntryGroup group_of_entry = EntryGroup::other;
template <class S>
inline constexpr EntryGroup group_of_entry<real<S>> = EntryGroup::real;
template <class S>
inline constexpr EntryGroup group_of_entry<complex<S>> = EntryGroup::complex;
template <class S>
inline constexpr EntryGroup group_of_entry<quaternion<S>> = EntryGroup::quaternion;
template <class S>
inline constexpr EntryGroup group_of_entry<dual_quaternion<S>> = EntryGroup::quaternion;
template <class Element, int size>
inline constexpr EntryGroup group_of_entry<block<Element, size, size>> = EntryGroup::square;

constexpr bool is_sanitized = HEDDLE_TEST_ADDRESS_SANITIZER || HEDDLE_TEST_THREAD_SANITIZER;

template <class E, class Other>
inline constexpr bool are_of_a_group = group_of_entry<E> == group_of_entry<Other>;
template <class E, class Other>
inline constexpr bool are_of_a_precision =
    std::is_same_v<vector_scalar_t<E>, vector_scalar_t<Other>>;
/// Numbers of several components: a sanitizer sees the same code for all of them.
template <class E>
inline constexpr bool is_wide_number =
    group_of_entry<E> == EntryGroup::complex || group_of_entry<E> == EntryGroup::quaternion;

/// True if the entries already taken stand for E: one is of its group, and one of its precision. A
/// sanitizer needs neither each precision nor each number of several components. It needs real
/// numbers least of all, since other entries are made of them.
template <class E, bool is_last, class... Taken>
constexpr bool is_stood_for() {
  if constexpr (is_sanitized) {
    return (group_of_entry<E> == EntryGroup::real && (!is_last || sizeof...(Taken) > 0)) ||
           (are_of_a_group<E, Taken> || ...) ||
           (is_wide_number<E> && (is_wide_number<Taken> || ...));
  } else {
    return (are_of_a_group<E, Taken> || ...) && (are_of_a_precision<E, Taken> || ...);
  }
}

template <class Taken, class Left>
struct FirstOfEach {
  using type = Taken;
};
template <class... Taken, class E, class... Left>
struct FirstOfEach<testing::Types<Taken...>, testing::Types<E, Left...>>
    : FirstOfEach<std::conditional_t<is_stood_for<E, sizeof...(Left) == 0, Taken...>(),
                                     testing::Types<Taken...>, testing::Types<Taken..., E>>,
                  testing::Types<Left...>> {};

/// Representatives of a list's entries; a build with HEDDLE_TEST_EVERY_ENTRY takes all of them.
template <class List>
using FewOf = typename std::conditional_t<HEDDLE_TEST_EVERY_ENTRY, std::type_identity<List>,
                                          FirstOfEach<testing::Types<>, List>>::type;

/// The same under a sanitizer, and the whole list elsewhere: for code of an entry's own.
template <class List>
using FewWhereSanitized = std::conditional_t<is_sanitized, FewOf<List>, List>;

}  // namespace heddle::test
