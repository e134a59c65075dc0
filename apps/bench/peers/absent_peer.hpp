// A library that is not installed, or that this heddle was built without.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "peer.hpp"

namespace heddle::bench {

class AbsentPeer final : public Peer {
 public:
  AbsentPeer(std::string name, std::string why) : name_(std::move(name)), why_(std::move(why)) {}

  PeerPresence presence() const override { return {name_, "", why_, false}; }
  std::vector<PeerProduct> products(const Problem&, const Device&) override { return {}; }
  std::vector<PeerSolver> solvers(const Problem&, const MethodInfo&, PreconditionerKind,
                                  const Device&) override {
    return {};
  }

 private:
  std::string name_;
  std::string why_;
};

}  // namespace heddle::bench
