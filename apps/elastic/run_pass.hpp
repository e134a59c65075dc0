// Passes over elements, and sums of them, compiled for CPU and GPU in one file.
#pragma once

#include "heddle/device.hpp"
#include "heddle/field.hpp"
#include "passes.hpp"

namespace heddle::elastic {

/// Run by `for_each_on`.
void run(const ElementPass& pass, const Stream& stream);
void run(const StressPass& pass, const Stream& stream);
/// Run by `assemble_with`, `assemble_vector_with`.
void assemble(Assembly<Block>& matrix, const StiffnessKernel& kernel);
void assemble(const Assembly<Block>& matrix, const ResidualKernel& kernel,
              const FieldView<double>& field);

}  // namespace heddle::elastic
