// The lists of methods and preconditioners in the docs contain every row of their tables.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "heddle/method_info.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"

namespace heddle {
namespace {

/// The item from the line that starts with `begin` to the next item or empty line.
std::string item_of(const std::string& page, const std::string& begin) {
  std::ifstream file(HEDDLE_SOURCE_DIR "/docs/" + page);
  std::string line, item;
  while (std::getline(file, line)) {
    const bool ends = line.empty() || line.front() == begin.front();
    if (!item.empty() && ends) break;
    if (!item.empty() || line.starts_with(begin)) item += line + "\n";
  }
  return item;
}

/// The first cells of the table that begins with this line.
std::string first_cells_of(const std::string& page, const std::string& head) {
  std::ifstream file(HEDDLE_SOURCE_DIR "/docs/" + page);
  std::string line, cells;
  while (std::getline(file, line) && !line.starts_with(head)) continue;
  while (std::getline(file, line) && line.starts_with("|")) {
    cells += line.substr(0, line.find('|', 1)) + "\n";
  }
  return cells;
}

TEST(PreconditionerLists, InDocsAreWhole) {
  const std::string in_words =
      first_cells_of("reference/command-line.md", "| preconditioner | matrices |");
  const std::string chosen =
      first_cells_of("guide/choosing-a-method.md", "| preconditioner | needs |");
  for (const PreconditionerInfo& row : preconditioner_table()) {
    SCOPED_TRACE(row.name);
    const std::string name = "`" + std::string(row.name);
    if (row.kind != PreconditionerKind::none) EXPECT_NE(in_words.find(name), std::string::npos);
    if (row.kind != PreconditionerKind::automatic) EXPECT_NE(chosen.find(name), std::string::npos);
    if (!row.is_of_all_entries) continue;
    for (const char* const page : {"guide/distributed.md", "guide/hierarchical.md"}) {
      std::stringstream text;
      text << std::ifstream(HEDDLE_SOURCE_DIR "/docs/" + std::string(page)).rdbuf();
      EXPECT_NE(text.str().find(name + "`"), std::string::npos) << page;
    }
  }
}

TEST(MethodLists, InDocsAreWhole) {
  const std::string in_words = item_of("reference/command-line.md", "| `solver`, `solver_reason`");
  const std::string timed = item_of("guide/tuning.md", "- **Objective**");
  const std::string measured = item_of("guide/benchmarks.md", "| `solver` |");
  std::stringstream schema;
  schema << std::ifstream(HEDDLE_SOURCE_DIR "/docs/reference/profile-schema.json").rdbuf();
  std::string objectives = "\"enum\": [\"product\"";
  for (const MethodInfo& method : method_table()) {
    const std::string name(method.name);
    SCOPED_TRACE(name);
    EXPECT_NE(in_words.find(name), std::string::npos) << in_words;
    EXPECT_NE(timed.find(name + "`"), std::string::npos) << timed;
    EXPECT_NE(measured.find("`" + name + "`, `" + name + "+jacobi`"), std::string::npos)
        << measured;
    objectives += ", \"" + name + "\"";
  }
  const std::size_t first = schema.str().find(objectives + "]");
  ASSERT_NE(first, std::string::npos) << objectives;
  EXPECT_NE(schema.str().find(objectives + "]", first + 1), std::string::npos);
}

}  // namespace
}  // namespace heddle
