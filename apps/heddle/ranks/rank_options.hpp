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
  bool is_automatic = false;  // use as many devices as are predicted to be worth it
  Settings settings;
  RankSettings shared() const { return with_settings(RankSettings(), settings); }

  /// `in_processes`: adds no option for the number of ranks. `predicts`: that number may be left
  /// open.
  void add_to(CLI::App& command, bool in_processes, bool predicts = true);
  /// True if ranks are to be threads of this process.
  bool is_given() const { return ranks_ != nullptr && ranks_->count() > 0; }
  /// Throws `Error` (usage) for options of ranks without ranks, including several devices, and for
  /// first rows if the number of ranks is to be chosen.
  void check_use(const std::string& device) const;

  /// The device of each rank: those that `--device` names, separated by commas, or the same one for
  /// all. If the number of ranks is to be chosen: the named ones, with each GPU once. Throws
  /// `Error`: usage for another number of devices, unsupported if only some are GPUs.
  std::vector<Device> devices(const DeviceOption& option, bool quiet) const;

  /// The device of a process with `place` ranks before it on its host. Processes take turns on the
  /// devices that `--device` names; with `cuda`, each takes a GPU. Throws `Error`.
  Device device_of_process(const DeviceOption& option, int place, bool quiet) const;

  /// These ranks with the named transfer between GPUs; null if none is named. Collective.
  std::unique_ptr<Communicator> linked(Communicator& ranks, const Device& device) const;

  /// None if the mode is to be chosen.
  std::optional<ExchangeMode> mode() const {
    const std::string exchange = shared().exchange;
    return exchange == "auto" ? std::nullopt : std::optional(parse_exchange_mode(exchange));
  }
  /// The transfer between ranks that are threads.
  Transfer transfer_of_threads() const {
    const std::string transfer = shared().transfer;
    return transfer == "auto" ? Transfer::peer : parse_transfer(transfer);
  }
  BoundaryStorage boundary_storage() const { return parse_boundary_storage(shared().boundary); }
  /// Throws `Error` (usage) for an invalid text, or one for another number of ranks.
  Partition make_partition(const AnyMatrix& matrix, int count) const;
  /// True if the partition can be made from nothing but the number of entries of each group of 256
  /// rows.
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
