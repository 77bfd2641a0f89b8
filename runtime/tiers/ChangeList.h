//===- ChangeList.h - What events are to tell of tiers ----------*- C++ -*-===//

#ifndef KV_RUNTIME_TIERS_CHANGELIST_H
#define KV_RUNTIME_TIERS_CHANGELIST_H

#include "kv/Runtime/Tiers/PageConnector.h"

#include <functional>

namespace kv {

/// Collects changes until they are taken. If they are not taken, at most `Most`
/// are kept; then all records are told of instead.
class ChangeList {
public:
  using Name = std::function<uint64_t(const PrefixName &)>;
  /// `name` is the hash of a record in events; if it is empty, no changes are
  /// collected.
  explicit ChangeList(Name name = {}) : name(std::move(name)) {}

  void add(Tier tier, const PrefixName &record, bool isStored) {
    if (!name || isLost)
      return;
    if (changes.size() == Most)
      lose();
    else
      changes.push_back({name(record), tier, isStored});
  }
  /// The changes are not known any more.
  void lose() {
    changes.clear();
    isLost = true;
  }
  /// Like PageConnector::takeChanges(). True: the caller adds what is there.
  bool take(bool all, std::vector<TierChange> &to) {
    all |= isLost;
    if (!all)
      to.insert(to.end(), changes.begin(), changes.end());
    changes.clear();
    isLost = false;
    return all;
  }
  TierChange here(Tier tier, const PrefixName &record) const {
    return {name(record), tier, /*isStored=*/true};
  }

private:
  static constexpr size_t Most = size_t(1) << 16;

  Name name;
  std::vector<TierChange> changes;
  bool isLost = true; // an index may have records from the beginning
};

} // namespace kv

#endif // KV_RUNTIME_TIERS_CHANGELIST_H
