// The arithmetic of nodes and references.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "heddle/detail/trees/tree.hpp"
#include "support/expect_error.hpp"

namespace tree_node {
namespace {

using namespace heddle;

TEST(TreeNode, ReferencesReachBeyondFourGigabytes) {
  for (const Offset byte : {Offset(0), Offset(16), (Offset(1) << 32) - 16, Offset(1) << 32,
                            (Offset(1) << 32) + 48, NodeReference::max_bytes - 16}) {
    for (const int pool : {0, 1, 64, NodeReference::max_pools - 1}) {
      for (int kind = 0; kind < node_kinds; ++kind) {
        const auto reference = NodeReference::make(static_cast<NodeKind>(kind), pool, byte);
        EXPECT_EQ(reference.byte(), byte);
        EXPECT_EQ(reference.pool(), pool);
        EXPECT_EQ(static_cast<int>(reference.kind()), kind);
      }
    }
  }
  // A full node of the largest entries has more than 2^24 bytes, and 300 of them more than 2^32.
  const NodeShape shape{8, 36 * 8};
  EXPECT_GT(shape.bytes(shape.positions()) * 300, Offset(1) << 32);
}

TEST(TreeNode, KindsFollowFromTheCount) {
  for (int log2_size = 2; log2_size <= 8; ++log2_size) {
    for (const int payload : {4, 8, 16, 32, 72, 288}) {
      const NodeShape shape{log2_size, payload};
      EXPECT_EQ(shape.kind_of(1), NodeKind::coo1);
      EXPECT_EQ(shape.kind_of(2), NodeKind::coo2);
      EXPECT_EQ(shape.kind_of(3), shape.bytes(NodeKind::dense, 3) < shape.bytes(NodeKind::coo4, 3)
                                      ? NodeKind::dense
                                      : NodeKind::coo4);
      EXPECT_EQ(shape.kind_of(shape.positions()), NodeKind::dense);
      for (Offset count = 1; count <= shape.positions(); count += std::max<Offset>(1, count / 7)) {
        const NodeKind kind = shape.kind_of(count);
        const Offset payload_byte = shape.payload_byte(kind, count);
        EXPECT_EQ(payload_byte % (count <= 2 ? 8 : 16), 0);
        EXPECT_GE(payload_byte, NodeShape::places_byte(kind) +
                                    (kind == NodeKind::dense ? shape.positions() / 8 : 2 * count));
        EXPECT_EQ(shape.bytes(count) % 16, 0);
        EXPECT_GE(shape.bytes(count), payload_byte + count * payload);
      }
    }
  }
}

TEST(TreeNode, LeavesAreDenseFromAShareOfTheirPlaces) {
  const NodeShape half = detail::leaf_shape({16, 50}, 8);
  EXPECT_EQ(half.dense_from, 128);
  EXPECT_EQ(half.kind_of(127), NodeKind::coo4);
  EXPECT_EQ(half.kind_of(128), NodeKind::dense);
  const NodeShape never = detail::leaf_shape({16, NodeLayout::never}, 8);
  EXPECT_EQ(never.kind_of(never.positions()), NodeKind::coo4);
  // One entry and two entries have kinds of their own.
  const NodeShape least = detail::leaf_shape({4, 1}, 8);
  EXPECT_EQ(least.kind_of(2), NodeKind::coo2);
  EXPECT_EQ(least.kind_of(3), NodeKind::dense);
  EXPECT_EQ(detail::leaf_shape({128, 100}, 8).dense_from, 16384);
  EXPECT_EQ(to_string(NodeLayout(128)), "node=128");
  EXPECT_EQ(to_string(NodeLayout(64, 50)), "node=64,dense=50");
  EXPECT_EQ(to_string(NodeLayout(4, NodeLayout::never)), "node=4,dense=never");
  for (const int dense : {-1, 102}) {
    test::expect_error(ErrorKind::usage,
                       "leaves of hierarchical storage are dense from 1 to 100 percent of their "
                       "places, not " +
                           std::to_string(dense),
                       [&] { static_cast<void>(detail::leaf_shape({128, dense}, 8)); });
  }
}

TEST(TreeNode, SmallNodesByHand) {
  // A number takes its count, 2 bytes of coordinates and 2 of padding; three numbers take 24 bytes
  // more.
  EXPECT_EQ((NodeShape{7, 8}.bytes(1)), 16);
  EXPECT_EQ((NodeShape{7, 4}.bytes(2)), 16);
  EXPECT_EQ((NodeShape{7, 8}.bytes(3)), 48);
  // 128 x 128 doubles, a bit for each, and the count.
  EXPECT_EQ((NodeShape{7, 8}.bytes(NodeKind::dense, 16384)), 16 + 2048 + 131072);
}

TEST(TreeNode, FindsWhatItHolds) {
  for (const int step : {1, 2, 5, 37}) {
    const NodeShape shape{4, 8};
    const Offset count = (shape.positions() + step - 1) / step;
    std::vector<std::byte> memory(static_cast<std::size_t>(shape.bytes(count)));
    detail::NodeWriter writer(memory.data(), shape, count);
    for (int position = 0; position < shape.positions(); position += step) {
      const double value = position;
      std::memcpy(writer.next(shape.place_at(position)), &value, sizeof value);
    }
    const NodeView node{reinterpret_cast<const unsigned char*>(memory.data()), shape.kind_of(count),
                        shape};
    EXPECT_EQ(node.count(), count);
    int seen = 0;
    node.for_each([&](LocalPlace place, int payload) {
      EXPECT_EQ(shape.position_of(place), seen);
      EXPECT_EQ(reinterpret_cast<const double*>(node.payloads())[payload], seen);
      seen += step;
    });
    EXPECT_GE(seen, shape.positions());
    for (int position = 0; position < shape.positions(); ++position) {
      const int found = node.find(shape.place_at(position));
      ASSERT_EQ(found >= 0, position % step == 0);
      if (found >= 0) {
        EXPECT_EQ(reinterpret_cast<const double*>(node.payloads())[found], position);
      }
    }
  }
}

TEST(TreeNode, LevelsFollowFromTheSize) {
  EXPECT_EQ(detail::levels_of(0, 0, 7), 1);
  EXPECT_EQ(detail::levels_of(128, 1, 7), 1);
  EXPECT_EQ(detail::levels_of(1, 129, 7), 2);
  EXPECT_EQ(detail::levels_of(16384, 16384, 7), 2);
  EXPECT_EQ(detail::levels_of(16385, 4, 7), 3);
  EXPECT_EQ(detail::levels_of(2147483647, 2147483647, 2), 16);
  EXPECT_EQ(detail::levels_of(2147483647, 1, 8), 4);
}

}  // namespace
}  // namespace tree_node
