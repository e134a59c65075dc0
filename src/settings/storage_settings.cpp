// Settings of where and how a matrix is stored: on one device, and on ranks.
#include <array>

#include "setting_kinds.hpp"
#include "setting_rows.hpp"

namespace heddle {

NodeLayout StorageSettings::nodes() const {
  NodeLayout nodes;
  if (node != 0) nodes.size = node;
  if (!dense.empty()) nodes.dense = parse_dense(dense);
  if (!launch.empty()) nodes.launch = parse_tree_launch(launch);
  return nodes;
}

}  // namespace heddle

namespace heddle::detail {

namespace {

constexpr auto threads = [](long long value) { return 0 <= value && value <= 1024; };
constexpr auto node_sizes = [](long long value) {
  return 4 <= value && value <= 256 && (value & (value - 1)) == 0;
};

/// The word itself, in small letters, where it is one of `words` with blanks between them.
template <const auto& words>
constexpr auto one_of = [](std::string_view text) -> std::optional<std::string> {
  const std::string word = lower_case(text);
  const bool is_one = (" " + std::string(words) + " ").find(" " + word + " ") != std::string::npos;
  return is_one && word.find(' ') == std::string::npos && !word.empty() ? std::optional(word)
                                                                        : std::nullopt;
};

constexpr char exchange_names[] = "auto vector naive task";
constexpr char transfer_names[] = "auto peer nccl staged";
constexpr char boundary_names[] = "whole split";

constexpr auto is_hisparse = [](std::string_view text) {
  return is_same_name(text, "sliced")     ? std::optional(false)
         : is_same_name(text, "hisparse") ? std::optional(true)
                                          : std::nullopt;
};

}  // namespace

std::span<const SettingRow> storage_settings() {
  constexpr auto use = SettingUse::storage;
  using O = StorageSettings;
  static constexpr std::array rows = {
      row(use, "device", To<O, &O::device>::text("cpu, cuda, cuda:N or auto"), "DEVICE", "cpu",
          "cpu, cuda or cuda:N for GPU number N, or auto for a GPU if one works"),
      row(use, "threads",
          To<O, &O::threads>::whole_number<threads>("a whole number from 0 to 1024"), "N", "0",
          "CPU threads; 0 uses every core that the process may use"),
      row(use, "plan", To<O, &O::plan>::text("a plan"), "TEXT", "chosen for the matrix",
          "layout and schedule: a paper's name (CSR, ELL, Sl-32, pJDS, K1rs, K2rs, ...), "
          "key=value,..., or both"),
      row(use, "storage", To<O, &O::is_hierarchical>::name<is_hisparse>("sliced or hisparse"),
          "sliced|hisparse", "sliced",
          "sliced, which follows a plan, or hisparse, a tree of small nodes"),
      row(use, "node", To<O, &O::node>::whole_number<node_sizes>("4, 8, 16, 32, 64, 128 or 256"),
          "N", "128, or as profiles choose", "number of rows and columns of a hisparse node"),
      row(use, "dense", To<O, &O::dense>::text("1 to 100, never or bytes"), "PERCENT",
          "bytes, or as profiles choose",
          "percentage of filled places from which a hisparse leaf is dense, 1 to 100; never; or "
          "bytes: where that takes fewer"),
      row(use, "launch", To<O, &O::launch>::text("a text such as run=1,warps=4,piece=512"), "TEXT",
          "a rule",
          "how GPU threads share hisparse products, such as run=1,warps=4,piece=512: entries per "
          "thread at once, warps per thread block, entries per block"),
  };
  return rows;
}

std::span<const SettingRow> rank_settings() {
  constexpr auto use = SettingUse::ranks;
  using O = RankSettings;
  static constexpr std::array rows = {
      row(use, "partition", To<O, &O::partition>::word("entries, rows, metis, scotch or FIRST,..."),
          "entries|rows|metis|scotch|FIRST,...", "entries",
          "the rows of each rank: about as many entries, or rows, for each; by metis or scotch, "
          "with few entries between ranks; or the first row of each, from 0 on, multiples of 256 "
          "separated by commas"),
      row(use, "exchange",
          To<O, &O::exchange>::name<one_of<exchange_names>>("auto, vector, naive or task"), "MODE",
          "auto",
          "how x reaches other ranks: vector, before the product; naive, by nonblocking calls "
          "around it; task, by a thread alongside it, or a stream on GPUs; auto: the one that is "
          "predicted to be faster"),
      row(use, "transfer",
          To<O, &O::transfer>::name<one_of<transfer_names>>("auto, peer, nccl or staged"),
          "TRANSFER", "auto",
          "how x reaches other ranks' GPUs: peer, by copies between GPUs of one process; nccl, by "
          "NVIDIA's library; staged, by messages between hosts; auto: peer in one process, "
          "otherwise staged"),
      row(use, "boundary", To<O, &O::boundary>::name<one_of<boundary_names>>("whole or split"),
          "whole|split", "whole",
          "rows that need columns of other ranks: whole, with bitwise the same results for any "
          "number of ranks; or split into own columns, multiplied during the exchange, and the "
          "others, added after it"),
  };
  return rows;
}

}  // namespace heddle::detail
