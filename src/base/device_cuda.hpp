// The parts of a Device that need CUDA; defined in builds that have it.
#pragma once

#include <memory_resource>
#include <string>

#include "heddle/device.hpp"

namespace heddle::cuda {

/// Throws `Error` (no_device) if there is no driver or none that is new enough.
int number_of_gpus();
/// The CUDA version that this was built with: "13.0".
std::string toolkit_version();

/// `stream`, or the library's own on that GPU; throws `Error` (no_device) if it cannot be used.
CUstream_st* open_stream(int ordinal, CUstream_st* stream);

/// Memory that is allocated and freed in the order of the stream.
std::pmr::memory_resource* stream_memory(const Stream& stream);

long long available_memory(const Stream& stream);
long long last_cache_bytes(const Stream& stream);
void synchronize(const Stream& stream);
/// True while work for the stream becomes part of a graph.
bool is_being_captured(const Stream& stream);
std::string description(const Stream& stream);
/// "13.0" for 13000, as CUDA numbers its versions.
std::string version_text(int number);

/// Copies between host and device in any direction; the host's memory may be reused on return.
void copy(void* to, const void* from, std::size_t bytes, const Stream& stream);
void fill(void* data, int byte, std::size_t bytes, const Stream& stream);

/// True for a GPU's own memory, and for managed memory.
bool is_device_memory(const void* data);
/// Same, for memory that kernels of a stream are to use; throws `Error` (usage) for another GPU's
/// memory, which would end the process's use of this one.
bool is_device_memory(const void* data, const Stream& stream);
/// True for memory that the stream's GPU can write to: its own, managed, or pinned.
bool is_writable(const void* data, const Stream& stream);

}  // namespace heddle::cuda
