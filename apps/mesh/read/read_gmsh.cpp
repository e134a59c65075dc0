#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gmsh_elements.hpp"
#include "gmsh_format.hpp"
#include "gmsh_names.hpp"
#include "gmsh_numbers.hpp"
#include "heddle/tools/text.hpp"
#include "malformed.hpp"
#include "mesh_readers.hpp"
#include "node_numbers.hpp"
#include "text_scanner.hpp"

namespace heddle::mesh {

namespace {

using io::in_quotes;

// A number takes two bytes or more, both in text and as bytes.
constexpr std::size_t min_number = 2;

using Version = GmshFormat::Version;

void expect(TextScanner& scan, std::string_view keyword) {
  const std::string_view word = scan.word();
  if (word == keyword) return;
  scan.fail(malformed, in_quotes(word) + " where " + std::string(keyword) + " is needed");
}

template <class Numbers>
class GmshReader {
 public:
  GmshReader(TextScanner& scan, Numbers numbers, Version version)
      : scan_(scan), numbers_(numbers), version_(version) {}

  SolidMesh read() {
    while (!scan_.at_end()) {
      read_section(scan_.word());
      scan_.end_records();
    }
    if (!has_nodes_)
      scan_.fail_at(scan_.offset(), malformed, std::string("the file has no ") + nodes_keyword());
    if (mesh_.tetrahedron.empty()) {
      scan_.fail_at(scan_.offset(), malformed, "the file has no tetrahedra");
    }
    find_dimensions_of_names(mesh_);
    return std::move(mesh_);
  }

 private:
  void read_section(std::string_view keyword) {
    if (keyword.size() < 2 || keyword[0] != '$') {
      scan_.fail(malformed, in_quotes(keyword) + " where a section, $..., is needed");
    }
    const bool is_new = version_ >= Version::msh_4_0;
    const std::string end = end_of(keyword);
    if (keyword == "$PhysicalNames") {
      mesh_.names = read_gmsh_names(scan_);
    } else if (keyword == nodes_keyword()) {
      if (has_nodes_) scan_.fail(malformed, std::string(keyword) + " is given twice");
      is_new ? read_node_blocks() : read_nodes();
      finish_nodes();
    } else if (keyword == (version_ == Version::msh_1 ? "$ELM" : "$Elements")) {
      if (has_elements_) scan_.fail(malformed, std::string(keyword) + " is given twice");
      if (!has_nodes_) {
        scan_.fail(malformed, std::string(keyword) + " before " + nodes_keyword());
      }
      has_elements_ = true;
      is_new ? read_element_blocks() : read_elements();
    } else if (keyword == "$Entities" && is_new) {
      read_entities();
    } else if (keyword == "$PartitionedEntities") {
      scan_.fail(malformed, "a partitioned mesh is not supported; save it as a whole");
    } else {
      // Some writers do not put a line end after bytes.
      if (!scan_.skip_past(end, !Numbers::is_binary)) {
        scan_.fail(malformed, "section " + in_quotes(keyword) + " does not end");
      }
      return;
    }
    scan_.end_records();
    expect(scan_, end);
  }

  std::string end_of(std::string_view keyword) const {
    return (version_ == Version::msh_1 ? "$END" : "$End") + std::string(keyword.substr(1));
  }
  const char* nodes_keyword() const { return version_ == Version::msh_1 ? "$NOD" : "$Nodes"; }

  void add_node(long long number, std::size_t offset) {
    if (number < 0) scan_.fail(malformed, std::to_string(number) + " is not a valid node number");
    nodes_.add(number, offset);
  }

  Point read_point() {
    Point point;
    for (double& x : point) x = numbers_.real();
    return point;
  }

  void finish_nodes() {
    has_nodes_ = true;
    if (const auto repeated = nodes_.finish()) {
      scan_.fail_at(repeated->offset, malformed,
                    "node " + std::to_string(repeated->number) + " appears twice");
    }
  }

  // Formats 1 and 2: number, x, y, z.
  void read_nodes() {
    const long long count = scan_.count("nodes", 4 * min_number);
    numbers_.begin_data();
    for (long long i = 0; i < count; ++i) {
      scan_.begin_record("node", i + 1, count);
      const long long number = numbers_.integer();
      add_node(number, scan_.word_offset());
      mesh_.position.push_back(read_point());
    }
  }

  long long read_size(const char* what, std::size_t min_numbers) {
    const long long size = numbers_.size();
    scan_.check_count(size, what, min_numbers * min_number);
    return size;
  }

  /// Dimension and number of the entity that a block belongs to; 4.0 has them in reverse order.
  struct BlockEntity {
    int dimension, number;
  };
  BlockEntity read_block_entity() {
    const int first = numbers_.integer();
    const int second = numbers_.integer();
    if (version_ == Version::msh_4_0) return {second, first};
    return {first, second};
  }

  /// Numbers of blocks and entries in a section, and in 4.1 the least and the greatest number.
  std::pair<long long, long long> read_block_counts(const char* what, std::size_t min_numbers) {
    numbers_.begin_data();
    const long long blocks = read_size("blocks", 4);
    const long long count = read_size(what, min_numbers);
    for (int k = 0; version_ == Version::msh_4_1 && k < 2; ++k) numbers_.size();
    return {blocks, count};
  }

  // Format 4: blocks of the nodes on one entity. In 4.0 each node's coordinates follow its number,
  // in 4.1 the coordinates of all nodes follow their numbers.
  void read_node_blocks() {
    const auto [blocks, count] = read_block_counts("nodes", 4);
    for (long long block = 0; block < blocks; ++block) {
      scan_.begin_record("block", block + 1, blocks);
      const int dimension = read_block_entity().dimension;
      const bool is_parametric = numbers_.integer() != 0;
      // Within a volume, 4.0 has no parameters.
      const bool has_parameters = is_parametric && (dimension < 3 || version_ == Version::msh_4_1);
      const int parameters = has_parameters ? std::min(dimension, 3) : 0;
      const long long size = read_size("nodes", 4);
      check_block(nodes_.size(), size, count, "nodes");
      const auto first = static_cast<long long>(nodes_.size());
      const auto read_number = [&] {
        const long long number = read_tag();
        add_node(number, scan_.word_offset());
      };
      for (long long i = 0; version_ == Version::msh_4_1 && i < size; ++i) {
        scan_.begin_record("node", first + i + 1, count);
        read_number();
      }
      for (long long i = 0; i < size; ++i) {
        scan_.begin_record("node", first + i + 1, count);
        if (version_ == Version::msh_4_0) read_number();
        mesh_.position.push_back(read_point());
        for (int k = 0; k < parameters; ++k) numbers_.real();
      }
    }
    check_total(nodes_.size(), count, "nodes");
  }

  /// The number of a node or an element of format 4.
  long long read_tag() {
    return version_ == Version::msh_4_0 ? numbers_.integer() : numbers_.size();
  }

  void check_block(std::size_t before, long long size, long long count, const char* what) {
    if (size <= count - static_cast<long long>(before)) return;
    scan_.fail(malformed, std::string("more ") + what + " than the " + std::to_string(count) +
                              " that the section promises");
  }

  void check_total(std::size_t total, long long count, const char* what) {
    scan_.end_records();
    if (static_cast<long long>(total) == count) return;
    scan_.fail(malformed, std::string(what) + ": the section holds " + std::to_string(total) +
                              " and promises " + std::to_string(count));
  }

  // Format 4: the groups of entities; of several, the first counts. Groups of entities with
  // reversed orientation are negative. Points have a box like the others in 4.0, a position in 4.1.
  void read_entities() {
    numbers_.begin_data();
    std::array<long long, 4> count;
    for (long long& entities : count) entities = read_size("entities", 4);
    static constexpr const char* name[] = {"point", "curve", "surface", "volume"};
    for (int dimension = 0; dimension < 4; ++dimension) {
      const auto d = static_cast<std::size_t>(dimension);
      for (long long i = 0; i < count[d]; ++i) {
        scan_.begin_record(name[d], i + 1, count[d]);
        const int entity = numbers_.integer();
        const bool is_position = dimension == 0 && version_ == Version::msh_4_1;
        for (int k = 0; k < (is_position ? 3 : 6); ++k) numbers_.real();
        const long long groups = read_size("groups", 1);
        for (long long k = 0; k < groups; ++k) {
          const long long group = numbers_.integer();
          constexpr long long most = std::numeric_limits<int>::max();
          if (k == 0) group_of_[d][entity] = static_cast<int>(std::min(std::abs(group), most));
        }
        const long long bounds = dimension == 0 ? 0 : read_size("bounding entities", 1);
        for (long long k = 0; k < bounds; ++k) numbers_.integer();
      }
    }
  }

  // Format 2: number, type, tags, the first of which is the group, then nodes. In binary files the
  // type and the number of tags precede the elements that share them. Format 1 has two tags,
  // followed by the number of nodes.
  void read_elements() {
    const long long count = scan_.count("elements", 4 * min_number);
    numbers_.begin_data();
    for (long long i = 0; i < count;) {
      scan_.begin_record("element", i + 1, count);
      if constexpr (Numbers::is_binary) {
        const int type = numbers_.integer();
        const long long size = numbers_.integer();
        const int tags = numbers_.integer();
        if (size < 1 || size > count - i) {
          scan_.fail(malformed, "a block of " + std::to_string(size) + " elements");
        }
        for (const long long end = i + size; i < end; ++i) {
          scan_.begin_record("element", i + 1, count);
          const long long number = numbers_.integer();
          read_tagged_element(number, type, tags);
        }
      } else {
        const long long number = numbers_.integer();
        const int type = numbers_.integer();
        const int tags = version_ == Version::msh_1 ? 2 : numbers_.integer();
        read_tagged_element(number, type, tags);
        ++i;
      }
    }
  }

  void read_tagged_element(long long number, int type, int tags) {
    const GmshElement element = known_element(number, type);
    if (tags < 0) scan_.fail(malformed, std::to_string(tags) + " is not a valid number of tags");
    int group = 0;
    for (int k = 0; k < tags; ++k) {
      const int tag = numbers_.integer();
      if (k == 0) group = tag;
    }
    if (version_ == Version::msh_1) check_nodes(element, numbers_.integer());
    read_corners(number, element, group, [&]() -> long long { return numbers_.integer(); });
  }

  void check_nodes(const GmshElement& element, int nodes) const {
    if (nodes == element.nodes) return;
    scan_.fail(malformed, std::to_string(nodes) + " nodes where " + std::to_string(element.nodes) +
                              " are needed");
  }

  // Format 4: blocks of the elements of one type on one entity, which has their group.
  void read_element_blocks() {
    const auto [blocks, count] = read_block_counts("elements", 2);
    long long total = 0;
    for (long long block = 0; block < blocks; ++block) {
      scan_.begin_record("block", block + 1, blocks);
      const auto [dimension, entity] = read_block_entity();
      const int type = numbers_.integer();
      const std::size_t type_offset = scan_.word_offset();
      const long long size = read_size("elements", 2);
      check_block(static_cast<std::size_t>(total), size, count, "elements");
      if (size == 0) continue;
      if (!gmsh_element(type)) fail_type(type_offset, "an element", type);
      const int group = group_of(dimension, entity);
      for (long long i = 0; i < size; ++i, ++total) {
        scan_.begin_record("element", total + 1, count);
        const long long number = read_tag();
        read_corners(number, *gmsh_element(type), group, [&] { return read_tag(); });
      }
    }
    check_total(static_cast<std::size_t>(total), count, "elements");
  }

  int group_of(int dimension, int entity) const {
    if (dimension < 0 || dimension > 3) return 0;
    const auto& groups = group_of_[static_cast<std::size_t>(dimension)];
    const auto found = groups.find(entity);
    return found == groups.end() ? 0 : found->second;
  }

  [[noreturn]] void fail_type(std::size_t offset, const std::string& which, int type) const {
    scan_.fail_at(offset, malformed,
                  which + " is " + gmsh_element_name(type) +
                      "; only linear tetrahedra and triangles are read");
  }

  GmshElement known_element(long long number, int type) const {
    const auto element = gmsh_element(type);
    if (!element) fail_type(scan_.word_offset(), "element " + std::to_string(number), type);
    return *element;
  }

  template <class ReadNode>
  void read_corners(long long number, const GmshElement& element, int group,
                    const ReadNode& read_node) {
    if (element.use == GmshUse::skipped) {
      for (int k = 0; k < element.nodes; ++k) read_node();
      return;
    }
    std::array<Index, 4> corner{};
    for (int k = 0; k < element.nodes; ++k) {
      const long long node = read_node();
      const Index index = nodes_.find(node);
      if (index < 0) {
        scan_.fail_at(scan_.word_offset(), ErrorKind::out_of_range,
                      "element " + std::to_string(number) + " refers to node " +
                          std::to_string(node) + ", which does not exist");
      }
      corner[static_cast<std::size_t>(k)] = index;
    }
    if (element.use == GmshUse::tetrahedron) {
      add_element(corner, group, mesh_.tetrahedron, mesh_.region);
    } else {
      add_element<3>({corner[0], corner[1], corner[2]}, group, mesh_.triangle, mesh_.surface);
    }
  }

  /// In formats 1 and 2 an element of several groups is repeated for each: the first one counts.
  template <std::size_t corners>
  void add_element(const std::array<Index, corners>& corner, int group,
                   std::vector<std::array<Index, corners>>& elements, std::vector<int>& groups) {
    if (version_ < Version::msh_4_0 && !elements.empty() && elements.back() == corner) return;
    elements.push_back(corner);
    groups.push_back(group);
  }

  TextScanner& scan_;
  Numbers numbers_;
  Version version_;
  SolidMesh mesh_;
  NodeNumbers nodes_;
  bool has_nodes_ = false;
  bool has_elements_ = false;
  std::array<std::unordered_map<int, int>, 4> group_of_;  // by dimension and entity
};

}  // namespace

SolidMesh read_gmsh(const NamedBytes& file) {
  TextScanner scan(file.path, file.bytes);
  const GmshFormat format = read_gmsh_format(scan);
  if (format.is_binary) {
    return GmshReader(scan, GmshBinaryNumbers(scan, format.is_swapped), format.version).read();
  }
  return GmshReader(scan, GmshTextNumbers(scan), format.version).read();
}

}  // namespace heddle::mesh
