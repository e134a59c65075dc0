// The rooms of src/ include only what the table in docs/inside/architecture.md permits. A public
// header belongs to the room that holds the source file of the same name.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace heddle::test::include_graph {
namespace {

namespace fs = std::filesystem;
using Rooms = std::map<std::string, std::set<std::string>>;

const fs::path source_dir = HEDDLE_SOURCE_DIR;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Parses rows "| `src/ROOM/` | ... | rooms |" of the table: a room may use these rooms and what
/// they may use.
Rooms rooms_of_table() {
  Rooms rooms;
  const std::string page = text_of(source_dir / "docs/inside/architecture.md");
  const std::regex row(R"(\| `src/([\w/]+)/` \|[^|]*\|([^|\n]*)\|)"), word(R"([\w/]+)");
  for (std::sregex_iterator it(page.begin(), page.end(), row), end; it != end; ++it) {
    std::set<std::string>& uses = rooms[(*it)[1]];
    const std::string named = (*it)[2];
    for (std::sregex_iterator name(named.begin(), named.end(), word); name != end; ++name) {
      uses.insert(name->str());
    }
  }
  for (bool grows = true; grows;) {
    grows = false;
    for (auto& [folder, uses] : rooms) {
      const std::size_t before = uses.size();
      for (const std::string& used : std::set<std::string>(uses)) {
        if (rooms.contains(used)) uses.insert(rooms[used].begin(), rooms[used].end());
      }
      grows = grows || uses.size() != before;
    }
  }
  return rooms;
}

/// "plan" for plan.hpp and plan.cpp, "product" for product_cuda.cpp.
std::string concept_of(const fs::path& file) {
  return std::regex_replace(file.stem().string(), std::regex("_cuda$"), "");
}

/// The rooms of public headers, by concept; a concept found in two rooms belongs to neither.
std::map<std::string, std::string> rooms_of_concepts(const Rooms& rooms) {
  std::map<std::string, std::string> found;
  for (const auto& [folder, uses] : rooms) {
    for (const auto& entry : fs::directory_iterator(source_dir / "src" / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".cu") continue;
      const auto [at, is_new] = found.emplace(concept_of(entry.path()), folder);
      if (!is_new && at->second != folder) at->second.clear();
    }
  }
  return found;
}

/// Texts for two compilers, which include only one another and export.hpp.
bool is_text(const fs::path& header) {
  static const std::set<std::string> folders = {"heddle/entries", "heddle/methods",
                                                "heddle/kernels", "heddle/kernels/trees"};
  return folders.contains(header.parent_path().string());
}

TEST(IncludeGraph, HasNoArrowThatTheTableHasNot) {
  const Rooms rooms = rooms_of_table();
  ASSERT_GE(rooms.size(), 8u) << "the table of docs/inside/architecture.md";
  const auto rooms_of = rooms_of_concepts(rooms);
  const std::regex include(R"re(#include "([^"]+)")re");
  int arrows = 0;
  const auto check = [&](const fs::path& file, const std::string& folder) {
    const std::string text = text_of(file);
    for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it) {
      const fs::path header = (*it)[1].str();
      std::string used;
      if (rooms.contains(header.parent_path().string())) used = header.parent_path().string();
      if (*header.begin() == "heddle" && !is_text(header)) {
        const auto found = rooms_of.find(concept_of(header));
        if (found != rooms_of.end()) used = found->second;
      }
      if (used.empty() || used == folder) continue;
      ++arrows;
      EXPECT_TRUE(rooms.at(folder).contains(used))
          << file << " of " << folder << " includes " << header << " of " << used;
    }
  };
  for (const auto& [folder, uses] : rooms) {
    EXPECT_FALSE(uses.contains(folder)) << folder << " may use itself by way of another";
    for (const auto& entry : fs::directory_iterator(source_dir / "src" / folder)) {
      if (entry.is_regular_file()) check(entry.path(), folder);
    }
  }
  for (const auto& entry : fs::recursive_directory_iterator(source_dir / "src")) {
    if (!entry.is_regular_file()) continue;
    const fs::path folder = fs::relative(entry.path().parent_path(), source_dir / "src");
    EXPECT_TRUE(rooms.contains(folder.string())) << folder << " has no row in the table";
  }
  for (const auto& entry : fs::recursive_directory_iterator(source_dir / "include/heddle")) {
    if (!entry.is_regular_file()) continue;
    const auto found = rooms_of.find(concept_of(entry.path()));
    const bool has_folder = found != rooms_of.end() && !found->second.empty();
    if (is_text(fs::relative(entry.path(), source_dir / "include"))) {
      const std::string text = text_of(entry.path());
      for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it) {
        const std::string header = (*it)[1];
        EXPECT_TRUE(is_text(header) || header == "heddle/export.hpp")
            << entry.path() << " includes " << header;
      }
    } else if (has_folder)
      check(entry.path(), found->second);
  }
  EXPECT_GT(arrows, 150);
}

/// Adds the headers that a header includes, directly or not.
void add_included(const std::string& header, std::set<std::string>& found) {
  if (!found.insert(header).second) return;
  const std::string text = text_of(source_dir / "include" / header);
  const std::regex include(R"re(#include "(heddle/[^"]+)")re");
  for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it) {
    add_included((*it)[1], found);
  }
}

TEST(IncludeGraph, HeddleIncludesEveryPublicHeader) {
  const std::set<std::string> others = {"cuda_call.hpp", "eigen.hpp", "eigen_solvers.hpp"};
  std::set<std::string> found;
  add_included("heddle/heddle.hpp", found);
  for (const auto& entry : fs::directory_iterator(source_dir / "include/heddle")) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".hpp" || others.contains(name)) continue;
    EXPECT_TRUE(found.contains("heddle/" + name)) << name;
  }
}

}  // namespace
}  // namespace heddle::test::include_graph
