#include "run_pass.hpp"

#include "heddle/for_each_on.hpp"

namespace heddle::elastic {

void run(const ElementPass& pass, const Stream& stream) { for_each_on(stream, pass); }
void run(const StressPass& pass, const Stream& stream) { for_each_on(stream, pass); }
void assemble(Assembly<Block>& matrix, const StiffnessKernel& kernel) {
  assemble_with(matrix, kernel);
}
void assemble(const Assembly<Block>& matrix, const ResidualKernel& kernel,
              const FieldView<double>& field) {
  assemble_vector_with(matrix, kernel, field);
}

}  // namespace heddle::elastic
