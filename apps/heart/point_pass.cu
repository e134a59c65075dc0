#include "heddle/for_each_on.hpp"
#include "point_passes.hpp"

namespace heddle::heart {

void run(const InterpolatePass& pass, const Stream& stream) { for_each_on(stream, pass); }
void run(const TakeUpPass& pass, const Stream& stream) { for_each_on(stream, pass); }

void integrate(const Assembly<real<double>>& mass, const ChangeAtPoints& change,
               const FieldView<double>& integral) {
  assemble_vector_with(mass, change, integral);
}

}  // namespace heddle::heart
