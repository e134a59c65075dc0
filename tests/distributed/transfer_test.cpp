// Exchanges between the GPUs of ranks, on a machine without GPUs: refusals and their messages.
#include "heddle/transfer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "distributed/communicators/nccl_library.hpp"
#include "support/expect_error.hpp"

namespace heddle::test::transfer {
namespace {

TEST(Transfers, HaveNames) {
  for (const Transfer transfer : {Transfer::peer, Transfer::nccl, Transfer::staged}) {
    EXPECT_EQ(parse_transfer(name(transfer)), transfer);
  }
  expect_error(ErrorKind::usage, "the transfer is peer, nccl or staged, not mpi",
               [] { parse_transfer("mpi"); });
}

TEST(Transfers, OfThreadsArePeersUnlessNamed) {
  run_on_ranks(2, [](Communicator& ranks) {
    EXPECT_EQ(transfer_of(ranks), Transfer::peer);
    const auto linked = with_transfer(ranks, Transfer::staged, Device::cpu(1));
    EXPECT_EQ(transfer_of(*linked), Transfer::staged);
    EXPECT_EQ(linked->rank(), ranks.rank());
    EXPECT_EQ(gather(*linked, ranks.rank())[1], 1);
  });
}

TEST(Transfers, ByNcclAreForGpus) {
  expect_error(ErrorKind::unsupported, "NCCL needs ranks on GPUs", [] {
    run_on_ranks(2,
                 [](Communicator& ranks) { with_transfer(ranks, Transfer::nccl, Device::cpu(1)); });
  });
}

/// On the CPU this transfer passes nothing but errors.
TEST(Transfers, PassErrorsOn) {
  expect_error(ErrorKind::internal, "of the second rank", [] {
    run_on_ranks(3, [](Communicator& ranks) {
      const auto linked = with_transfer(ranks, Transfer::staged, Device::cpu(1));
      guard(*linked, [&] {
        if (linked->rank() == 1) throw Error(ErrorKind::internal, "of the second rank");
        gather(*linked, 0);
      });
    });
  });
}

/// Ends the process, with status 7 if the library cannot be opened.
[[noreturn]] void open_without_nccl() {
  setenv("HEDDLE_NCCL", "/nonexistent/libnccl.so.2", 1);
  int status = 9;
  try {
    cuda::nccl();
  } catch (const Error& error) {
    std::cerr << error.what();
    status = error.kind() == ErrorKind::no_device ? 7 : 8;
  }
  _exit(status);
}

TEST(Transfers, SayThatNcclIsMissing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(open_without_nccl(), testing::ExitedWithCode(7),
              "HEDDLE_NCCL names no library.*/nonexistent/libnccl.so.2");
}

}  // namespace
}  // namespace heddle::test::transfer
