#include "run_pass.hpp"

#include "heddle/config.hpp"
#include "heddle/team.hpp"

namespace heddle::elastic {

namespace {

template <class Pass>
void run_anywhere(const Pass& pass, const Stream& stream) {
  if constexpr (has_cuda) {
    if (stream.on_gpu()) return cuda::run(pass, stream);
  }
  parallel_for(team_size(stream, pass.count), pass.count, [&](Offset i) { pass(i); });
}

}  // namespace

void run(const ElementPass& pass, const Stream& stream) { run_anywhere(pass, stream); }
void run(const StressPass& pass, const Stream& stream) { run_anywhere(pass, stream); }
void run(const EntryPass& pass, const Stream& stream) { run_anywhere(pass, stream); }
void run(const VertexPass& pass, const Stream& stream) { run_anywhere(pass, stream); }

}  // namespace heddle::elastic
