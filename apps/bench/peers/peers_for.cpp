#include "peer.hpp"

namespace heddle::bench {

std::vector<std::unique_ptr<Peer>> peers_for(const Device& device) {
  std::vector<std::unique_ptr<Peer>> peers;
  if (device.on_gpu()) {
    peers.push_back(cusparse_peer());
    peers.push_back(textbook_peer());
  } else {
    peers.push_back(eigen_peer());
    peers.push_back(amgcl_peer());
    peers.push_back(petsc_peer());
  }
  return peers;
}

}  // namespace heddle::bench
