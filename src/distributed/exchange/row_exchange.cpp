#include "row_exchange.hpp"

#include <cstring>
#include <utility>

#include "root_exchange.hpp"

namespace heddle::detail {

namespace {

std::vector<std::size_t> bounds_of(const std::vector<HaloPart>& parts) {
  std::vector<std::size_t> bounds{0};
  for (const HaloPart& part : parts) {
    bounds.push_back(bounds.back() + static_cast<std::size_t>(part.count));
  }
  return bounds;
}

}  // namespace

RowExchange::RowExchange(Communicator& ranks, std::vector<HaloPart> sends,
                         std::vector<Index> sent_rows, std::vector<HaloPart> receives)
    : ranks_(ranks),
      sends_(std::move(sends)),
      receives_(std::move(receives)),
      sent_rows_(std::move(sent_rows)) {}

std::vector<std::byte> RowExchange::exchange(std::span<const std::byte> sent,
                                             const Bounds& sent_bounds,
                                             const Bounds& received_bounds,
                                             std::size_t bytes) const {
  std::vector<std::byte> received(received_bounds.back() * bytes);
  const auto part_of = [bytes](auto all, const Bounds& bounds, std::size_t part) {
    return all.subspan(bounds[part] * bytes, (bounds[part + 1] - bounds[part]) * bytes);
  };
  std::vector<Message<const std::byte>> to;
  std::vector<Message<std::byte>> from;
  for (std::size_t p = 0; p < sends_.size(); ++p) {
    const auto part = part_of(sent, sent_bounds, p);
    if (!part.empty()) to.push_back({sends_[p].rank, part});
  }
  for (std::size_t p = 0; p < receives_.size(); ++p) {
    const auto part = part_of(std::span(received), received_bounds, p);
    if (!part.empty()) from.push_back({receives_[p].rank, part});
  }
  ranks_.begin_exchange(to, from);
  ranks_.end_exchange();
  return received;
}

RankRows RowExchange::patterns(std::span<const Offset> offsets,
                               const std::function<long long(Offset)>& column) {
  std::vector<Offset> lengths;
  std::vector<long long> columns;
  sent_.clear();
  for (const Index row : sent_rows_) {
    const Offset begin = offsets[static_cast<std::size_t>(row)];
    const Offset end = offsets[static_cast<std::size_t>(row) + 1];
    sent_.push_back({begin, end - begin});
    lengths.push_back(end - begin);
    for (Offset k = begin; k < end; ++k) columns.push_back(column(k));
  }
  const auto come = array_of<Offset>(exchange(std::as_bytes(std::span(lengths)), bounds_of(sends_),
                                              bounds_of(receives_), sizeof(Offset)));
  const auto entries_of = [](const std::vector<HaloPart>& parts,
                             const std::vector<Offset>& of_rows) {
    Bounds bounds{0};
    std::size_t row = 0;
    for (const HaloPart& part : parts) {
      bounds.push_back(bounds.back());
      for (Index k = 0; k < part.count; ++k) {
        bounds.back() += static_cast<std::size_t>(of_rows[row++]);
      }
    }
    return bounds;
  };
  sent_entries_ = entries_of(sends_, lengths);
  received_entries_ = entries_of(receives_, come);
  RankRows rows;
  for (const Offset length : come) rows.offsets.push_back(rows.offsets.back() + length);
  rows.columns = array_of<long long>(exchange(std::as_bytes(std::span(columns)), sent_entries_,
                                              received_entries_, sizeof(long long)));
  return rows;
}

RankRows RowExchange::patterns(const RankRows& rows) {
  return patterns(rows.offsets,
                  [&](Offset k) { return rows.columns[static_cast<std::size_t>(k)]; });
}

std::vector<std::byte> RowExchange::values(std::span<const std::byte> own,
                                           std::size_t bytes) const {
  std::vector<std::byte> sent(sent_entries_.back() * bytes);
  std::byte* to = sent.data();
  for (const Run& run : sent_) {
    const auto size = static_cast<std::size_t>(run.count) * bytes;
    if (size == 0) continue;
    std::memcpy(to, own.data() + static_cast<std::size_t>(run.begin) * bytes, size);
    to += size;
  }
  return exchange(sent, sent_entries_, received_entries_, bytes);
}

}  // namespace heddle::detail
