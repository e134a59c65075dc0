#include "exact_encoding.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "heddle/array.hpp"
#include "heddle/entries/encoded.hpp"
#include "heddle/entries/quaternion.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/team.hpp"
#include "narrowing.hpp"

namespace heddle {

namespace {

template <class T>
std::vector<T> on_host(const T* from, Offset count, const Stream& stream) {
  std::vector<T> there(from == nullptr ? 0 : static_cast<std::size_t>(count));
  if (!there.empty()) detail::copy_bytes(there.data(), from, there.size() * sizeof(T), stream);
  return there;
}

/// The entries on slots, on the host.
template <class T>
class SlotEntries {
 public:
  SlotEntries(const SlicedPattern& A, InnerLayout inner, int K, const T* from, const Stream& stream)
      : rule_(slot_rule(inner, K, A.C, A.slots, sizeof(T))), from_(from) {
    narrow_ = A.entry_of_slot.narrow();
    wide_ = A.entry_of_slot.wide();
    if (!stream.on_gpu()) return;
    values_ = on_host(from, A.slots * K, stream);
    own_narrow_ = on_host(narrow_, A.slots, stream);
    own_wide_ = on_host(wide_, A.slots, stream);
    from_ = values_.data();
    narrow_ = own_narrow_.empty() ? nullptr : own_narrow_.data();
    wide_ = own_wide_.empty() ? nullptr : own_wide_.data();
  }

  bool is_padding(Offset slot) const {
    if (narrow_ != nullptr) return narrow_[slot] == ~0u;
    return wide_ != nullptr && wide_[slot] == EntryMap::padding;
  }
  void take(Offset slot, T* entry) const {
    const int lane = static_cast<int>(slot % rule_.C);
    for (int k = 0; k < rule_.components; ++k) entry[k] = from_[rule_(slot - lane, lane, k)];
  }

 private:
  SlotRule rule_;
  const T* from_;
  const unsigned* narrow_;
  const Offset* wide_;
  std::vector<T> values_;
  std::vector<unsigned> own_narrow_;
  std::vector<Offset> own_wide_;
};

/// The entries of a list, one after the other.
template <class T>
struct ListedEntries {
  int K;
  const T* from;

  static bool is_padding(Offset) { return false; }
  void take(Offset i, T* entry) const { std::copy_n(from + i * K, K, entry); }
};

[[noreturn]] void refuse(StoredScalar kept, const std::string& entry, const std::string& why) {
  throw Error(ErrorKind::bad_plan, "plan: iteration-precision=" + std::string(name(kept)) + ": " +
                                       entry + " (counted from 0) " + why + "; leave it out");
}

/// Different values, compared by their bits, in an open hash table of their numbers.
template <class T>
class Dictionary {
 public:
  static constexpr int most = dictionary_code::max_values;
  Dictionary(int K, T* table) : K_(K), table_(table), number_of_(places, -1) {}

  /// The number of the entry's value, or -1 if there is no room for it.
  int number_of(const T* entry) {
    const std::size_t bytes = static_cast<std::size_t>(K_) * sizeof(T);
    std::uint64_t hash = 0;
    for (int k = 0; k < K_; ++k) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, entry + k, sizeof(T));
      hash = (hash ^ bits) * 0x9e3779b97f4a7c15ull;
      hash ^= hash >> 29;
    }
    for (std::size_t at = hash % places;; at = (at + 1) % places) {
      int& number = number_of_[at];
      if (number < 0) {
        if (count_ == most) return -1;
        std::memcpy(table_ + Offset(count_) * K_, entry, bytes);
        return number = count_++;
      }
      if (std::memcmp(table_ + Offset(number) * K_, entry, bytes) == 0) return number;
    }
  }

 private:
  static constexpr std::size_t places = 1024;
  int K_;
  T* table_;
  int count_ = 0;
  std::vector<int> number_of_;
};

/// Calls `number(slot, its value's number)` for `count` slots, or `refuse(slot, why)` for the first
/// one without a number. The table has room for `Dictionary::most` values.
template <class T, class Entries, class Number, class Refuse>
void number_values(Offset count, const Entries& entries, int K, T* table, const Number& number,
                   const Refuse& refuse) {
  Dictionary<T> dictionary(K, table);
  std::vector<T> entry(static_cast<std::size_t>(K));
  Offset read = 0;
  for (Offset slot = 0; slot < count; ++slot) {
    if (entries.is_padding(slot)) continue;
    entries.take(slot, entry.data());
    ++read;
    const int found = dictionary.number_of(entry.data());
    if (found < 0) {
      refuse(slot, "differs from the 256 values of the " + std::to_string(read - 1) +
                       " entries before it, and a dictionary holds no more");
    }
    number(slot, found);
  }
}

/// Reals times units, with a list of 1 and the reals found so far.
template <class T>
class Units {
 public:
  using Kept = encoded<unit_code, quaternion<T>>;
  static constexpr int most = unit_code::max_values;
  explicit Units(T* table) : table_(table) { table_[count_++] = 1; }

  /// Encodes the quaternion by a listed real.
  bool encode(const T* q, Kept& kept) const {
    const auto norm = norm_of(q);
    if (!(norm <= static_cast<long double>(std::numeric_limits<T>::max()))) return false;
    for (int i = 0; i < count_; ++i) {
      if (std::abs(static_cast<long double>(table_[i]) - norm) > 8 * ulp(norm)) continue;
      if (encode_by(q, i, norm, kept)) return true;
    }
    return false;
  }
  /// Lists the quaternion's real; false if the list is full, or if no real would help.
  bool list(const T* q) {
    const auto norm = norm_of(q);
    if (count_ == most || !(norm <= static_cast<long double>(std::numeric_limits<T>::max()))) {
      return false;
    }
    // A round number nearby is more likely meant than one that some rounding has left.
    const T unit = std::ldexp(T(1), norm > 0 ? std::ilogb(static_cast<T>(norm)) - digits / 2 : 0);
    const T round = static_cast<T>(std::nearbyint(static_cast<T>(norm) / unit)) * unit;
    const bool is_round = std::abs(static_cast<long double>(round) - norm) <= 2 * ulp(norm);
    table_[count_++] = is_round ? round : static_cast<T>(norm);
    Kept kept;
    if (encode(q, kept)) return true;
    --count_;
    return false;
  }

 private:
  static constexpr int digits = std::numeric_limits<T>::digits;
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

  static long double norm_of(const T* q) {
    long double squares = 0;
    for (int k = 0; k < 4; ++k) squares += static_cast<long double>(q[k]) * q[k];
    return std::sqrt(squares);
  }
  /// The ulp of 1, times the norm.
  static long double ulp(long double norm) { return std::ldexp(norm, 1 - digits); }

  /// Encodes the point t, rounded to the bits that the number and the sign leave.
  bool encode_by(const T* q, int number, long double norm, Kept& kept) const {
    const long double real = std::abs(static_cast<long double>(q[0]));
    const long double per_part = norm > 0 ? 2 / (norm + real) : 1;
    const int given[] = {number & 3, number >> 2, std::signbit(q[0]) ? 1 : 0};
    T t[3];
    for (int k = 0; k < 3; ++k) {
      const long double exact = per_part * q[k + 1];
      t[k] = static_cast<T>(given[2] != 0 ? -exact : exact);
      const Bits unit = Bits(1) << unit_code::bits_of(k);
      Bits bits;
      std::memcpy(&bits, &t[k], sizeof bits);
      bits = (bits + unit / 2) & ~(unit - 1);
      std::memcpy(&t[k], &bits, sizeof bits);
      bits |= static_cast<Bits>(given[k]);
      std::memcpy(&kept.component[k], &bits, sizeof bits);
    }
    return is_near(q, t, given[2] != 0 ? -table_[number] : table_[number], norm);
  }

  /// True if a decoder comes within four ulp of the norm, however it rounds |t|^2: compilers may
  /// fuse each product with the sum before or after it.
  static bool is_near(const T* q, const T* t, T r, long double norm) {
    const T square[] = {t[0] * t[0], t[1] * t[1], t[2] * t[2]};
    const T of_two[] = {square[0] + square[1], std::fma(t[0], t[0], square[1]),
                        std::fma(t[1], t[1], square[0])};
    T last = 0;
    for (const T sum : of_two) {
      for (const T squares : {sum + square[2], std::fma(t[2], t[2], sum)}) {
        const T d = 1 + squares / 4;
        if (d == last) continue;
        last = d;
        if (!is_near(q, t, d, r * (1 / d), norm)) return false;
        // A GPU takes 1/2 for the reciprocal there.
        if (d == std::nextafter(T(2), T(0)) && !is_near(q, t, d, r / 2, norm)) return false;
      }
    }
    return true;
  }
  static bool is_near(const T* q, const T* t, T d, T factor, long double norm) {
    T is[4];
    unit_code::restore(t, d, factor, is);
    long double off = 0;
    for (int k = 0; k < 4; ++k) {
      const auto by = static_cast<long double>(is[k]) - q[k];
      off += by * by;
    }
    return std::sqrt(off) <= 4 * ulp(norm);
  }

  T* table_;
  int count_ = 0;
};

/// Calls `keep(slot, kept)` for `count` slots, in several threads, or `refuse(slot, why)` for the
/// first that is no unit times a real of the table, which has room for `Units::most`.
template <class T, class Entries, class Keep, class Refuse>
void find_units(Offset count, const Entries& entries, T* table, const Stream& stream,
                const Keep& keep, const Refuse& refuse) {
  using Kept = typename Units<T>::Kept;
  Units<T> units(table);
  // In pieces, so that little is repeated once a real has been found.
  constexpr Offset piece = 1 << 16;
  for (Offset begin = 0; begin < count;) {
    const Offset end = std::min(count, (begin / piece + 1) * piece);
    const auto encode = [&](Offset i, Offset& first_unlisted) {
      const Offset slot = begin + i;
      if (entries.is_padding(slot)) return;
      T q[4];
      entries.take(slot, q);
      Kept kept;
      if (units.encode(q, kept)) {
        keep(slot, kept);
      } else {
        first_unlisted = std::min(first_unlisted, slot);
      }
    };
    const auto join = [](Offset& first, Offset other) { first = std::min(first, other); };
    const Offset unlisted = parallel_reduce(team_size(Stream{stream.threads}, end - begin),
                                            end - begin, Offset{end}, encode, join);
    if (unlisted < end) {
      T q[4];
      entries.take(unlisted, q);
      if (!units.list(q)) {
        refuse(
            unlisted,
            "is not a unit times one of 16 reals (including 1 and those of the entries before it)");
      }
    }
    begin = unlisted;
  }
}

}  // namespace

template <class T>
void encode_exactly(const SlicedPattern& pattern, InnerLayout inner, int K, StoredScalar kept,
                    const T* from, std::span<std::byte> to, const Stream& stream) {
  const SlotEntries<T> entries(pattern, inner, K, from, stream);
  std::vector<std::byte> words(to.size());
  const auto refuse_slot = [&](Offset slot, const std::string& why) {
    refuse(kept, detail::entry_on(slot, pattern, stream), why);
  };
  const auto table_of = [&](int values, int scalars) {
    const std::size_t bytes = static_cast<std::size_t>(values * scalars) * sizeof(T);
    return reinterpret_cast<T*>(words.data() + (to.size() - bytes));
  };
  if (kept == StoredScalar::dictionary) {
    number_values(
        pattern.slots, entries, K, table_of(dictionary_code::max_values, K),
        [&](Offset slot, int number) {
          words[static_cast<std::size_t>(slot)] = static_cast<std::byte>(number);
        },
        refuse_slot);
  } else {
    using Kept = typename Units<T>::Kept;
    T* const scalars = reinterpret_cast<T*>(words.data());
    const auto rule = slot_rule(inner, Kept::components, pattern.C, pattern.slots, sizeof(T));
    const auto keep = [&](Offset slot, const Kept& unit) {
      const int lane = static_cast<int>(slot % rule.C);
      for (int k = 0; k < Kept::components; ++k) {
        scalars[rule(slot - lane, lane, k)] = unit.component[k];
      }
    };
    find_units(pattern.slots, entries, table_of(unit_code::max_values, 1), stream, keep,
               refuse_slot);
  }
  detail::copy_bytes(to.data(), words.data(), words.size(), stream);
}
template void encode_exactly(const SlicedPattern&, InnerLayout, int, StoredScalar, const float*,
                             std::span<std::byte>, const Stream&);
template void encode_exactly(const SlicedPattern&, InnerLayout, int, StoredScalar, const double*,
                             std::span<std::byte>, const Stream&);

template <class T>
void check_exact_copy(const PatternView& pattern, int K, const T* values, StoredScalar kept,
                      int threads) {
  const ListedEntries<T> entries{K, values};
  const auto refuse_entry = [&](Offset i, const std::string& why) {
    Index row = 0;
    while (pattern.offsets[row + 1] <= i) ++row;
    refuse(
        kept,
        "the entry of row " + std::to_string(row) + ", column " + std::to_string(pattern.column[i]),
        why);
  };
  if (kept == StoredScalar::dictionary) {
    std::vector<T> table(static_cast<std::size_t>(dictionary_code::max_values * K));
    number_values(pattern.entries(), entries, K, table.data(), [](Offset, int) {}, refuse_entry);
  } else if (kept == StoredScalar::unit && K == 4) {
    T table[unit_code::max_values];
    const auto keep = [](Offset, const typename Units<T>::Kept&) {};
    find_units(pattern.entries(), entries, table, Stream{threads}, keep, refuse_entry);
  }
}
template void check_exact_copy(const PatternView&, int, const float*, StoredScalar, int);
template void check_exact_copy(const PatternView&, int, const double*, StoredScalar, int);

}  // namespace heddle
