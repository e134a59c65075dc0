#include "inverse_parts.hpp"

#include <atomic>
#include <cmath>
#include <limits>

#include "base/memory_limits.hpp"
#include "base/readable.hpp"
#include "heddle/config.hpp"
#include "heddle/preconditioner.hpp"
#include "heddle/runtime/entry_definition.hpp"
#include "heddle/tools/team.hpp"
#include "inverse_cuda.hpp"
#include "operator_checks.hpp"
#include "stored_scalars.hpp"

namespace heddle::detail {

namespace {

constexpr int most_power = 4;
/// Scalar rows of a block: its inverse costs as many products a row.
constexpr int most_rows_of_block = 32;
/// Systems that a thread takes at a time: rows differ in length.
constexpr Offset systems_at_once = 16;

}  // namespace

template <class S>
InverseParts<S>::InverseParts(const SlicedOperator<S>& matrix, InverseForm form, int number)
    : matrix_(matrix), form_(form), host_(Device::cpu(matrix.device().threads())) {
  if (form != InverseForm::blocks && (number < 1 || number > most_power)) {
    throw Error(ErrorKind::usage, std::string(name()) + " takes the power 1 to " +
                                      std::to_string(most_power) + ", not " +
                                      std::to_string(number));
  }
  check();
  tiles_ = tiles_of(matrix.entry(), name());
  solve_ = local_solver<D>(tiles_.ring);
  rows_ = stored_rows(matrix.pattern(), host_.stream());
  make_entry();
  if (form == InverseForm::blocks) {
    make_groups(number);
  } else {
    make_pattern(number);
  }
  make_operators();
  compute();
}

template <class S>
void InverseParts<S>::make_pattern(int power) {
  if (const Index row = first_row_without_diagonal(rows_); row < rows_.rows()) {
    throw Error(ErrorKind::singular,
                std::string(name()) + ": the diagonal entry of " + row_text(row) + " is missing");
  }
  pattern_ = power_rows(
      rows_, power, form_ == InverseForm::factorized,
      {.who = name(), .numbers = tiles_.size, .ring = tiles_.ring, .bytes = bytes_of_entry()},
      host_.stream());
}

template <class S>
void InverseParts<S>::make_groups(int size) {
  const int rows_of_entry = tiles_.size * tiles_.ring;
  const Index most = std::max(most_rows_of_block / rows_of_entry, 1);
  if (size < 0 || size > most) {
    throw Error(ErrorKind::usage, "block Jacobi takes groups of 1 to " + std::to_string(most) +
                                      " of these entries, not " + std::to_string(size));
  }
  groups_ = size > 0 ? uniform_groups(rows_.rows(), size) : natural_groups(rows_, most);
  check_room(entries_of(groups_), most);
  pattern_ = group_rows(groups_);
}

template <class S>
int InverseParts<S>::team(Offset entries) const {
  constexpr Offset work_of_entry = 64;
  return team_size(host_.stream(), entries * tiles_.components() * work_of_entry);
}

/// Of the host's memory, for an entry of the pattern: operators with their columns, which pass
/// through it on their way to a GPU, and values to update them with. A GPU computes those itself.
template <class S>
long long InverseParts<S>::bytes_of_entry() const {
  constexpr long long index = sizeof(Index), offset = sizeof(Offset);
  const bool on_gpu = computes_on_gpu();
  const long long of_operator = (on_gpu ? offset : 2LL * entry_->bytes()) + index;
  return form_ == InverseForm::factorized ? 2 * of_operator + index + offset : of_operator;
}

/// Before anything of that size is allocated.
template <class S>
void InverseParts<S>::check_room(Offset entries, Index longest) const {
  const double numbers = static_cast<double>(longest) * tiles_.size;
  const double dense =
      ((numbers + tiles_.size + 2) * tiles_.ring * sizeof(D) + sizeof(Index)) * numbers;
  const double of_host = team(entries) * dense +
                         static_cast<double>(rows_.entries()) * tiles_.components() * sizeof(D);
  const double all = static_cast<double>(entries) * static_cast<double>(bytes_of_entry()) +
                     (computes_on_gpu() ? 0 : of_host);
  const long long available = available_host_memory();
  if (all <= static_cast<double>(available)) return;
  const auto needed = static_cast<long long>(std::min(all, 9e18));
  throw Error(ErrorKind::memory,
              std::string(name()) + ": " + std::to_string(entries) +
                  " entries, the longest row of them " + std::to_string(longest) + ", need " +
                  readable_bytes(needed) + " of the host's memory to set up, available are " +
                  readable_bytes(available) + "; take " +
                  (form_ == InverseForm::blocks ? "smaller groups" : "a lower power") +
                  ", or jacobi");
}

/// Floats suffice where iterations read a copy in them: only that plan has refused values outside
/// their range.
template <class S>
void InverseParts<S>::make_entry() {
  const bool is_narrow =
      matrix_.plan().layout.stored == StoredScalar::single && matrix_.entry().narrow != nullptr;
  entry_ =
      is_narrow ? matrix_.entry().narrow : std::make_shared<const EntryTable<S>>(matrix_.entry());
}

template <class S>
void InverseParts<S>::make_operators() {
  Plan plan = matrix_.plan();
  plan.layout.stored = StoredScalar::own;
  // A product that counts what its blocks have taken allocates for each stream that it meets.
  if (matrix_.device().on_gpu()) plan.schedule.kind = ScheduleKind::full;

  Index longest = 0;
  for (Index row = 0; row < pattern_.rows(); ++row) {
    longest = std::max(longest, static_cast<Index>(pattern_.row(row).size()));
  }
  check_room(pattern_.entries(), longest);
  const auto make = [&](const UserRows& rows) {
    return std::make_shared<SlicedOperator<S>>(entry_, rows.view(), ComponentOrder::row_major, plan,
                                               matrix_.device(), matrix_.row_basis(),
                                               matrix_.column_basis());
  };
  first_ = make(pattern_);
  if (form_ == InverseForm::factorized) {
    second_ = make(transposed(pattern_, pattern_.rows(), host_.stream(), place_in_second_));
    between_ = std::make_shared<OperatorField<S>>(row_field_of(*first_));
  }
  if (make_on_gpu()) return;
  const auto bytes = static_cast<std::size_t>(pattern_.entries() * entry_->bytes());
  first_values_ = Array<std::byte>(bytes);
  if (second_) second_values_ = Array<std::byte>(bytes);
  values_ = Array<D>(static_cast<std::size_t>(rows_.entries() * tiles_.components()));
  scratch_.resize(static_cast<std::size_t>(team(pattern_.entries())));
}

/// From there on a GPU needs nothing of the host.
template <class S>
bool InverseParts<S>::make_on_gpu() {
  if constexpr (has_cuda) {
    if (!computes_on_gpu()) return false;
    const cuda::Product* const matrix = matrix_.product_on_gpu();
    on_gpu_ = std::make_shared<cuda::LocalInverse>(
        tiles_,
        cuda::LocalInverse::Parts{
            *matrix, *first_->product_on_gpu(), second_ ? second_->product_on_gpu() : nullptr,
            first_->stored_values().data(), second_ ? second_->stored_values().data() : nullptr,
            place_in_second_.span()},
        matrix_.device());
    rows_ = {};
    pattern_ = {};
    place_in_second_ = {};
  }
  return on_gpu_ != nullptr;
}

template <class S>
void InverseParts<S>::compute() {
  if constexpr (has_cuda) {
    if (on_gpu_) {
      const cuda::InverseFailures failed = on_gpu_->compute(matrix_.device().stream());
      check_rows(failed.row[device::row_is_singular], failed.row[device::row_overflows],
                 failed.row[device::row_is_no_entry]);
      first_->values_changed();
      if (second_) second_->values_changed();
      generation_ = matrix_.generation();
      return;
    }
  }
  compute_on_host();
}

template <class S>
void InverseParts<S>::queue_refresh([[maybe_unused]] Index* singular_row,
                                    [[maybe_unused]] const Stream& stream) {
  if constexpr (has_cuda) on_gpu_->queue({singular_row, singular_row, singular_row}, stream);
}

template <class S>
void InverseParts<S>::compute_on_host() {
  read_values(matrix_, rows_, values_, host_.stream());
  const Index n = pattern_.rows();
  std::atomic<Index> first_singular{n}, first_without{n}, first_too_large{n};
  std::atomic<std::size_t> next_scratch{0};
  const bool has_blocks = form_ == InverseForm::blocks;
  parallel_shares(team(pattern_.entries()), units(), systems_at_once, [&](auto&& for_each) {
    Scratch& scratch = scratch_[next_scratch++];
    for_each([&](Index unit) {
      const auto u = static_cast<std::size_t>(unit);
      const Index first = has_blocks ? groups_[u] : unit;
      const Index end = has_blocks ? groups_[u + 1] : unit + 1;
      if (!solve_rows(first, end, scratch)) return lower(first_singular, first);
      const Offset of_row =
          static_cast<Offset>(pattern_.row(first).size()) * tiles_.size * tiles_.size * tiles_.ring;
      for (Index row = first; row < end; ++row) {
        const RowOutcome outcome = store(row, scratch.result.data() + (row - first) * of_row);
        if (outcome == RowOutcome::no_entry) lower(first_without, row);
        if (outcome == RowOutcome::too_large) lower(first_too_large, row);
      }
    });
  });
  check_rows(first_singular, first_too_large, first_without);
  first_->update_values(first_values_.span());
  if (second_) second_->update_values(second_values_.span());
  generation_ = matrix_.generation();
}

/// A[J, J] for the columns J of a row.
template <class S>
void InverseParts<S>::gather(Index row, Scratch& scratch) const {
  const std::span<const Index> wanted = pattern_.row(row);
  const int v = tiles_.size, r = tiles_.ring, K = tiles_.components();
  const Offset n = static_cast<Offset>(wanted.size()) * v;
  std::fill_n(scratch.matrix.begin(), n * n * r, D(0));
  for (std::size_t a = 0; a < wanted.size(); ++a) {
    const std::span<const Index> columns = rows_.row(wanted[a]);
    const Offset first = rows_.begin(wanted[a]);
    std::size_t b = form_ == InverseForm::factorized ? a : 0;
    auto at = std::lower_bound(columns.begin(), columns.end(), wanted[b]);
    for (; at != columns.end() && b < wanted.size(); ++at) {
      while (b < wanted.size() && wanted[b] < *at) ++b;
      if (b == wanted.size() || wanted[b] != *at) continue;
      const D* const entry = values_.data() + (first + (at - columns.begin())) * K;
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

/// The rows [first, end) of the inverse of A[J, J] for their common columns J; false if none is.
template <class S>
bool InverseParts<S>::solve_rows(Index first, Index end, Scratch& scratch) {
  const std::span<const Index> wanted = pattern_.row(first);
  const auto v = static_cast<std::size_t>(tiles_.size), r = static_cast<std::size_t>(tiles_.ring);
  const std::size_t n = wanted.size() * v, results = static_cast<std::size_t>(end - first) * v;
  const auto grow = [](auto& vector, std::size_t size) {
    if (vector.size() < size) vector.resize(size);
  };
  grow(scratch.matrix, n * n * r);
  grow(scratch.result, results * n * r);
  grow(scratch.numbers, LocalSystem<D>::scratch_scalars(n, r));
  grow(scratch.order, n);
  gather(first, scratch);
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
  const auto symmetry = symmetry_of(system.matrix, system.size, tiles_.ring,
                                    static_cast<D>(std::numeric_limits<S>::epsilon()));
  if (!solve_(system, false)) return false;
  symmetrize(system.result, system.size, tiles_.ring, symmetry);
  return true;
}

/// A result's tiles as entries: those of row `row`, or, factorized, of G and of G*.
template <class S>
typename InverseParts<S>::RowOutcome InverseParts<S>::store(Index row, const D* result) {
  const int v = tiles_.size, r = tiles_.ring, K = tiles_.components();
  const int bytes = entry_->sizes.stored_bytes;
  const auto count = static_cast<Offset>(pattern_.row(row).size());
  const bool is_factor = form_ == InverseForm::factorized;
  // A tile that is zero but for rounding is that of what the others are made of.
  D largest = 0;
  for (Offset at = 0; at < count * v * v * r; ++at) {
    largest = std::max(largest, std::abs(result[at]));
  }
  const D tolerance = std::sqrt(std::numeric_limits<D>::epsilon()) * largest;
  RowOutcome outcome = RowOutcome::done;
  // Element (i, j) of the tile with which column b of the pattern meets the row.
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

template <class S>
void InverseParts<S>::apply(const FieldView<const S>& r, const FieldView<S>& z,
                            const Stream& stream) const {
  check_operand(r, matrix_.rows(), matrix_.row_components(), *matrix_.row_basis(), name());
  check_same_shape(r, z, name());
  if (!second_) return first_->apply(S(1), r, S(0), z, stream);
  first_->apply(S(1), r, S(0), between_->view, stream);
  second_->apply(S(1), between_->view, S(0), z, stream);
}

template <class S>
long long InverseParts<S>::bytes_of_application() const {
  const long long field = static_cast<long long>(matrix_.rows()) * matrix_.row_components() *
                          static_cast<long long>(sizeof(S));
  return first_->bytes_of_product() + (second_ ? second_->bytes_of_product() : 0) - 2 * field;
}

template class InverseParts<float>;
template class InverseParts<double>;
template class InverseParts<long double>;

}  // namespace heddle::detail
