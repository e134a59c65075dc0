// Kernels of set-up: the longest row, counts, a list, and sums in blocks of threads.
#include <algorithm>
#include <functional>
#include <numeric>

#include "cub_primitives_cuda.hpp"
#include "matrix/long_rows_cuda.hpp"
#include "primitives_cuda.hpp"

namespace heddle::bench {

namespace primitives {
namespace {

class SetUp {
 public:
  SetUp(Session& session, const Problem& problem)
      : session_(session), problem_(problem), device_(session.device()), n_(problem.matrix.rows()) {
    const auto number = [](std::size_t i, int below) {
      return static_cast<int>((random_component(4, i) + 1) / 2 * below);
    };
    lengths_.resize(static_cast<std::size_t>(n_));
    for (std::size_t i = 0; i < lengths_.size(); ++i) lengths_[i] = number(i, most_);
    node_.resize(lengths_.size());
    for (std::size_t i = 0; i < node_.size(); ++i)
      node_[i] = number(lengths_.size() + i / 4, nodes());
  }

  void measure_all() {
    longest_row();
    counts();
    list();
    sums_of_blocks();
  }

 private:
  static constexpr int most_ = 64;  // lengths of rows are below
  int nodes() const { return n_ / 16; }

  void longest_row() {
    std::vector<Offset> offsets(lengths_.size() + 1);
    std::inclusive_scan(lengths_.begin(), lengths_.end(), offsets.begin() + 1, std::plus<>(),
                        Offset(0));
    const Array<Offset> on_gpu(std::span<const Offset>(offsets), device_);
    const Expected expected{{double(*std::max_element(lengths_.begin(), lengths_.end()))}};
    const PatternView pattern{n_, n_, OffsetsView(on_gpu.data()), nullptr};
    Index longest = 0;
    const auto result = [&] { return std::vector<double>{double(longest)}; };
    std::vector<TimedWay> ways = {
        own("row_statistics",
            [&](const Stream&) { longest = cuda::row_statistics(pattern, device_).longest; },
            result, expected, {}),
        by_cub("DeviceReduce",
               [&](const Stream&) { longest = cub_longest_row(on_gpu.data(), n_, device_); },
               result, expected, {})};
    for (TimedWay& each : ways) each.on_host = true;
    add("longest row", sizeof(Offset), 0, ways);
  }

  void counts() {
    const Array<int> number(std::span<const int>(node_), device_);
    Array<int> found(static_cast<std::size_t>(nodes()), device_);
    Expected expected{std::vector<double>(found.size())};
    for (const int node : node_) ++expected.values[static_cast<std::size_t>(node)];
    const auto result = [&] { return on_host(found.data(), found.size(), device_); };
    const Queue spoil = spoiling(found.data(), found.size());
    add("counts of nodes", sizeof(int), Offset(nodes()) * 4,
        {own("take_number", own_counts(number.data(), n_, found.data(), nodes()), result, expected,
             spoil),
         by_cub("DeviceHistogram", cub_counts(number.data(), n_, found.data(), nodes(), device_),
                result, expected, spoil)});
  }

  /// One in eight is listed. The order of a list by atomics is compared only by further runs.
  void list() {
    constexpr int least = most_ - most_ / 8;
    const Array<int> value(std::span<const int>(lengths_), device_);
    Array<int> found(lengths_.size(), device_), listed(1, device_);
    Expected expected;
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      if (lengths_[i] >= least) expected.values.push_back(double(i));
    }
    const auto result = [&] {
      const auto count = static_cast<std::size_t>(listed.to_host()[0]);
      return on_host(found.data(), std::min(count, found.size()), device_);
    };
    const Queue spoil = spoiling(found.data(), found.size());
    std::vector<TimedWay> ways = {
        own("take_number", own_list(value.data(), least, n_, found.data(), listed.data()), result,
            expected, spoil),
        by_cub("DeviceSelect",
               cub_list(value.data(), least, n_, found.data(), listed.data(), device_), result,
               expected, spoil)};
    for (TimedWay& each : ways) {
      each.error = [&] {
        std::vector<double> sorted = result();
        std::sort(sorted.begin(), sorted.end());
        return expected.error(sorted);
      };
    }
    add("list", sizeof(int), static_cast<Offset>(expected.values.size()) * 4, ways);
  }

  void sums_of_blocks() {
    constexpr Offset of_block = 256;
    const Offset blocks = n_ / of_block;
    const auto count = static_cast<std::size_t>(blocks * of_block);
    std::vector<Offset> values(lengths_.begin(), lengths_.begin() + static_cast<Offset>(count));
    const Array<Offset> value(std::span<const Offset>(values), device_);
    Array<Offset> before(count, device_);
    Expected expected{std::vector<double>(count)};
    for (std::size_t i = 1; i < count; ++i) {
      if (i % of_block == 0) continue;
      expected.values[i] = expected.values[i - 1] + double(values[i - 1]);
    }
    const auto result = [&] { return on_host(before.data(), count, device_); };
    const Queue spoil = spoiling(before.data(), count);
    add("sums in blocks", 2 * sizeof(Offset), 0,
        {own("sums_of_block", own_sums_of_blocks(value.data(), blocks, before.data()), result,
             expected, spoil),
         by_cub("BlockScan", cub_sums_of_blocks(value.data(), blocks, before.data()), result,
                expected, spoil)});
  }

  void add(const char* quantity, std::size_t bytes_of_row, Offset further_bytes,
           const std::vector<TimedWay>& ways) {
    Record record = record_of<Ring::real, double>(problem_, quantity, n_, 0);
    record.compulsory_bytes = n_ * static_cast<Offset>(bytes_of_row) + further_bytes;
    session_.add(measured(session_, std::move(record), ways));
  }

  Session& session_;
  const Problem& problem_;
  Device device_;
  Index n_;
  std::vector<int> lengths_;  // of rows
  std::vector<int> node_;     // of each of n places, of which four neighbours share one
};

}  // namespace
}  // namespace primitives

void setup_primitives(Session& session, const Problem& problem) {
  primitives::SetUp(session, problem).measure_all();
}

}  // namespace heddle::bench
