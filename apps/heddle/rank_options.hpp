// --ranks, --partition, --exchange, --transfer and --boundary: how ranks share the rows of a
// matrix.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device_option.hpp"
#include "heddle/distributed_operator.hpp"
#include "heddle/partition.hpp"
#include "heddle/runtime/any_matrix.hpp"
#include "heddle/runtime/settings.hpp"
#include "heddle/transfer.hpp"

namespace heddle::cli {

struct RankOptions {
  int ranks = 1;
  bool is_automatic = false;  // as many of the devices as are predicted to be worth it
  Settings settings;
  RankSettings shared() const { return with_settings(RankSettings(), settings); }

  /// `in_processes`: the number of ranks is not asked for. `predicts`: it may be left open.
  void add_to(CLI::App& command, bool in_processes, bool predicts = true);
  /// Whether ranks are to be threads of this process.
  bool is_given() const { return ranks_ != nullptr && ranks_->count() > 0; }
  /// Throws `Error` (usage) for options of ranks without ranks, several devices among them, and for
  /// first rows where the number of ranks is to be chosen.
  void check_use(const std::string& device) const;

  /// Of each rank: those that `--device` names with commas between them, or the one for all; where
  /// the number of ranks is to be chosen, those that are named, and each GPU once.
  /// Throws `Error`: usage for another number of them, unsupported where only some are GPUs.
  std::vector<Device> devices(const DeviceOption& option, bool quiet) const;

  /// Of a process with so many ranks before it on its host: these take turns on what `--device`
  /// names, and with `cuda` a GPU each. Throws `Error`.
  Device device_of_process(const DeviceOption& option, int place, bool quiet) const;

  /// These ranks with the transfer between GPUs that is named; else null. Collective.
  std::unique_ptr<Communicator> linked(Communicator& ranks, const Device& device) const;

  /// None: it is to be chosen.
  std::optional<ExchangeMode> mode() const {
    const std::string exchange = shared().exchange;
    return exchange == "auto" ? std::nullopt : std::optional(parse_exchange_mode(exchange));
  }
  /// Of threads.
  Transfer transfer_of_threads() const {
    const std::string transfer = shared().transfer;
    return transfer == "auto" ? Transfer::peer : parse_transfer(transfer);
  }
  BoundaryStorage boundary_storage() const { return parse_boundary_storage(shared().boundary); }
  /// Throws `Error` (usage) for a text that is none, or one of another number of ranks.
  Partition make_partition(const AnyMatrix& matrix, int count) const;
  /// Whether that needs no more than the entries of each group of 256 rows, and by those.
  bool is_by_entries_of_rows() const {
    const std::string partition = shared().partition;
    return partition != "metis" && partition != "scotch";
  }
  Partition make_partition(Index rows, std::span<const long long> entries_of_groups,
                           int count) const;

 private:
  void add_number_to(CLI::App& command, bool predicts);
  /// Throws `Error` (unsupported) for a transfer between CPUs.
  void check_transfer(const Device& device) const;

  const CLI::Option* ranks_ = nullptr;
};

}  // namespace heddle::cli
