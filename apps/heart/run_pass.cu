#include "run_pass.hpp"

#include "heddle/for_each_on.hpp"

namespace heddle::heart {

void run(const EndPass& pass, const Stream& stream) { for_each_on(stream, pass); }
void run(const ProbePass& pass, const Stream& stream) { for_each_on(stream, pass); }
void run(const SumPass& pass, const Stream& stream) { for_each_on(stream, pass); }
void run(const ElectrodePass& pass, const Stream& stream) { for_each_on(stream, pass); }

}  // namespace heddle::heart
