#include "heddle/for_each_on.hpp"
#include "newton_passes.hpp"

namespace heddle::heart {

void run(const CondensedCellPass& pass, const Stream& stream) { for_each_on(stream, pass); }
void run(const GuessPass& pass, const Stream& stream) { for_each_on(stream, pass); }
void run(const DecidePass& pass, const Stream& stream) { for_each_on(stream, pass); }
void run(const SettlePass& pass, const Stream& stream) { for_each_on(stream, pass); }
void assemble(Assembly<real<double>>& tangent, const TangentKernel& kernel) {
  assemble_with(tangent, kernel);
}
void assemble(const Assembly<real<double>>& tangent, const TangentKernel& kernel,
              const FieldView<double>& residual) {
  assemble_vector_with(tangent, kernel, residual);
}

}  // namespace heddle::heart
