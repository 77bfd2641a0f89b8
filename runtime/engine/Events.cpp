//===- Events.cpp - Tells a sink what the prefix index holds --------------===//

#include "CacheEngineImpl.h"

using namespace kv;

namespace {

std::span<const std::byte> fieldsOf(std::span<const std::byte> scope) {
  return scope.subspan(ScopeBytes::ScopeHeader);
}

} // namespace

/// The pages [page, end), now committed, of an engine with one full group,
/// without images: the ids of pages are those of their nodes.
void CacheEngineImpl::announceRun(const SequenceState &state,
                                  const Prompt &prompt, int32_t page,
                                  int32_t end) const {
  StoredPages run = {
      .nodes = {state.rows + page, static_cast<size_t>(end - page)},
      .tokens = {pageTokens(prompt, page),
                 static_cast<size_t>(end - page) * options.pageSize},
      .groups = 1};
  if (page == 0)
    run.scope = fieldsOf(scopes.bytes(state.scope));
  else
    run.parent = state.rows[page - 1];
  options.events->stored(run);
}

/// A node that is new, or that has a page in the groups `restored` again.
void CacheEngineImpl::announce(uint32_t node, uint32_t restored) const {
  int32_t id = static_cast<int32_t>(node);
  if (restored != 0)
    return options.events->restored(id, restored);
  NodeRef parent = nodes.parent(node);
  StoredPages one = {.nodes = {&id, 1}, .tokens = nodes.tokens(node)};
  for (int32_t group = 0; group < options.groups.size(); ++group)
    one.groups |= uint32_t(nodes.page(node, group) != NullPage) << group;
  if (states.at(node) != NullState)
    one.groups |= stateGroup();
  if (parent.isRoot())
    one.scope = fieldsOf(scopes.bytes(parent.scope()));
  else
    one.parent = static_cast<int32_t>(parent.id);
  if (uint32_t images = nodes.images(node); images != PrefixIndex::NoImages)
    one.images = scopes.bytes(images);
  options.events->stored(one);
}

/// Without images, an engine with one full group tells of all its new pages at
/// once. Among them can be pages of a twin, which the sink knows.
Expected<void> CacheEngineImpl::commitAndTell(SequenceState &state,
                                              const Prompt &prompt,
                                              int64_t processed) {
  int32_t before = state.committed;
  Expected<void> done = commitMore(state, prompt, processed);
  if (isPlain && prompt.images.empty() && state.committed > before)
    announceRun(state, prompt, before, state.committed);
  return done;
}

bool CacheEngineImpl::isFindable(uint32_t node) const {
  NodeRef parent = nodes.parent(node);
  while (nodes.isLive(parent) && !parent.isRoot())
    parent = nodes.parent(parent.id);
  return nodes.isLive(parent) && isCurrent(parent);
}

bool CacheEngineImpl::isCurrent(NodeRef root) const {
  return ScopeBytes::epochOf(scopes.bytes(root.scope())) == epoch;
}

/// Allocates, and costs O(nodes): a sink asks for it only after a loss.
void CacheEngineImpl::announceAll() const {
  enum Found : uint8_t { Unknown, Told, Lost };
  std::vector<Found> found(nodes.numIds());
  std::vector<uint32_t> path;
  options.events->beginAll();
  for (uint32_t id = nodes.firstId(); id < nodes.numIds(); ++id) {
    if (!nodes.isUsed(id))
      continue;
    // Up to a node of which this is known, and down again.
    NodeRef at = nodes.ref(id);
    while (!at.isRoot() && nodes.isLive(at) && found[at.id] == Unknown) {
      path.push_back(at.id);
      at = nodes.parent(at.id);
    }
    Found known = Lost;
    if (nodes.isLive(at))
      known = at.isRoot() ? isCurrent(at) ? Told : Lost : found[at.id];
    for (; !path.empty(); path.pop_back())
      if ((found[path.back()] = known) == Told)
        announce(path.back(), 0);
  }
  options.events->endAll();
}
