#include "rank_options.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

#include "distributed/partition/named_partition.hpp"
#include "setting_options.hpp"
#include "whole_number.hpp"

namespace heddle::cli {

namespace {

constexpr const char* group = "ranks";

}  // namespace

void RankOptions::add_number_to(CLI::App& command, bool predicts) {
  const auto number_or_auto = [predicts, number = whole_number(1, 1024)](std::string& text) {
    if (predicts && text == "auto") return std::string();
    const std::string fault = number(text);
    return fault.empty() || !predicts ? fault : fault + ", nor auto";
  };
  const auto take = [this](const std::string& text) {
    is_automatic = text == "auto";
    if (!is_automatic) ranks = std::stoi(text);
  };
  ranks_ =
      command
          .add_option_function<std::string>(
              "--ranks", take,
              std::string("solve on N ranks, threads of this process that each own a part of the "
                          "rows; they share the --threads of the device, and --device may name a "
                          "GPU for each: cuda:0,cuda:1") +
                  (predicts ? "; auto uses as many of those GPUs as are predicted to be worth it"
                            : ""))
          ->transform(CLI::Validator(number_or_auto, predicts ? "1 to 1024 or auto" : "1 to 1024"))
          ->type_name(predicts ? "N|auto" : "N")
          ->group(group);
}

void RankOptions::add_to(CLI::App& command, bool in_processes, bool predicts) {
  if (!in_processes) add_number_to(command, predicts);
  add_settings(command, SettingUse::ranks, settings, group);
}

void RankOptions::check_use(const std::string& device) const {
  if (is_automatic && !detail::names_any_ranks(shared().partition)) {
    throw Error(
        ErrorKind::usage,
        "--partition with first rows fixes the number of ranks: give that number, not auto");
  }
  if (is_given()) return;
  if (device.find(',') != std::string::npos) {
    throw Error(ErrorKind::usage, "--device " + device + " is for ranks: give --ranks too");
  }
  if (settings.given().empty()) return;
  throw Error(ErrorKind::usage,
              settings.given().front().spelling + " is for ranks: give --ranks too");
}

std::vector<Device> RankOptions::devices(const DeviceOption& option, bool quiet) const {
  std::vector<Device> devices;
  std::istringstream names(option.device + ",");  // an empty name after a comma counts too
  for (DeviceOption one = option; std::getline(names, one.device, ',');) {
    const Device named = one.on(quiet);
    const bool is_again = std::any_of(devices.begin(), devices.end(), [&](const Device& other) {
      return named.on_gpu() && other.stream().gpu == named.stream().gpu;
    });
    if (!is_automatic || !is_again) devices.push_back(named);
  }
  const std::size_t count = is_automatic ? devices.size() : static_cast<std::size_t>(ranks);
  if (devices.size() != 1 && devices.size() != count) {
    throw Error(ErrorKind::usage, "--device " + option.device + " names " +
                                      std::to_string(devices.size()) + " devices for " +
                                      std::to_string(ranks) +
                                      " ranks: give one for each, or one for all");
  }
  for (const Device& device : devices) {
    if (device.on_gpu() == devices.front().on_gpu()) continue;
    throw Error(ErrorKind::unsupported,
                "--device " + option.device + ": ranks must be all on GPUs, or all on the CPU");
  }
  check_transfer(devices.front());
  devices.resize(count, Device(devices.front()));
  return devices;
}

Device RankOptions::device_of_process(const DeviceOption& option, int place, bool quiet) const {
  std::vector<std::string> names;
  std::istringstream text(option.device + ",");  // an empty name after a comma counts too
  for (std::string one; std::getline(text, one, ',');) names.push_back(one);
  DeviceOption own = option;
  own.device = names[static_cast<std::size_t>(place) % names.size()];
  const bool takes_turns =
      own.device == "cuda" || (own.device == "auto" && Device::why_no_gpu().empty());
  if (!takes_turns || names.size() > 1 || place == 0) return own.on(quiet);
  own.device = "cuda:" + std::to_string(place);
  try {
    return own.on(quiet);
  } catch (const Error& error) {
    // A launcher may show each process only a GPU of its own, which is then its first.
    if (error.kind() != ErrorKind::no_device) throw;
    own.device = "cuda:0";
    return own.on(quiet);
  }
}

std::unique_ptr<Communicator> RankOptions::linked(Communicator& ranks, const Device& device) const {
  const std::string transfer = shared().transfer;
  if (transfer == "auto") return nullptr;
  together(ranks, [&] { check_transfer(device); });
  return with_transfer(ranks, parse_transfer(transfer), device);
}

void RankOptions::check_transfer(const Device& device) const {
  if (shared().transfer == "auto" || device.on_gpu()) return;
  throw Error(ErrorKind::unsupported, "--transfer is for ranks on GPUs: give --device too");
}

Partition RankOptions::make_partition(const AnyMatrix& matrix, int count) const {
  return detail::named_partition(shared().partition, matrix.pattern(), count);
}

Partition RankOptions::make_partition(Index rows, std::span<const long long> entries_of_groups,
                                      int count) const {
  return detail::named_partition(shared().partition, rows, entries_of_groups, count);
}

}  // namespace heddle::cli
