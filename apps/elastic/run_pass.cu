#include "run_pass.hpp"

#include "heddle/for_each_on.hpp"

namespace heddle::elastic {

void run(const ElementPass& pass, const Stream& stream) { for_each_on(stream, pass); }
void run(const StressPass& pass, const Stream& stream) { for_each_on(stream, pass); }
void run(const EntryPass& pass, const Stream& stream) { for_each_on(stream, pass); }
void run(const VertexPass& pass, const Stream& stream) { for_each_on(stream, pass); }

}  // namespace heddle::elastic
