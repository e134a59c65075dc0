#include "device_cuda.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "cuda_call.hpp"
#include "heddle/error.hpp"
#include "staged_copy_cuda.hpp"
#include "stream_watch_cuda.hpp"

namespace heddle::cuda {

namespace {

/// One pool per GPU, apart from the pool of the program's own cudaMallocAsync.
cudaMemPool_t pool_of(int ordinal) {
  static std::mutex mutex;
  static std::map<int, cudaMemPool_t> pools;
  const std::lock_guard lock(mutex);
  cudaMemPool_t& pool = pools[ordinal];
  if (pool == nullptr) {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, ordinal};
    check(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
    // A solver or a tree that is made and destroyed repeatedly should find its memory again: to
    // obtain a GiB anew takes as long as to copy several. A multigrid for a million rows of 3 x 3
    // takes 12 GB.
    constexpr std::size_t least = std::size_t(64) << 20;
    constexpr std::size_t part_of_memory = 8;
    std::size_t available = 0, total = 0;
    check(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");
    unsigned long long kept = std::max(least, total / part_of_memory);
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept),
          "cudaMemPoolSetAttribute");
  }
  return pool;
}

std::mutex mutex_of_watches;
std::vector<const StreamWatch*> watches;
std::atomic<std::size_t> number_of_watches = 0;

class StreamMemory final : public std::pmr::memory_resource {
 public:
  explicit StreamMemory(const Stream& stream) : stream_(stream) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t) override {
    const OnGpu here(stream_);
    void* data = nullptr;
    const cudaError_t status =
        cudaMallocFromPoolAsync(&data, bytes, pool_of(stream_.gpu), stream_.queue);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw std::bad_alloc();
    }
    check(status, "cudaMallocFromPoolAsync");
    return data;
  }
  /// Called by destructors: an error of earlier work is reported by the next call that can throw.
  void do_deallocate(void* data, std::size_t, std::size_t) override {
    int before = stream_.gpu;
    cudaGetDevice(&before);
    if (before != stream_.gpu) cudaSetDevice(stream_.gpu);
    if (cudaFreeAsync(data, stream_.queue) != cudaSuccess) cudaGetLastError();
    if (before != stream_.gpu) cudaSetDevice(before);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  Stream stream_;
};

/// CUDA itself reports a missing driver as one that is too old.
void check_driver() {
  int driver = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  if (driver == 0)
    throw Error(ErrorKind::no_device, "no GPU can be used: no NVIDIA driver was found");
  constexpr int needed = CUDART_VERSION / 1000 * 1000;  // newer ones of its series run as well
  if (driver < needed) {
    throw Error(ErrorKind::no_device, "no GPU can be used: the NVIDIA driver is for CUDA " +
                                          version_text(driver) + "; one for " +
                                          version_text(needed) + " or newer is needed");
  }
}

cudaPointerAttributes attributes_of(const void* data) {
  cudaPointerAttributes attributes{};
  if (data != nullptr) {
    check(cudaPointerGetAttributes(&attributes, data), "cudaPointerGetAttributes");
  }
  return attributes;
}

bool is_of_device(const cudaPointerAttributes& attributes) {
  return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
}

}  // namespace

std::pmr::memory_resource* stream_memory(const Stream& stream) {
  static std::mutex mutex;
  static std::map<std::pair<int, CUstream_st*>, StreamMemory> resources;
  const std::lock_guard lock(mutex);
  return &resources.try_emplace({stream.gpu, stream.queue}, stream).first->second;
}

std::string version_text(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::string toolkit_version() { return version_text(CUDART_VERSION); }

int number_of_gpus() {
  check_driver();
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  return count;
}

CUstream_st* open_stream(int ordinal, CUstream_st* stream) {
  const int count = number_of_gpus();
  if (ordinal < 0 || ordinal >= count) {
    throw Error(ErrorKind::no_device, "there is no GPU " + std::to_string(ordinal) +
                                          "; there are " + std::to_string(count) +
                                          ", counted from 0");
  }
  if (stream != nullptr) return stream;
  static std::mutex mutex;
  static std::map<int, cudaStream_t> own;
  const std::lock_guard lock(mutex);
  cudaStream_t& opened = own[ordinal];
  if (opened == nullptr) {
    const OnGpu here({1, ordinal, nullptr, nullptr});
    check(cudaStreamCreateWithFlags(&opened, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  return opened;
}

long long available_memory(const Stream& stream) {
  const OnGpu here(stream);
  std::size_t available = 0, total = 0;
  check(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");
  unsigned long long reserved = 0, used = 0;
  check(cudaMemPoolGetAttribute(pool_of(stream.gpu), cudaMemPoolAttrReservedMemCurrent, &reserved),
        "cudaMemPoolGetAttribute");
  check(cudaMemPoolGetAttribute(pool_of(stream.gpu), cudaMemPoolAttrUsedMemCurrent, &used),
        "cudaMemPoolGetAttribute");
  return static_cast<long long>(available + (reserved - used));
}

long long last_cache_bytes(const Stream& stream) {
  int bytes = 0;
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, stream.gpu),
        "cudaDeviceGetAttribute");
  return bytes;
}

bool is_being_captured(const Stream& stream) {
  const OnGpu here(stream);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream.queue, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

void synchronize(const Stream& stream) {
  const OnGpu here(stream);
  while (StreamWatch::find(stream, 0) != nullptr) {
    const cudaError_t status = cudaStreamQuery(stream.queue);
    if (status != cudaErrorNotReady) return check(status, "cudaStreamQuery");
    look(stream);
    std::this_thread::yield();
  }
  check(cudaStreamSynchronize(stream.queue), "cudaStreamSynchronize");
}

void synchronize_quietly(const Stream& stream) noexcept {
  try {
    synchronize(stream);
  } catch (const std::exception&) {
    cudaStreamSynchronize(stream.queue);
  }
}

StreamWatch::StreamWatch(const Stream& stream, std::function<void()> look)
    : gpu_(stream.gpu), queue_(stream.queue), look_(std::move(look)) {
  const std::lock_guard lock(mutex_of_watches);
  watches.push_back(this);
  ++number_of_watches;
}

StreamWatch::~StreamWatch() {
  const std::lock_guard lock(mutex_of_watches);
  std::erase(watches, this);
  --number_of_watches;
}

const StreamWatch* StreamWatch::find(const Stream& stream, std::size_t place) {
  if (number_of_watches == 0) return nullptr;
  const std::lock_guard lock(mutex_of_watches);
  for (const StreamWatch* watch : watches) {
    const bool is_its = watch->gpu_ == stream.gpu && watch->queue_ == stream.queue &&
                        watch->thread_ == std::this_thread::get_id();
    if (is_its && place-- == 0) return watch;
  }
  return nullptr;
}

void look(const Stream& stream) {
  for (std::size_t place = 0;; ++place) {
    const StreamWatch* const watch = StreamWatch::find(stream, place);
    if (watch == nullptr) return;
    watch->look();
  }
}

std::string description(const Stream& stream) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, stream.gpu), "cudaGetDeviceProperties");
  return std::string(properties.name) + ", " + std::to_string(properties.multiProcessorCount) +
         " multiprocessors, " + std::to_string(properties.totalGlobalMem >> 30) + " GiB, GPU " +
         std::to_string(stream.gpu);
}

void copy(void* to, const void* from, std::size_t bytes, const Stream& stream) {
  const OnGpu here(stream);
  // Memory of the host may be read or written until the copy is done; between two places of a
  // device there is no need to wait.
  const cudaPointerAttributes of_to = attributes_of(to), of_from = attributes_of(from);
  const bool is_to_gpu = is_of_device(of_to), is_from_gpu = is_of_device(of_from);
  const bool is_of_host = !is_to_gpu || !is_from_gpu;
  // The driver may wait for the stream itself, and would not call `look`.
  if (is_of_host && StreamWatch::find(stream, 0) != nullptr) synchronize(stream);
  const bool is_pageable = (is_to_gpu ? of_from : of_to).type == cudaMemoryTypeUnregistered;
  if (is_pageable && is_to_gpu != is_from_gpu && bytes >= StagedCopy::min_bytes) {
    if (StagedCopy::run(to, from, bytes, is_to_gpu, stream)) return;
  }
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.queue), "cudaMemcpyAsync");
  if (is_of_host) synchronize(stream);
}

void fill(void* data, int byte, std::size_t bytes, const Stream& stream) {
  const OnGpu here(stream);
  check(cudaMemsetAsync(data, byte, bytes, stream.queue), "cudaMemsetAsync");
}

bool is_device_memory(const void* data) { return is_of_device(attributes_of(data)); }

bool is_device_memory(const void* data, const Stream& stream) {
  const cudaPointerAttributes attributes = attributes_of(data);
  if (attributes.type == cudaMemoryTypeDevice && attributes.device != stream.gpu) {
    throw Error(ErrorKind::usage, "memory of GPU " + std::to_string(attributes.device) +
                                      " is used in work on GPU " + std::to_string(stream.gpu) +
                                      "; copy it there first");
  }
  return is_of_device(attributes);
}

bool is_writable(const void* data, const Stream& stream) {
  const cudaPointerAttributes attributes = attributes_of(data);
  if (attributes.type == cudaMemoryTypeDevice && attributes.device != stream.gpu) return false;
  return attributes.type != cudaMemoryTypeUnregistered && attributes.devicePointer == data;
}

}  // namespace heddle::cuda
