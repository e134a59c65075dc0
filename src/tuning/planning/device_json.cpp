#include "device_json.hpp"

#include <cmath>

#include "heddle/error.hpp"

namespace heddle::profile_json {

using detail::JsonObject;
using json = nlohmann::ordered_json;

json text(const std::string& bytes) {
  return json::parse(json(bytes).dump(-1, ' ', false, json::error_handler_t::replace));
}

json number(double value, const char* what) {
  if (std::isfinite(value)) return value;
  throw Error(ErrorKind::not_finite, std::string("profile: ") + what + " is not a finite number");
}

json written(const DeviceProperties& device) {
  json object = {{"kind", device.gpu ? "gpu" : "cpu"},
                 {"name", text(device.name)},
                 {"memory", device.memory},
                 {"last_cache", device.last_cache}};
  if (!device.gpu) {
    object["threads"] = device.threads;
    object["instructions"] = text(device.instructions);
    return object;
  }
  object["architecture"] = device.architecture;
  object["multiprocessors"] = device.multiprocessors;
  object["warp"] = device.warp;
  object["threads_of_block"] = device.threads_of_block;
  object["threads_of_multiprocessor"] = device.threads_of_multiprocessor;
  object["blocks_of_multiprocessor"] = device.blocks_of_multiprocessor;
  object["registers_of_multiprocessor"] = device.registers_of_multiprocessor;
  object["shared_memory_of_block"] = device.shared_memory_of_block;
  object["driver"] = text(device.driver);
  return object;
}

json written(const Ceilings& ceilings) {
  return {{"memory", number(ceilings.memory, "a ceiling")},
          {"cache", number(ceilings.cache, "a ceiling")},
          {"start", number(ceilings.start, "a ceiling")}};
}

DeviceProperties read_device(const JsonObject& object) {
  DeviceProperties device;
  device.gpu = object.text_of("kind", {"cpu", "gpu"}) == "gpu";
  const auto count = [&](const char* key) {
    return static_cast<int>(object.count(key, most_count));
  };
  if (device.gpu) {
    object.check_keys({"kind", "name", "memory", "last_cache", "architecture", "multiprocessors",
                       "warp", "threads_of_block", "threads_of_multiprocessor",
                       "blocks_of_multiprocessor", "registers_of_multiprocessor",
                       "shared_memory_of_block", "driver"});
    device.architecture = count("architecture");
    device.multiprocessors = count("multiprocessors");
    device.warp = count("warp");
    device.threads_of_block = count("threads_of_block");
    device.threads_of_multiprocessor = count("threads_of_multiprocessor");
    device.blocks_of_multiprocessor = count("blocks_of_multiprocessor");
    device.registers_of_multiprocessor = count("registers_of_multiprocessor");
    device.shared_memory_of_block = count("shared_memory_of_block");
    device.driver = object.text("driver");
  } else {
    object.check_keys({"kind", "name", "memory", "last_cache", "threads", "instructions"});
    device.threads = count("threads");
    device.instructions = object.text("instructions");
  }
  device.name = object.text("name");
  device.memory = object.count("memory");
  device.last_cache = object.count("last_cache");
  return device;
}

Ceilings read_ceilings(const JsonObject& object) {
  object.check_keys({"memory", "cache", "start"});
  return {object.number("memory"), object.number("cache"), object.number("start")};
}

}  // namespace heddle::profile_json
