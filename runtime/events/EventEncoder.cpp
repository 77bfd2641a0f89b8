//===- EventEncoder.cpp - Events as vLLM's readers know them --------------===//

#include "EventEncoder.h"

#include <msgpack.hpp>

using namespace kv;

namespace {

using Packer = msgpack::packer<msgpack::sbuffer>;

/// Packs one event, in either form: an array ends with the last field that is
/// not nil, but has those that readers require; a map leaves out the others.
class EventFields {
public:
  EventFields(Packer &packer, EventPublisher::Encoding encoding,
              std::string_view type)
      : packer(packer), isMap(encoding == EventPublisher::Encoding::Map),
        type(type) {}

  template <class Pack>
  void add(std::string_view name, bool required, bool present, Pack &&pack) {
    fields.push_back({name, required, present, std::forward<Pack>(pack)});
  }

  void pack() {
    size_t kept = 0;
    for (size_t i = 0; i < fields.size(); ++i)
      if (fields[i].required || fields[i].present)
        kept = isMap ? kept + 1 : i + 1;
    isMap ? packer.pack_map(kept + 1) : packer.pack_array(kept + 1);
    if (isMap)
      packer.pack("type");
    packer.pack(type);
    for (size_t i = 0; i < fields.size(); ++i) {
      const Field &field = fields[i];
      if (isMap ? !field.required && !field.present : i >= kept)
        continue;
      if (isMap)
        packer.pack(field.name);
      field.present ? field.pack() : void(packer.pack_nil());
    }
  }

private:
  struct Field {
    std::string_view name;
    bool required, present;
    std::function<void()> pack;
  };
  Packer &packer;
  bool isMap;
  std::string_view type;
  std::vector<Field> fields;
};

/// The keys that tell blocks of equal tokens apart, for readers that hash
/// tokens themselves: one entry per block, nil if there are none. A prefix's
/// first block has the salt, as in vLLM, and then the model, if the scope names
/// one.
std::vector<std::string> extraKeysOfFirst(const CacheEvent &event) {
  std::vector<std::string> keys = event.images;
  if (event.parent || !event.scope)
    return keys;
  for (const std::optional<std::string> &field :
       {event.scope->salt, event.scope->model})
    if (field)
      keys.push_back(*field);
  return keys;
}

void packEvent(Packer &packer, const CacheEvent &event,
               const EventPublisher::Options &options) {
  if (event.kind == CacheEvent::Cleared)
    return EventFields(packer, options.encoding, "AllBlocksCleared").pack();
  bool stored = event.kind == CacheEvent::Stored;
  EventFields fields(packer, options.encoding,
                     stored ? "BlockStored" : "BlockRemoved");
  fields.add("block_hashes", true, true, [&] { packer.pack(event.blocks); });
  bool isBeside = event.tier != Tier::Device;
  // A record is of all groups.
  bool hasGroups = !isBeside && options.groups.size() + options.recurrent > 1;
  bool isState = event.group == options.groups.size();
  auto packMedium = [&] {
    packer.pack(!isBeside                  ? options.medium
                : event.tier == Tier::Host ? "CPU"
                                           : "STORAGE");
  };
  auto packLocality = [&] {
    packer.pack(event.tier == Tier::Store ? "REMOTE" : "LOCAL");
  };
  auto packGroup = [&] { packer.pack(event.group); };
  if (!stored) {
    fields.add("medium", true, true, packMedium);
    fields.add("group_idx", false, hasGroups, packGroup);
    fields.add("locality", false, isBeside, packLocality);
    return fields.pack();
  }
  CacheGroup group = isState ? CacheGroup() : options.groups[event.group];
  std::vector<std::string> extra = extraKeysOfFirst(event);
  fields.add("parent_block_hash", true, event.parent.has_value(),
             [&] { packer.pack(*event.parent); });
  fields.add("token_ids", true, true, [&] { packer.pack(event.tokens); });
  fields.add("block_size", true, true,
             [&] { packer.pack(isBeside ? 0 : options.pageSize); });
  fields.add("lora_id", true, false, [] {});
  fields.add("medium", true, true, packMedium);
  fields.add("lora_name", true, event.scope && event.scope->adapter,
             [&] { packer.pack(*event.scope->adapter); });
  fields.add("extra_keys", false, !extra.empty(), [&] {
    packer.pack_array(static_cast<uint32_t>(event.blocks.size()));
    packer.pack(extra);
    for (size_t i = 1; i < event.blocks.size(); ++i)
      packer.pack_nil();
  });
  fields.add("group_idx", false, hasGroups, packGroup);
  fields.add("kv_cache_spec_kind", false, hasGroups, [&] {
    packer.pack(isState          ? "mamba"
                : group.isFull() ? "full_attention"
                                 : "sliding_window");
  });
  fields.add("kv_cache_spec_sliding_window", false,
             hasGroups && !group.isFull(), [&] { packer.pack(group.window); });
  fields.add("locality", false, isBeside, packLocality);
  fields.pack();
}

} // namespace

std::string EventEncoder::encode(double seconds,
                                 std::span<const CacheEvent> events) const {
  msgpack::sbuffer buffer;
  Packer packer(buffer);
  packer.pack_array(3);
  packer.pack(seconds);
  packer.pack_array(static_cast<uint32_t>(events.size()));
  for (const CacheEvent &event : events)
    packEvent(packer, event, options);
  packer.pack(options.rank);
  return {buffer.data(), buffer.size()};
}

std::string kv::sequenceFrame(int64_t sequence) {
  std::string frame(8, '\0');
  for (int byte = 0; byte < 8; ++byte)
    frame[byte] = static_cast<char>(uint64_t(sequence) >> (56 - 8 * byte));
  return frame;
}
