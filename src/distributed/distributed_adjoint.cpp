#include "distributed_adjoint.hpp"

#include <cstring>
#include <type_traits>
#include <utility>

namespace heddle::detail {

namespace {

/// A column of A is a row of A*.
std::vector<TripletPlace> transposed_places(const Partition& partition, int rank,
                                            const RankRows& rows) {
  std::vector<TripletPlace> places;
  places.reserve(rows.columns.size());
  for (std::size_t row = 0; row + 1 < rows.offsets.size(); ++row) {
    const long long of_all = partition.row(partition.first_row(rank) + static_cast<long long>(row));
    for (Offset k = rows.offsets[row]; k < rows.offsets[row + 1]; ++k) {
      places.push_back({rows.columns[static_cast<std::size_t>(k)], of_all});
    }
  }
  return places;
}

/// Calls `act.operator()<T>()` with the type T of a stored scalar.
template <class S, class Act>
void with_stored_scalar(const EntryTable<S>& entry, const Act& act) {
  const bool is_float = entry.sizes.stored_bytes == static_cast<int>(sizeof(float));
  is_float ? act.template operator()<float>() : act.template operator()<double>();
}

/// Adjoints of the entries in `values`.
template <class S>
std::vector<std::byte> adjoints(const EntryTable<S>& entry, std::span<const std::byte> values) {
  std::vector<std::byte> adjoint_values(values.size());
  const auto components = static_cast<std::size_t>(entry.sizes.components);
  with_stored_scalar(entry, [&]<class T>() {
    std::vector<T> of(components);
    std::vector<S> own(components), result(components);
    const std::size_t bytes = components * sizeof(T);
    for (std::size_t at = 0; at < values.size(); at += bytes) {
      std::memcpy(of.data(), values.data() + at, bytes);
      for (std::size_t c = 0; c < components; ++c) own[c] = static_cast<S>(of[c]);
      entry.adjoint(entry, own.data(), result.data());
      for (std::size_t c = 0; c < components; ++c) of[c] = static_cast<T>(result[c]);
      std::memcpy(adjoint_values.data() + at, of.data(), bytes);
    }
  });
  return adjoint_values;
}

}  // namespace

template <class S>
DistributedAdjoint<S>::DistributedAdjoint(const DistributedOperator<S>& of, Communicator& ranks,
                                          const EntryTableHandle<S>& entry, const RankRows& rows,
                                          std::span<const std::byte> values,
                                          const DistributedForm& form)
    : of_(of), entry_(entry) {
  const Partition& partition = of.partition();
  together(ranks, [&] {
    if (entry_->adjoint == nullptr) {
      throw Error(ErrorKind::unsupported,
                  "no adjoint: the entry has none of its kind, or is encoded");
    }
    const std::size_t entries = rows.columns.size();
    const bool is_of_rows = rows.offsets.size() == static_cast<std::size_t>(of.rows()) + 1 &&
                            rows.offsets.front() == 0 && std::ranges::is_sorted(rows.offsets) &&
                            static_cast<std::size_t>(rows.offsets.back()) == entries;
    if (!is_of_rows || entries != form.entries ||
        values.size() != entries * static_cast<std::size_t>(entry_->bytes())) {
      throw Error(ErrorKind::size_mismatch,
                  "the adjoint's rows or values are not those the matrix was made of");
    }
  });
  exchange_.emplace(ranks, partition, transposed_places(partition, ranks.rank(), rows));
  RankRows of_adjoint;
  together(ranks, [&] {
    ordered_ = order_for_rank(partition, ranks.rank(), exchange_->received(), of_adjoint);
  });
  const EntryTableHandle<S> kept = entry_->adjoint_entry ? entry_->adjoint_entry() : entry_;
  guard(ranks, [&] {
    adjoint_ = std::make_shared<DistributedOperator<S>>(ranks, partition, kept, of_adjoint,
                                                        values_of_rows(values), form.plan,
                                                        form.mode, form.device, form.boundary);
  });
  together(ranks, [&] { in_basis_.emplace(of, adjoint_); });
}

template <class S>
std::vector<std::byte> DistributedAdjoint<S>::values_of_rows(
    std::span<const std::byte> values) const {
  const std::vector<std::byte> adjoint_values = adjoints(*entry_, values);
  const auto bytes = static_cast<std::size_t>(entry_->bytes());
  const std::vector<std::byte> received = exchange_->send(adjoint_values.data(), bytes, bytes);
  const std::size_t entries = ordered_.column.size();
  std::vector<std::byte> sums(entries * bytes);
  const auto components = static_cast<std::size_t>(entry_->sizes.components);
  with_stored_scalar(*entry_, [&]<class T>() {
    std::vector<T> sum(components), more(components);
    for (std::size_t k = 0; k < entries; ++k) {
      const auto load = [&](std::size_t at, std::vector<T>& to) {
        std::memcpy(to.data(), received.data() + ordered_.triplet[at] * bytes, bytes);
      };
      load(ordered_.first[k], sum);
      // More entries of the same place.
      for (std::size_t at = ordered_.first[k] + 1; at < ordered_.first[k + 1]; ++at) {
        load(at, more);
        for (std::size_t c = 0; c < components; ++c) sum[c] += more[c];
      }
      std::memcpy(sums.data() + k * bytes, sum.data(), bytes);
    }
  });
  return sums;
}

template <class S>
void DistributedAdjoint<S>::update_values(std::span<const std::byte> values) {
  adjoint_->update_values(values_of_rows(values));
}

template <class S>
long long DistributedAdjoint<S>::bytes_of_product() const {
  return adjoint_->bytes_of_product();
}

template <class S>
void DistributedAdjoint<S>::apply(S alpha, const FieldView<const S>& x, S beta,
                                  const FieldView<S>& y, const Stream& stream) const {
  in_basis_->apply(alpha, x, beta, y, stream);
}

template class DistributedAdjoint<float>;
template class DistributedAdjoint<double>;

}  // namespace heddle::detail
