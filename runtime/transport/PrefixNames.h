//===- PrefixNames.h - From the name of a prefix to its tokens --*- C++ -*-===//

#ifndef KV_RUNTIME_TRANSPORT_PREFIXNAMES_H
#define KV_RUNTIME_TRANSPORT_PREFIXNAMES_H

#include "kv/Runtime/Tiers/PageConnector.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <vector>

namespace kv {

struct HashPrefixName {
  size_t operator()(const PrefixName &name) const {
    size_t hash; // the name is a digest already
    std::memcpy(&hash, name.data(), sizeof hash);
    return hash;
  }
};

/// Remembers the tokens of the names that a connector has given, so that a
/// peer, which has other names for other page sizes, can be asked. The table is
/// bounded: names that were not used for long are forgotten.
class PrefixNames {
public:
  explicit PrefixNames(size_t most) : most(most) {}

  void addScope(const PrefixName &name, std::span<const std::byte> bytes) {
    if (scopes.size() >= most)
      scopes.clear();
    scopes[name].assign(reinterpret_cast<const char *>(bytes.data()),
                        bytes.size());
  }
  void addPage(const PrefixName &name, const PrefixName &parent,
               std::span<const int32_t> tokens) {
    makeRoom();
    young.insert_or_assign(name, Page{parent, {tokens.begin(), tokens.end()}});
  }

  struct Prefix {
    PrefixName scope;
    std::string scopeBytes;
    std::vector<PrefixName> names; // of its pages
    std::vector<int32_t> tokens;
  };
  /// Finds the prefix of a name. False: the name has been forgotten, or has
  /// images.
  bool find(const PrefixName &name, const PrefixName &scope, Prefix &prefix) {
    auto known = scopes.find(scope);
    if (known == scopes.end())
      return false;
    prefix = {scope, known->second, {}, {}};
    std::vector<const Page *> pages;
    for (PrefixName at = name; at != scope; at = pages.back()->parent) {
      const Page *page = look(at);
      if (!page)
        return false;
      pages.push_back(page);
      prefix.names.push_back(at);
    }
    std::ranges::reverse(prefix.names);
    for (size_t i = pages.size(); i-- > 0;)
      prefix.tokens.insert(prefix.tokens.end(), pages[i]->tokens.begin(),
                           pages[i]->tokens.end());
    return true;
  }

private:
  struct Page {
    PrefixName parent;
    std::vector<int32_t> tokens;
  };
  using Pages = std::unordered_map<PrefixName, Page, HashPrefixName>;

  /// A page that is looked at moves to `young`; its node stays in place.
  const Page *look(const PrefixName &name) {
    if (auto at = young.find(name); at != young.end())
      return &at->second;
    auto node = old.extract(name);
    if (!node)
      return nullptr;
    return &young.insert(std::move(node)).position->second;
  }
  void makeRoom() {
    if (young.size() < most)
      return;
    old = std::move(young);
    young.clear();
  }

  size_t most;
  std::unordered_map<PrefixName, std::string, HashPrefixName> scopes;
  Pages young, old;
};

} // namespace kv

#endif // KV_RUNTIME_TRANSPORT_PREFIXNAMES_H
