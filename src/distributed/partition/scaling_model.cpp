#include "scaling_model.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "group_tree.hpp"
#include "heddle/error.hpp"

namespace heddle::detail {

namespace {

constexpr double micro = 1e-6, giga = 1e9;

// nvlink is measured: copies of 49 to 418 KB and joined sums of two H100 of one host. nccl and
// staged are two H200 under these transfers (docs/inside/tried.md, "Ranks"). The others are the
// nominal rates of hardware of that name: InfiniBand of 400, 200 and 32 Gbit/s to the memory of a
// GPU, the last through the host as on the paper's cluster, and Ethernet of 25 Gbit/s.
const std::vector<Network>& named_networks() {
  static const std::vector<Network> networks = {{"nvlink", 10 * micro, 50 * giga, false, true},
                                                {"nccl", 18 * micro, 50 * giga, false, false},
                                                {"staged", 27 * micro, 10 * giga, true, false},
                                                {"ndr", 3 * micro, 45 * giga, false, false},
                                                {"hdr", 3 * micro, 22 * giga, false, false},
                                                {"qdr", 4 * micro, 3.2 * giga, true, false},
                                                {"ethernet", 30 * micro, 2.8 * giga, true, false}};
  return networks;
}

// h100: start and bandwidth from two sizes of quaternion matrices without ranks and on one, and
// 0.902 from 3 x 3 blocks on one: (609.5 - 56) us for 1.468 GB. h200: in the same way, with a
// boundary that is multiplied next to the interior, unlike that of the h100 at the time. Graphs:
// two ranks on two H100 with a kernel for each sum, and on two H200 with sums joined by the kernels
// that decide (docs/inside/tried.md, "Ranks").
// c2050: 91 GB/s of Kreutzer et al. (2012, section 1.2); there the host drives, with ranks and
// without.
const std::vector<DeviceRates>& named_rates() {
  static const std::vector<DeviceRates> rates = {
      {"h100",
       3 * micro,
       50 * giga,
       {16 * micro, 2900 * giga},
       {56 * micro, 2940 * giga},
       0.902,
       36 * micro},
      {"h200",
       3 * micro,
       50 * giga,
       {19 * micro, 4100 * giga},
       {51 * micro, 4140 * giga},
       0.916,
       30 * micro},
      {"c2050", 7 * micro, 5 * giga, {70 * micro, 91 * giga}, {70 * micro, 91 * giga}, 1, 0}};
  return rates;
}

template <class Named>
std::string names_of(const std::vector<Named>& all) {
  std::string names;
  for (const Named& one : all) names += one.name + ", ";
  return names;
}

/// Empty unless the text is `count` positive numbers with commas between them.
std::vector<double> numbers_in(std::string_view text, std::size_t count) {
  std::vector<double> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    double number = 0;
    const auto [after, error] = std::from_chars(at, end, number);
    const bool is_good = error == std::errc() && std::isfinite(number) && number > 0 &&
                         (after == end || *after == ',');
    if (!is_good) return {};
    numbers.push_back(number);
    if (after == end) break;
    at = after + 1;
  }
  return numbers.size() == count ? numbers : std::vector<double>();
}

template <class Named>
const Named* find(const std::vector<Named>& all, std::string_view name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Named& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

Network parse_network(std::string_view text) {
  if (const Network* named = find(named_networks(), text)) return *named;
  const std::vector<double> numbers = numbers_in(text, 2);
  if (numbers.empty()) {
    throw Error(ErrorKind::usage, "the network is " + names_of(named_networks()) +
                                      "or microseconds and GB/s such as 2.5,25, not '" +
                                      std::string(text) + "'");
  }
  return {std::string(text), numbers[0] * micro, numbers[1] * giga, false, false};
}

DeviceRates parse_device_rates(std::string_view text) {
  if (const DeviceRates* named = find(named_rates(), text)) return *named;
  const std::vector<double> numbers = numbers_in(text, 4);
  if (numbers.empty()) {
    throw Error(ErrorKind::usage,
                "the rates are " + names_of(named_rates()) +
                    "or microseconds and GB/s of an iteration alone and on ranks such as "
                    "16,2900,56,2940, not '" +
                    std::string(text) + "'");
  }
  DeviceRates made = named_rates().front();
  made.name = text;
  made.alone = {numbers[0] * micro, numbers[1] * giga};
  made.ranks = {numbers[2] * micro, numbers[3] * giga};
  made.of_large = 1;
  made.in_graphs = 0;
  return made;
}

DeviceRates rates_of_device(std::string_view full_name) {
  return parse_device_rates(full_name.find("H100") != std::string_view::npos ? "h100" : "h200");
}

ScalingModel::ScalingModel(DeviceRates rates, Network network, BytesOnRanks bytes)
    : rates_(std::move(rates)), network_(std::move(network)), bytes_(bytes) {
  const bool is_large = bytes_.entry - BytesOnRanks::column >= DeviceRates::large_entry;
  if (is_large) rates_.ranks.bandwidth *= rates_.of_large;
}

double ScalingModel::iteration_alone(long long rows, long long entries) const {
  return rates_.alone.seconds(
      bytes_.of_iteration(static_cast<double>(rows), static_cast<double>(entries)));
}

double ScalingModel::product_alone(long long rows, long long entries) const {
  return rates_.kernel +
         bytes_.of_product(static_cast<double>(rows), static_cast<double>(entries)) /
             rates_.alone.bandwidth;
}

double ScalingModel::exchange(const RankVolume& volume) const {
  const auto messages = static_cast<double>(std::max(volume.senders, volume.receivers));
  const auto rows = static_cast<double>(std::max(volume.received, volume.sent));
  const double bytes = rows * bytes_.row;
  const double staged = network_.through_host ? 2 * bytes / rates_.link : 0;
  return messages * network_.latency + bytes / network_.bandwidth + staged;
}

ScalingModel::SplitProduct ScalingModel::split(const RankVolume& volume) const {
  const auto rows = static_cast<double>(volume.rows);
  const auto remote = static_cast<double>(volume.remote_entries);
  const auto entries = static_cast<double>(volume.entries);
  const double again = remote > 0 ? 2.0 * bytes_.row * rows : 0;
  const double rate = rates_.ranks.bandwidth;
  return {bytes_.of_product(rows, entries - remote) / rate, (remote * bytes_.entry + again) / rate};
}

/// Conjugate gradient joins two sums. Each gathers the nodes of all ranks, in as many steps as a
/// tree has levels.
double ScalingModel::sums(int ranks, double nodes) const {
  if (ranks == 1) return 0;
  const double steps = std::ceil(std::log2(ranks));
  constexpr double bytes_of_node = 16;
  return 2 * (steps * network_.latency + nodes * bytes_of_node / network_.bandwidth);
}

ScalingPoint ScalingModel::predict(const PatternView& pattern, const Partition& partition) const {
  return predict(rank_volumes(pattern, partition),
                 static_cast<double>(GroupTree(partition).nodes.size()));
}

ScalingPoint ScalingModel::predict(const std::vector<RankVolume>& volumes, double nodes) const {
  ScalingPoint point;
  point.ranks = static_cast<int>(volumes.size());
  point.worst = worst_of(volumes);
  point.nodes = nodes;
  point.sums = sums(point.ranks, nodes);
  const double rate = rates_.ranks.bandwidth;
  for (const RankVolume& volume : volumes) {
    const auto rows = static_cast<double>(volume.rows);
    const auto entries = static_cast<double>(volume.entries);
    // Rows for others are gathered, and those of others written.
    const double moved = 2.0 * bytes_.row * static_cast<double>(volume.sent + volume.received);
    const double whole = (bytes_.of_product(rows, entries) + moved) / rate;
    const auto [own, remote] = split(volume);
    const double interior = bytes_.of_product(static_cast<double>(volume.interior_rows),
                                              static_cast<double>(volume.interior_entries)) /
                            rate;
    const double rest =
        (bytes_.of_iteration(rows, entries) - bytes_.of_product(rows, entries)) / rate;
    const double exchanged = exchange(volume);
    const double vector = whole + exchanged;
    const double task = whole - interior + std::max(interior, exchanged);
    // Kernels that gather, that multiply interior rows, and that multiply the others.
    const double kernels = (point.ranks == 1 ? 1 : 3) * rates_.kernel;
    const bool has_graphs = network_.has_graphs && point.ranks > 1;
    const double start = rates_.ranks.start - (has_graphs ? rates_.in_graphs : 0);
    const double around = start + rest + point.sums;
    const auto keep_longest = [](double& longest, double seconds) {
      longest = std::max(longest, seconds);
    };
    keep_longest(point.exchange, exchanged);
    keep_longest(point.product_vector, kernels + vector);
    keep_longest(point.product_task, kernels + task);
    keep_longest(point.split_naive, kernels + moved / rate + own + exchanged + remote);
    keep_longest(point.split_task, kernels + moved / rate + std::max(own, exchanged) + remote);
    keep_longest(point.iteration_vector, around + vector);
    keep_longest(point.iteration_task, around + task);
  }
  return point;
}

int best_number_of_ranks(double alone, std::span<const ScalingPoint> points) {
  int best = 1;
  double least = 0.9 * alone;
  for (const ScalingPoint& point : points) {
    if (point.ranks == 1 || point.iteration_task >= least) continue;
    least = point.iteration_task;
    best = point.ranks;
  }
  return best;
}

namespace {

/// The slope of log(halo) over log(rows), by least squares; none from fewer than two sizes.
std::optional<double> growth_of_halo(long long rows, std::span<const ScalingPoint> points) {
  double count = 0, x1 = 0, y1 = 0, xx = 0, xy = 0;
  for (const ScalingPoint& point : points) {
    if (point.ranks == 1 || point.worst.received == 0) continue;
    const double x = std::log(static_cast<double>(rows) / point.ranks);
    const double y = std::log(static_cast<double>(point.worst.received));
    count += 1, x1 += x, y1 += y, xx += x * x, xy += x * y;
  }
  const double spread = count * xx - x1 * x1;
  if (count < 2 || spread <= 0) return {};
  return std::clamp((count * xy - x1 * y1) / spread, 0.0, 1.0);
}

}  // namespace

WeakScaling weak_scaling(const ScalingModel& model, long long rows, long long entries,
                         std::span<const ScalingPoint> points) {
  WeakScaling weak;
  const std::optional<double> growth = growth_of_halo(rows, points);
  if (!growth) return weak;
  weak.exponent = *growth;
  for (const ScalingPoint& point : points) {
    RankVolume volume = point.worst;
    const double grown = std::pow(point.ranks, weak.exponent);
    const auto grow = [&](long long number, long long most) {
      return std::min(most, std::llround(static_cast<double>(number) * grown));
    };
    volume.interior_rows = rows - grow(volume.rows - volume.interior_rows, rows);
    volume.interior_entries = entries - grow(volume.entries - volume.interior_entries, entries);
    volume.rows = rows;
    volume.entries = entries;
    volume.remote_entries = grow(volume.remote_entries, entries);
    volume.received = grow(volume.received, rows * (point.ranks - 1));
    volume.sent = grow(volume.sent, rows * (point.ranks - 1));
    weak.points.push_back(
        model.predict(std::vector(static_cast<std::size_t>(point.ranks), volume), point.nodes));
  }
  return weak;
}

}  // namespace heddle::detail
