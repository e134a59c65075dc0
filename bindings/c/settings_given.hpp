// The part of a call's settings, which may be null, that the call takes.
#pragma once

#include <memory>
#include <memory_resource>

#include "callers_memory.hpp"
#include "device_named.hpp"
#include "handles.hpp"

namespace heddle::c {

inline const heddle_settings& given_or_none(const heddle_settings* settings) {
  static const heddle_settings none{};
  return settings != nullptr ? *settings : none;
}

/// `options` with given settings in place of the defaults.
template <class Options>
Options options_of(const heddle_settings* settings, Options options = {}) {
  return with_settings(std::move(options), given_or_none(settings).named);
}

/// The device of the settings, with their stream. Throws `Error`.
inline Device device_of(const heddle_settings* settings,
                        std::pmr::memory_resource* memory = nullptr) {
  const auto storage = options_of<StorageSettings>(settings);
  return device_named(storage.device.c_str(), storage.threads, given_or_none(settings).stream,
                      memory);
}

/// Null if the settings name no allocator.
inline std::shared_ptr<std::pmr::memory_resource> memory_of(const heddle_settings* settings) {
  const auto& allocator = given_or_none(settings).allocator;
  return memory_of(allocator ? &*allocator : nullptr);
}

/// The caller's observer in the form that solvers call; empty for none. `Progress` is its argument.
template <class Progress>
std::function<bool(const Progress&)> observer_of(const heddle_settings* settings) {
  const heddle_settings& given = given_or_none(settings);
  if (given.observer == nullptr) return {};
  return [observer = given.observer, user = given.observer_user](const Progress& now) {
    const heddle_progress progress{now.iteration, now.relative_residual, now.seconds};
    return observer(user, &progress) == 0;
  };
}

}  // namespace heddle::c
