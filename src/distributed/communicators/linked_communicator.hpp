// Ranks of another communicator, whose GPUs exchange in a way of their own.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "heddle/transfer.hpp"

namespace heddle::detail {

class LinkedCommunicator : public Communicator {
 public:
  LinkedCommunicator(Communicator& ranks, Transfer transfer) : ranks_(ranks), transfer_(transfer) {}

  Transfer transfer() const { return transfer_; }

  int rank() const override { return ranks_.rank(); }
  int size() const override { return ranks_.size(); }
  std::string_view name() const override { return ranks_.name(); }
  bool is_one_process() const override { return ranks_.is_one_process(); }
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                  std::span<const int> sizes) override {
    call([&] { ranks_.all_gather(mine, all, sizes); });
  }
  void begin_exchange(std::span<const Message<const std::byte>> sends,
                      std::span<const Message<std::byte>> receives) override {
    call([&] { ranks_.begin_exchange(sends, receives); });
  }
  void end_exchange() override {
    call([&] { ranks_.end_exchange(); });
  }
  void fail(ErrorKind kind, const std::string& why) noexcept override {
    ranks_.fail(kind, why);
    give_up();
  }
  /// Called once a rank has failed.
  virtual void give_up() noexcept {}

 private:
  template <class Call>
  void call(const Call& call) {
    try {
      call();
    } catch (...) {
      give_up();
      throw;
    }
  }

  Communicator& ranks_;
  Transfer transfer_;
};

}  // namespace heddle::detail

namespace heddle::cuda {

/// Collective; see `with_transfer`. Defined in builds with CUDA.
std::unique_ptr<Communicator> make_nccl_communicator(Communicator& ranks, const Device& device);

}  // namespace heddle::cuda
