// Helpers shared by tests on a GPU.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "heddle/config.hpp"
#include "heddle/device.hpp"
#include "heddle/field.hpp"
#include "heddle/vector_operations.hpp"
#include "support/on_gpu.hpp"

// Declarations of CUDA's run-time library, whose headers the tests do not have.
struct CUgraph_st;
struct CUgraphExec_st;
struct CUgraphNode_st;
extern "C" int cudaStreamCreateWithFlags(CUstream_st** stream, unsigned flags);
extern "C" int cudaStreamDestroy(CUstream_st* stream);
extern "C" int cudaStreamBeginCapture(CUstream_st* stream, int mode);
extern "C" int cudaStreamEndCapture(CUstream_st* stream, CUgraph_st** graph);
extern "C" int cudaGraphGetNodes(CUgraph_st* graph, CUgraphNode_st** nodes, std::size_t* count);
extern "C" int cudaGraphNodeGetType(CUgraphNode_st* node, int* type);
extern "C" int cudaGraphInstantiate(CUgraphExec_st** executable, CUgraph_st* graph,
                                    unsigned long long flags);
extern "C" int cudaGraphLaunch(CUgraphExec_st* executable, CUstream_st* stream);
extern "C" int cudaGraphExecDestroy(CUgraphExec_st* executable);
extern "C" int cudaGraphDestroy(CUgraph_st* graph);

namespace heddle::test {

/// A stream, created as in a program that uses heddle.
class OwnStream {
 public:
  OwnStream() {
    if constexpr (has_cuda) {
      constexpr unsigned non_blocking = 1;
      EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, non_blocking), 0);
    }
  }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  ~OwnStream() {
    if constexpr (has_cuda) cudaStreamDestroy(stream_);
  }
  CUstream_st* get() const { return stream_; }

 private:
  CUstream_st* stream_ = nullptr;
};

/// A graph of the work that `queue()` queues on a stream, captured as in a program that uses
/// heddle.
class OwnGraph {
 public:
  template <class Queue>
  OwnGraph(CUstream_st* stream, const Queue& queue) {
    if constexpr (has_cuda) {
      constexpr int global = 0;  // the strictest mode
      EXPECT_EQ(cudaStreamBeginCapture(stream, global), 0);
      queue();
      EXPECT_EQ(cudaStreamEndCapture(stream, &graph_), 0);
      EXPECT_EQ(cudaGraphInstantiate(&executable_, graph_, 0), 0);
    }
  }
  OwnGraph(const OwnGraph&) = delete;
  OwnGraph& operator=(const OwnGraph&) = delete;
  ~OwnGraph() {
    if constexpr (has_cuda) {
      if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
      if (graph_ != nullptr) cudaGraphDestroy(graph_);
    }
  }
  /// The number of queued items: kernels, copies, ...
  std::size_t nodes() const {
    std::size_t count = 0;
    if constexpr (has_cuda) {
      EXPECT_EQ(cudaGraphGetNodes(graph_, nullptr, &count), 0);
    }
    return count;
  }
  /// The number of functions of the host among them, outside of loops.
  std::size_t calls_of_host() const {
    std::size_t calls = 0;
    if constexpr (has_cuda) {
      constexpr int of_host = 3;  // cudaGraphNodeTypeHost
      std::size_t count = nodes();
      std::vector<CUgraphNode_st*> all(count);
      EXPECT_EQ(cudaGraphGetNodes(graph_, all.data(), &count), 0);
      for (CUgraphNode_st* const node : all) {
        int type = 0;
        EXPECT_EQ(cudaGraphNodeGetType(node, &type), 0);
        calls += type == of_host ? 1 : 0;
      }
    }
    return calls;
  }
  void launch(CUstream_st* stream) const {
    ASSERT_NE(executable_, nullptr);
    if constexpr (has_cuda) {
      ASSERT_EQ(cudaGraphLaunch(executable_, stream), 0);
    }
  }

 private:
  CUgraph_st* graph_ = nullptr;
  CUgraphExec_st* executable_ = nullptr;
};

/// A copy of a host field in the memory of a GPU.
template <class E>
Field<E> on_gpu(const Field<E>& field, const Device& device) {
  Field<E> there(field.size(), device);
  copy<vector_scalar_t<E>>(field.view(), there.view(), device.stream());
  device.synchronize();
  return there;
}

}  // namespace heddle::test
