#include "openmp_places.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/text/environment.hpp"

namespace heddle {

namespace {

struct FreeSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using Set = std::unique_ptr<cpu_set_t, FreeSet>;

/// True if the environment asks a runtime for places other than that of the first thread alone.
bool are_places_wanted() {
  const std::string bind = environment("OMP_PROC_BIND");
  const auto begins = [&](std::string_view with) {
    return bind.size() >= with.size() && std::equal(with.begin(), with.end(), bind.begin(),
                                                    [](char a, char b) { return a == (b | 0x20); });
  };
  if (begins("master") || begins("primary") || begins("false")) return false;
  if (!bind.empty()) return true;
  const auto is_set = [](const char* name) { return !environment(name).empty(); };
  return is_set("OMP_PLACES") || is_set("GOMP_CPU_AFFINITY") || is_set("KMP_AFFINITY");
}

/// Files of OpenMP runtimes in this process, including those of wheels and extensions, whose
/// symbols are not global.
std::vector<std::string> loaded_runtimes() {
  std::vector<std::string> files;
  const auto take = [](dl_phdr_info* info, std::size_t, void* to) {
    const std::string_view path(info->dlpi_name != nullptr ? info->dlpi_name : "");
    const std::string_view file = path.substr(path.find_last_of('/') + 1);
    for (const std::string_view runtime : {"libgomp", "libomp", "libiomp"}) {
      if (file.starts_with(runtime)) {
        static_cast<std::vector<std::string>*>(to)->emplace_back(path);
        break;
      }
    }
    return 0;
  };
  dl_iterate_phdr(take, &files);
  return files;
}

std::vector<Processors> places_of(void* library) {
  const auto find = [&]<class F>(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(library, name));
    return function != nullptr;
  };
  int (*count)() = nullptr;
  int (*size)(int) = nullptr;
  void (*numbers)(int, int*) = nullptr;
  std::vector<Processors> places;
  if (!find(count, "omp_get_num_places") || !find(size, "omp_get_place_num_procs") ||
      !find(numbers, "omp_get_place_proc_ids")) {
    return places;
  }
  for (int place = 0, all = count(); place < all; ++place) {
    Processors& own = places.emplace_back(static_cast<std::size_t>(std::max(0, size(place))));
    if (!own.empty()) numbers(place, own.data());
    std::sort(own.begin(), own.end());
  }
  return places;
}

/// The places of the runtime that is present, or none.
std::vector<Processors> openmp_places() {
  if (!are_places_wanted()) return {};
  std::vector<Processors> places = places_of(RTLD_DEFAULT);
  for (const std::string& file : loaded_runtimes()) {
    if (places.size() > 1) break;
    if (void* const library = dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
      places = places_of(library);
      dlclose(library);
    }
  }
  return places;
}

}  // namespace

Processors detail::without_place(const std::vector<Processors>& places, const Processors& own) {
  if (std::find(places.begin(), places.end(), own) == places.end()) return own;
  Processors all;
  for (const Processors& place : places) all.insert(all.end(), place.begin(), place.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

Processors processors_of_thread() {
  Processors numbers;
  for (std::size_t most = 1024; most <= 1 << 16 && numbers.empty(); most *= 2) {
    const Set set(CPU_ALLOC(most));
    if (!set) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(most);
    if (sched_getaffinity(0, bytes, set.get()) != 0) continue;
    for (std::size_t number = 0; number < most; ++number) {
      if (CPU_ISSET_S(number, bytes, set.get())) numbers.push_back(static_cast<int>(number));
    }
  }
  return numbers;
}

Processors processors_of_team() {
  Processors own = processors_of_thread();
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  if (own.empty() || static_cast<long>(own.size()) >= online) return own;
  // A runtime that starts when it is asked binds the thread at that time.
  const std::vector<Processors> places = openmp_places();
  return places.empty() ? own : detail::without_place(places, processors_of_thread());
}

Processors processors_to_take() {
  Processors team = processors_of_team();
  return team == processors_of_thread() ? Processors() : team;
}

void take_processors(const Processors& numbers) noexcept {
  if (numbers.empty()) return;
  const auto most = static_cast<std::size_t>(numbers.back()) + 1;
  const Set set(CPU_ALLOC(most));
  if (!set) return;
  const std::size_t bytes = CPU_ALLOC_SIZE(most);
  CPU_ZERO_S(bytes, set.get());
  for (const int number : numbers) CPU_SET_S(static_cast<std::size_t>(number), bytes, set.get());
  sched_setaffinity(0, bytes, set.get());
}

}  // namespace heddle
