// Settings of the tuner, and of what a description assumes.
#include <array>

#include "setting_kinds.hpp"
#include "setting_rows.hpp"

namespace heddle::detail {

namespace {

constexpr auto share = [](double value) { return value > 0 && value < 1; };
constexpr auto finite_above_0 = [](double value) { return value > 0 && std::isfinite(value); };
constexpr auto from_1 = [](double value) { return value >= 1; };
constexpr auto runs = [](long long value) { return 1 <= value && value <= 100000; };
constexpr auto block = [](long long value) { return 1 <= value && value <= 64; };

constexpr auto search_in = [](std::string_view text) -> std::optional<Search> {
  for (const Search search : {Search::full, Search::pruned, Search::predict}) {
    if (is_same_name(text, name(search))) return search;
  }
  return std::nullopt;
};
constexpr auto counts_in = [](std::string_view text) -> std::optional<std::vector<int>> {
  std::vector<int> counts = numbers_in<int>(text);
  for (const int count : counts) {
    if (count < 1 || count > 1024) return std::nullopt;
  }
  return counts.empty() ? std::nullopt : std::optional(std::move(counts));
};

template <auto... path>
using OfTuning = To<TuneSettings, &TuneSettings::options, path...>;

}  // namespace

std::span<const SettingRow> tuning_settings() {
  constexpr auto use = SettingUse::tuning;
  using O = TuneOptions;
  static constexpr std::array rows = {
      row(use, "search", OfTuning<&O::search>::name<search_in>("pruned, full or predict"),
          "pruned|full|predict", "pruned",
          "pruned: search over everything in a plan; full: every plan of the papers' space; "
          "predict: try no plan"),
      row(use, "objective",
          To<TuneSettings, &TuneSettings::objective>::word("a method, product or multigrid"),
          "NAME", "cg",
          "what to time: product, or the method in whose iteration it will run; or multigrid: find "
          "the smoother, its steps, the cycle and the strength of connections that solve fastest, "
          "including set-up"),
      row(use, "max_memory_ratio",
          OfTuning<&O::max_memory_ratio>::number<from_1>(
              "a number of at least 1 (the memory of CSR)"),
          "R", "2", "skip plans whose matrix takes more than R times CSR's memory"),
      row(use, "memory_weight",
          OfTuning<&O::memory_weight>::number<finite_from_0>("a finite number, 0 or more"), "W",
          "0", "exponent W of the score, time x (memory over CSR's)^W"),
      row(use, "confidence",
          OfTuning<&O::confidence>::number<share>("a number above 0 and below 1"), "P", "0.95",
          "confidence with which the median of a plan must be known to within the tightness"),
      row(use, "tightness", OfTuning<&O::tightness>::number<share>("a number above 0 and below 1"),
          "T", "0.01", "relative half-width of the confidence interval"),
      row(use, "max_runs",
          OfTuning<&O::max_runs>::whole_number<runs>("a whole number from 1 to 100000"), "N", "101",
          "maximum number of runs of a plan"),
      row(use, "seconds",
          To<TuneSettings, &TuneSettings::seconds>::number<from_0>(
              "a number of seconds, 0 or more"),
          "SECONDS", "8.5 for a pruned search on a GPU, otherwise none",
          "time limit of the search for a matrix; a last check of its best plans takes at most a "
          "quarter of that in addition"),
  };
  return rows;
}

std::span<const SettingRow> description_settings() {
  constexpr auto use = SettingUse::description;
  using O = DescriptionSettings;
  static constexpr std::array rows = {
      row(use, "cache",
          To<O, &O::cache>::whole_number<whole_from_0>("a whole number of bytes, 0 or more"),
          "BYTES", "0",
          "product model: bytes of x that a cache holds; 0 for the size of the device's last-level "
          "cache"),
      row(use, "bandwidth",
          To<O, &O::bandwidth>::number<finite_above_0>("a number above 0, in GB/s"), "GB/s", "3000",
          "product model: bandwidth between a device and its memory"),
      row(use, "link", To<O, &O::link>::number<finite_above_0>("a number above 0, in GB/s"), "GB/s",
          "50", "product model: bandwidth between the device and the host"),
      row(use, "scaling", To<O, &O::scaling>::word("a network"), "NETWORK", "",
          "predict products and iterations on ranks in this network: nvlink, nccl, staged, ndr, "
          "hdr, qdr, ethernet, or the microseconds per message and GB/s"),
      row(use, "ranks",
          as_numbers(To<O, &O::ranks>::name<counts_in>("whole numbers from 1 to 1024")), "N,...",
          "1,2,4 and so on", "scaling: numbers of ranks, separated by commas"),
      row(use, "partition", To<O, &O::partition>::word("entries, rows, metis, scotch or FIRST,..."),
          "NAME", "entries", "scaling: the rows of each rank"),
      row(use, "rates", To<O, &O::rates>::word("rates of a device"), "RATES", "h100",
          "scaling: speed of a device: h100, h200, c2050, device for the one in use, or the "
          "microseconds and GB/s of an iteration without ranks, and of one on ranks"),
      row(use, "unknowns", To<O, &O::unknowns>::whole_number<block>("a whole number from 1 to 64"),
          "N", "those of the entries",
          "scaling: predict for blocks of N rows and columns in place of the entries"),
      row(use, "multigrid", To<O, &O::tries_multigrid>::yes_or_no(), "true|false", "false",
          "solve with and without multigrid, to decide whether to advise it", "", nullptr, true),
  };
  return rows;
}

}  // namespace heddle::detail
