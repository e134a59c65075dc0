#include "scaling.hpp"

#include <algorithm>

#include "code_balance.hpp"
#include "distributed/partition/named_partition.hpp"
#include "heddle/detail/reduction.hpp"
#include "heddle/error.hpp"

namespace heddle::detail {

namespace {

constexpr int max_ranks = 1024, max_unknowns = 64;

DeviceRates rates_named(const std::string& text, const Device& device) {
  if (text != "device") return parse_device_rates(text);
  if (!device.on_gpu()) {
    throw Error(ErrorKind::usage, "rates: a CPU's are unknown; give four numbers");
  }
  return rates_of_device(device.description());
}

/// The numbers of ranks in ascending order, each once.
std::vector<int> numbers_of_ranks(std::vector<int> asked, Index rows) {
  if (asked.empty()) {
    const Offset most = std::clamp<Offset>(groups_of(rows), 1, max_ranks);
    for (int count = 1; count <= most; count *= 2) asked.push_back(count);
  }
  std::sort(asked.begin(), asked.end());
  asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
  return asked;
}

}  // namespace

ScalingQuestion question_of(const DescriptionSettings& settings) {
  ScalingQuestion question;
  question.network = settings.scaling;
  if (!settings.rates.empty()) question.rates = settings.rates;
  if (!settings.partition.empty()) question.partition = settings.partition;
  question.ranks = settings.ranks;
  question.unknowns = settings.unknowns;
  return question;
}

void ScalingQuestion::check() const {
  (void)parse_network(network);
  if (rates != "device") (void)parse_device_rates(rates);
  if (!names_any_ranks(partition)) {
    throw Error(ErrorKind::usage, "partition: " + partition + " is for one number of ranks");
  }
  for (const int count : ranks) {
    if (count >= 1 && count <= max_ranks) continue;
    throw Error(ErrorKind::usage,
                "ranks are 1 to " + std::to_string(max_ranks) + ", not " + std::to_string(count));
  }
  if (unknowns < 0 || unknowns > max_unknowns) {
    throw Error(ErrorKind::usage, "unknowns are 1 to " + std::to_string(max_unknowns) + ", not " +
                                      std::to_string(unknowns));
  }
}

const ScalingPoint* Scaling::weak_point(int ranks) const {
  const auto of = [ranks](const ScalingPoint& point) { return point.ranks == ranks; };
  const auto found = std::find_if(weak.points.begin(), weak.points.end(), of);
  return found == weak.points.end() ? nullptr : &*found;
}

BytesOnRanks bytes_on_ranks(const AnyMatrix& matrix) {
  return {matrix.entry_bytes() + static_cast<int>(sizeof(Index)), row_bytes_of(matrix)};
}

Network network_of(Transfer transfer) {
  return parse_network(transfer == Transfer::peer ? "nvlink" : name(transfer));
}

ExchangeChoice choose_exchange(Communicator& ranks, const Partition& partition,
                               const AnyMatrix& matrix, const Device& device) {
  if (!device.on_gpu()) return choose_exchange(ranks);
  const Transfer transfer = transfer_of(ranks);
  if (!ranks.is_one_process()) {
    return {ExchangeMode::task,
            "rows come by " + std::string(name(transfer)) + ": interior rows hide what they can"};
  }
  std::string text;
  together(ranks, [&] {
    if (ranks.rank() != 0) return;
    const ScalingModel model(rates_of_device(device.description()), network_of(transfer),
                             bytes_on_ranks(matrix));
    const auto choice = choose_exchange(model, rank_volumes(matrix.pattern(), partition));
    text = std::string(name(choice.mode)) + " " + choice.reason;
  });
  text = text_of_rank(ranks, 0, text);
  const std::size_t space = text.find(' ');
  return {parse_exchange_mode(text.substr(0, space)), text.substr(space + 1)};
}

Scaling predict_scaling(const AnyMatrix& matrix, const ScalingQuestion& question, int flops,
                        const Device& device) {
  question.check();
  if (matrix.rows() != matrix.columns()) {
    throw Error(ErrorKind::unsupported, "scaling: ranks share square matrices, not one of " +
                                            std::to_string(matrix.rows()) + " rows and " +
                                            std::to_string(matrix.columns()) + " columns");
  }
  Scaling made;
  made.network = parse_network(question.network);
  made.rates = rates_named(question.rates, device);
  made.partition = question.partition;
  made.unknowns = question.unknowns;
  BytesOnRanks bytes = bytes_on_ranks(matrix);
  if (const int unknowns = question.unknowns; unknowns > 0) {
    const int scalar = matrix.precision() == Precision::double_precision ? 8 : 4;
    bytes = {unknowns * unknowns * scalar + static_cast<int>(sizeof(Index)), unknowns * scalar};
    flops = 2 * unknowns * unknowns;
  }
  const ScalingModel model(made.rates, made.network, bytes);
  const Offset rows = matrix.rows(), entries = matrix.entries();
  made.alone = model.iteration_alone(rows, entries);
  made.product_alone = model.product_alone(rows, entries);
  made.flops = static_cast<double>(flops) * static_cast<double>(entries);
  const PatternView pattern = matrix.pattern();
  for (const int count : numbers_of_ranks(question.ranks, matrix.rows())) {
    made.points.push_back(
        model.predict(pattern, named_partition(question.partition, pattern, count)));
  }
  made.weak = weak_scaling(model, rows, entries, made.points);
  made.best = best_number_of_ranks(made.alone, made.points);
  return made;
}

}  // namespace heddle::detail
