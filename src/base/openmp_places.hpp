// Threads that an OpenMP runtime of the program has bound to one of its places. Linux keeps a set
// of usable processors for each thread, and a new thread inherits its maker's: a team whose leader
// is bound would run on one core.
#pragma once

#include <vector>

namespace heddle {

/// Numbers of processors, ascending.
using Processors = std::vector<int>;

/// Processors that the calling thread may run on; empty if the system does not report them.
Processors processors_of_thread();

/// Processors for threads that work for the calling one: all places of a libgomp or libomp of this
/// process that has bound it to one of them, else its own.
Processors processors_of_team();

/// Same, for threads that the calling one is about to make; empty if they inherit them.
Processors processors_to_take();
/// First action of such a thread. If it is refused, the thread stays where it is.
void take_processors(const Processors& numbers) noexcept;

namespace detail {
/// The union of all places if `own` is one of several; else `own`.
Processors without_place(const std::vector<Processors>& places, const Processors& own);
}  // namespace detail

}  // namespace heddle
