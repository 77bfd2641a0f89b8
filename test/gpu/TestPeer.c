/*===- TestPeer.c - A peer that does nothing, of one row only -------------===*/

#include "Peer.h"

__attribute__((visibility("default"))) int
kvPeerAttention(const KvPeerAttention *problem, void *stream) {
  return !stream || problem->added != 1;
}
