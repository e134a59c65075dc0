#include "exact_copies.hpp"

#include "heddle/runtime/any_solver.hpp"

namespace heddle::detail {

namespace {

/// The message of a refusal without the parts that only plans need: their key and the advice.
std::string reason_of(std::string message) {
  const auto key = message.find(": ", message.find("iteration-precision="));
  if (key != std::string::npos) message.erase(0, key + 2);
  return message.substr(0, message.find("; "));
}

ExactCopy tried(const AnyMatrix& matrix, const std::string& precision, const Device& device) {
  ExactCopy copy{precision, "", 0, 0};
  try {
    const AnyOperator built(matrix, parse_plan("CSR,iteration-precision=" + precision), device);
    const auto an_entry = [&](long long bytes) {
      const auto entries = static_cast<double>(matrix.entries());
      return static_cast<double>(bytes) / entries + static_cast<double>(sizeof(Index));
    };
    copy.bytes = an_entry(built.memory().copy);
    copy.full = an_entry(built.memory().values);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_plan && error.kind() != ErrorKind::memory) throw;
    copy.why_not = reason_of(error.what());
  }
  return copy;
}

}  // namespace

std::vector<ExactCopy> exact_copies(const AnyMatrix& matrix, const Device& device) {
  std::vector<ExactCopy> copies;
  if (matrix.entries() == 0) return copies;
  copies.push_back(tried(matrix, "dictionary", device));
  if (!matrix.is_defined() && matrix.kind() == EntryKind::quaternion) {
    copies.push_back(tried(matrix, "unit", device));
  }
  return copies;
}

}  // namespace heddle::detail
