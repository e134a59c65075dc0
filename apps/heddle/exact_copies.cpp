#include "exact_copies.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "heddle/runtime/any_solver.hpp"

namespace heddle::cli {

namespace {

/// The message of a refusal without what only plans need: their key and the advice.
std::string reason_of(std::string message) {
  const auto key = message.find(": ", message.find("iteration-precision="));
  if (key != std::string::npos) message.erase(0, key + 2);
  const auto advice = message.rfind("; leave it out");
  if (advice != std::string::npos) message.erase(advice);
  return message;
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

void print(const std::vector<ExactCopy>& copies) {
  for (const ExactCopy& copy : copies) {
    if (copy.why_not.empty()) {
      std::printf("iteration-precision=%s: %.2f bytes an entry with its column, in full %.2f\n",
                  copy.precision.c_str(), copy.bytes, copy.full);
    } else {
      std::printf("iteration-precision=%s: none, %s\n", copy.precision.c_str(),
                  copy.why_not.c_str());
    }
  }
}

nlohmann::ordered_json to_json(const std::vector<ExactCopy>& copies) {
  auto json = nlohmann::ordered_json::array();
  for (const ExactCopy& copy : copies) {
    nlohmann::ordered_json one = {{"iteration_precision", copy.precision},
                                  {"fits", copy.why_not.empty()}};
    if (copy.why_not.empty()) {
      one["bytes_an_entry"] = copy.bytes;
      one["in_full"] = copy.full;
    } else {
      one["why_not"] = copy.why_not;
    }
    json.push_back(std::move(one));
  }
  return json;
}

}  // namespace heddle::cli
