#include "run_facts.hpp"

#include <cstdio>

#include "heddle/tools/text.hpp"
#include "readable.hpp"

namespace heddle::cli {

RunFacts facts_of(const AnyMatrix& matrix, const std::string& path) {
  RunFacts facts;
  facts.path = path;
  facts.entry = matrix.entry();
  facts.precision = matrix.precision();
  facts.rows = matrix.rows();
  facts.columns = matrix.columns();
  facts.entries = matrix.entries();
  return facts;
}

void print_matrix(const RunFacts& facts) {
  std::printf("matrix     %s: %s x %s %s entries (%s), %s stored\n",
              io::printable(facts.path).c_str(), readable_count(facts.rows).c_str(),
              readable_count(facts.columns).c_str(), std::string(facts.entry.name()).c_str(),
              std::string(name(facts.precision)).c_str(), readable_count(facts.entries).c_str());
}

void print_plan(const RunFacts& facts) {
  std::printf("plan       %s\n", facts.storage.plan().c_str());
  std::printf("reason     %s\n", io::printable(facts.storage.choice.reason).c_str());
  if (!facts.rank_choice.empty()) std::printf("ranks      %s\n", facts.rank_choice.c_str());
}

void print_status(Status status, long long iterations, std::string_view detail) {
  std::printf("status     %s after %lld iterations%s%s%s\n", std::string(name(status)).c_str(),
              iterations, detail.empty() ? "" : " (", std::string(detail).c_str(),
              detail.empty() ? "" : ")");
}

void print_written(const std::optional<std::string>& output, const char* refused) {
  if (!output) return;
  std::printf("written    %s\n", refused != nullptr ? refused : io::printable(*output).c_str());
}

}  // namespace heddle::cli
