#include "local_inverse.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "base/long_double.hpp"
#include "base/memory_limits.hpp"
#include "base/text/readable.hpp"
#include "heddle/tools/team.hpp"
#include "solvers/tiles/stored_scalars.hpp"

namespace heddle::detail {

namespace {

constexpr int max_power = 4;
/// Maximum number of scalar rows of a block: its inverse costs as many products per row.
constexpr int max_rows_of_block = 32;
/// Systems that a thread takes at a time: rows differ in length.
constexpr Offset systems_at_once = 16;

}  // namespace

template <class S>
LocalInverse<S>::LocalInverse(const EntryTable<S>& entry, EntryTableHandle<S> stored,
                              InverseForm form, int number, const Device& host, bool computes)
    : form_(form), number_(number), host_(host), computes_(computes), entry_(std::move(stored)) {
  const bool has_blocks = form == InverseForm::blocks;
  if (!has_blocks && (number < 1 || number > max_power)) {
    throw Error(ErrorKind::usage, std::string(name()) + " takes a power of 1 to " +
                                      std::to_string(max_power) + ", not " +
                                      std::to_string(number));
  }
  check(entry);
  tiles_ = tiles_of(entry, name());
  solve_ = local_solver<D>(tiles_.ring);
  const Index most = max_rows_of_block();
  if (has_blocks && (number < 0 || number > most)) {
    throw Error(ErrorKind::usage, "block Jacobi takes groups of 1 to " + std::to_string(most) +
                                      " of these entries, not " + std::to_string(number));
  }
}

template <class S>
Index LocalInverse<S>::max_rows_of_block() const {
  return std::max(detail::max_rows_of_block / (tiles_.size * tiles_.ring), 1);
}

template <class S>
Index LocalInverse<S>::first_without_diagonal(const UserRows& rows) const {
  return form_ == InverseForm::blocks ? rows.rows() : first_row_without_diagonal(rows, of_rank_);
}

template <class S>
void LocalInverse<S>::make_powers(const UserRows& rows) {
  pattern_ = power_rows(
      rows, number_, form_ == InverseForm::factorized,
      {.who = name(), .numbers = tiles_.size, .ring = tiles_.ring, .bytes = bytes_of_entry()},
      of_rank_, host_.stream());
}

template <class S>
void LocalInverse<S>::make_blocks(GroupStarts groups) {
  groups_ = std::move(groups);
  check_memory(entries_of(groups_), max_rows_of_block(), 0);
  pattern_ = group_rows(groups_, of_rank_);
}

template <class S>
UserRows LocalInverse<S>::make_adjoint_pattern() {
  return transposed(pattern_, pattern_.rows(), host_.stream(), place_in_second_);
}

template <class S>
void LocalInverse<S>::forget_values() {
  first_values_ = {};
  second_values_ = {};
  scratch_ = {};
}
template <class S>
void LocalInverse<S>::forget_patterns() {
  pattern_ = {};
  place_in_second_ = {};
}

template <class S>
int LocalInverse<S>::team(Offset entries) const {
  constexpr Offset work_of_entry = 64;
  return team_size(host_.stream(), entries * tiles_.components() * work_of_entry);
}

/// Host memory for an entry of the pattern: operators with their columns, which pass through it on
/// their way to a GPU, and values to update them with. A GPU computes the values itself.
template <class S>
long long LocalInverse<S>::bytes_of_entry() const {
  constexpr long long index = sizeof(Index), offset = sizeof(Offset);
  const long long of_operator = (!computes_ ? offset : 2LL * entry_->bytes()) + index;
  return form_ == InverseForm::factorized ? 2 * of_operator + index + offset : of_operator;
}

/// Called before anything of that size is allocated.
template <class S>
void LocalInverse<S>::check_memory(Offset entries, Index longest, Offset entries_of_matrix) const {
  const double numbers = static_cast<double>(longest) * tiles_.size;
  const double dense =
      ((numbers + tiles_.size + 2) * tiles_.ring * sizeof(D) + sizeof(Index)) * numbers;
  const double of_host = team(entries) * dense +
                         static_cast<double>(entries_of_matrix) * tiles_.components() * sizeof(D);
  const double all = static_cast<double>(entries) * static_cast<double>(bytes_of_entry()) +
                     (computes_ ? of_host : 0);
  const long long available = available_host_memory() / of_rank_.sharing_memory;
  if (all <= static_cast<double>(available)) return;
  const auto needed = static_cast<long long>(std::min(all, 9e18));
  throw Error(ErrorKind::memory,
              std::string(name()) + ": " + std::to_string(entries) + " entries, " +
                  std::to_string(longest) + " in the longest row, need " + readable_bytes(needed) +
                  " of the host's memory to set up, available are " + readable_bytes(available) +
                  "; use " + (form_ == InverseForm::blocks ? "smaller groups" : "a lower power") +
                  ", or jacobi");
}

template <class S>
void LocalInverse<S>::check_memory(Offset entries) const {
  Index longest = 0;
  for (Index row = 0; row < pattern_.rows(); ++row) {
    longest = std::max(longest, static_cast<Index>(pattern_.row(row).size()));
  }
  check_memory(pattern_.entries(), longest, entries);
}

template <class S>
FailedRows LocalInverse<S>::compute(const UserRows& rows, std::span<const D> values) {
  const bool has_blocks = form_ == InverseForm::blocks;
  const auto bytes = static_cast<std::size_t>(pattern_.entries() * entry_->bytes());
  if (first_values_.size() != bytes) first_values_ = Array<std::byte>(bytes);
  if (form_ == InverseForm::factorized && second_values_.size() != bytes) {
    second_values_ = Array<std::byte>(bytes);
  }
  const int threads = team(pattern_.entries());
  scratch_.resize(static_cast<std::size_t>(threads));
  const Index n = pattern_.rows();
  std::atomic<Index> first_singular{n}, first_without{n}, first_too_large{n};
  std::atomic<std::size_t> next_scratch{0};
  parallel_shares(threads, units(), systems_at_once, [&](auto&& for_each) {
    Scratch& scratch = scratch_[next_scratch++];
    for_each([&](Index unit) {
      const auto u = static_cast<std::size_t>(unit);
      const Index first = has_blocks ? groups_[u] : unit;
      const Index end = has_blocks ? groups_[u + 1] : unit + 1;
      Index own = first;
      while (own < end && pattern_.row(own).empty()) ++own;
      if (own == end) return;
      if (!solve_rows({rows, values}, first, end, pattern_.row(own), scratch)) {
        return lower(first_singular, first);
      }
      const Offset of_row =
          static_cast<Offset>(pattern_.row(own).size()) * tiles_.size * tiles_.size * tiles_.ring;
      for (Index row = own; row < end; ++row) {
        if (pattern_.row(row).empty()) continue;
        const RowOutcome outcome = store(row, scratch.result.data() + (row - first) * of_row);
        if (outcome == RowOutcome::no_entry) lower(first_without, row);
        if (outcome == RowOutcome::too_large) lower(first_too_large, row);
      }
    });
  });
  return {first_singular, first_too_large, first_without};
}

/// A[J, J] for the columns J.
template <class S>
void LocalInverse<S>::gather(const Matrix& matrix, std::span<const Index> wanted,
                             Scratch& scratch) const {
  const int v = tiles_.size, r = tiles_.ring, K = tiles_.components();
  const Offset n = static_cast<Offset>(wanted.size()) * v;
  std::fill_n(scratch.matrix.begin(), n * n * r, D(0));
  for (std::size_t a = 0; a < wanted.size(); ++a) {
    const std::span<const Index> columns = matrix.rows.row(wanted[a]);
    const Offset first = matrix.rows.begin(wanted[a]);
    std::size_t b = form_ == InverseForm::factorized ? a : 0;
    auto at = std::lower_bound(columns.begin(), columns.end(), wanted[b]);
    for (; at != columns.end() && b < wanted.size(); ++at) {
      while (b < wanted.size() && wanted[b] < *at) ++b;
      if (b == wanted.size() || wanted[b] != *at) continue;
      const D* const entry = matrix.values.data() + (first + (at - columns.begin())) * K;
      const SignedPlace* number = tiles_.component_of.data();
      for (int i = 0; i < v; ++i) {
        D* to = scratch.matrix.data() +
                ((static_cast<Offset>(a) * v + i) * n + static_cast<Offset>(b) * v) * r;
        for (int k = 0; k < v * r; ++k, ++number) {
          *to++ = static_cast<D>(number->sign) * entry[number->at];
        }
      }
    }
  }
}

/// The rows [first, end) of the inverse of A[J, J] for their common columns J, `wanted`; false if
/// there is none.
template <class S>
bool LocalInverse<S>::solve_rows(const Matrix& matrix, Index first, Index end,
                                 std::span<const Index> wanted, Scratch& scratch) const {
  const auto v = static_cast<std::size_t>(tiles_.size), r = static_cast<std::size_t>(tiles_.ring);
  const std::size_t n = wanted.size() * v, results = static_cast<std::size_t>(end - first) * v;
  const auto grow = [](auto& vector, std::size_t size) {
    if (vector.size() < size) vector.resize(size);
  };
  grow(scratch.matrix, n * n * r);
  grow(scratch.result, results * n * r);
  grow(scratch.numbers, LocalSystem<D>::scratch_scalars(n, r) + n);
  grow(scratch.order, n);
  gather(matrix, wanted, scratch);
  LocalSystem<D> system;
  const auto place = std::lower_bound(wanted.begin(), wanted.end(), first) - wanted.begin();
  system.size = static_cast<Index>(n);
  system.wanted = static_cast<Index>(results);
  system.first_wanted = static_cast<Index>(place) * static_cast<Index>(v);
  system.smallest_pivot = static_cast<D>(n) * std::numeric_limits<D>::epsilon();
  system.matrix = scratch.matrix.data();
  system.result = scratch.result.data();
  system.scratch = scratch.numbers.data();
  system.order = scratch.order.data();
  if (form_ != InverseForm::blocks) return solve_(system, form_ == InverseForm::factorized);
  // Elimination leaves rounding that methods for Hermitian preconditioners would notice.
  const auto symmetry =
      symmetry_of(system.matrix, system.size, tiles_.ring, static_cast<D>(mirror_tolerance()));
  if (!put_units_in_zero_rows(system.matrix, system.size, tiles_.ring)) return false;
  D* const of_columns = scratch.numbers.data() + LocalSystem<D>::scratch_scalars(n, r);
  find_largest_of_columns(system.matrix, system.size, tiles_.ring, of_columns);
  if (!solve_(system, false)) {
    put_inverse_of_diagonal(of_columns, system.size, tiles_.ring, system.result);
  } else {
    symmetrize(system.result, system.size, tiles_.ring, symmetry);
  }
  return true;
}

/// Stores a result's tiles as entries: those of row `row`, or, factorized, of G and of G*.
template <class S>
typename LocalInverse<S>::RowOutcome LocalInverse<S>::store(Index row, const D* result) {
  const int v = tiles_.size, r = tiles_.ring, K = tiles_.components();
  const int bytes = entry_->sizes.stored_bytes;
  const auto count = static_cast<Offset>(pattern_.row(row).size());
  const bool is_factor = form_ == InverseForm::factorized;
  // A tile that is zero except for rounding has the rounding errors of the row's other tiles.
  D largest = 0;
  for (Offset at = 0; at < count * v * v * r; ++at) {
    largest = std::max(largest, std::abs(result[at]));
  }
  const D tolerance = std::sqrt(std::numeric_limits<D>::epsilon()) * largest;
  RowOutcome outcome = RowOutcome::done;
  // Stores the tile, with elements (i, j), of the row at column b of the pattern.
  const auto store_entry = [&](std::byte* values, Offset entry, Offset b, bool is_transposed,
                               bool is_conjugated) {
    const auto number_in = [&](int at) {
      const int i = at / r / v, j = at / r % v, p = at % r;
      const Offset of_row = is_transposed ? j : i, in_row = is_transposed ? i : j;
      const auto number = (of_row * count + b) * v + in_row;
      const D value = result[number * r + p];
      return is_conjugated && p > 0 ? -value : value;
    };
    for (int at = 0; at < v * v * r; ++at) {
      const auto [component, sign] = tiles_.component_of[static_cast<std::size_t>(at)];
      const auto [from, from_sign] = tiles_.number_of[static_cast<std::size_t>(component)];
      const D expected = static_cast<D>(sign * from_sign) * number_in(from);
      if (!(std::abs(number_in(at) - expected) <= tolerance)) outcome = RowOutcome::no_entry;
    }
    for (int k = 0; k < K; ++k) {
      const auto [from, sign] = tiles_.number_of[static_cast<std::size_t>(k)];
      const D stored =
          set_stored(values, bytes, entry * K + k, static_cast<D>(sign) * number_in(from));
      if (!std::isfinite(stored)) outcome = RowOutcome::too_large;
    }
  };
  for (Offset b = 0; b < count; ++b) {
    const Offset entry = pattern_.begin(row) + b;
    // The result of a factorized system holds columns of G*.
    store_entry(first_values_.data(), entry, b, false, is_factor);
    if (!is_factor) continue;
    store_entry(second_values_.data(), place_in_second_[static_cast<std::size_t>(entry)], b, true,
                false);
  }
  return outcome;
}

template class LocalInverse<float>;
template class LocalInverse<double>;
HEDDLE_IN_LONG_DOUBLE(template class LocalInverse<long double>;)

}  // namespace heddle::detail
