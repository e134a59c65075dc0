// The work of a tree's scheduler on a GPU, as JSON and in words.
#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "heddle/detail/trees/scheduler_statistics.hpp"

namespace heddle::report {

/// The names of the queues, in the order of `TaskKind`.
inline constexpr std::array<const char*, task_kinds> queue_names = {
    "few_children", "many_children", "dense_children", "few_entries",
    "some_entries", "many_entries",  "dense_entries"};

/// {"few_children": {"tasks": 8, "launches": 1}, ..., "controllers": 1, "rounds": 300}
inline nlohmann::ordered_json queues_json(const SchedulerStatistics& statistics) {
  nlohmann::ordered_json json;
  for (std::size_t kind = 0; kind < queue_names.size(); ++kind) {
    const SchedulerStatistics::Queue& queue = statistics.queues[kind];
    json[queue_names[kind]] = {{"tasks", queue.tasks}, {"launches", queue.launches}};
  }
  json["controllers"] = statistics.controllers;
  json["rounds"] = statistics.rounds;
  return json;
}

/// "few_children 8 in 1, dense_entries 64 in 2; controllers 1, rounds 300": tasks in kernels.
inline std::string queues_in_words(const SchedulerStatistics& statistics) {
  std::string text;
  for (std::size_t kind = 0; kind < queue_names.size(); ++kind) {
    const SchedulerStatistics::Queue& queue = statistics.queues[kind];
    if (queue.tasks == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(queue_names[kind]) + " " +
            std::to_string(queue.tasks) + " in " + std::to_string(queue.launches);
  }
  return text + (text.empty() ? "" : "; ") + "controllers " +
         std::to_string(statistics.controllers) + ", rounds " + std::to_string(statistics.rounds);
}

}  // namespace heddle::report
