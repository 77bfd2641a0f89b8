//===- EventDecoder.cpp - Batches of cache events -------------------------===//

#include "EventDecoder.h"

#include <msgpack.hpp>

#include <span>

using namespace kv;

namespace {

using Object = msgpack::object;

/// The fields of an event as an array, after its type.
constexpr std::string_view StoredFields[] = {"block_hashes",
                                             "parent_block_hash",
                                             "token_ids",
                                             "block_size",
                                             "lora_id",
                                             "medium",
                                             "lora_name",
                                             "extra_keys",
                                             "group_idx",
                                             "kv_cache_spec_kind",
                                             "kv_cache_spec_sliding_window",
                                             "locality"};
constexpr std::string_view RemovedFields[] = {"block_hashes", "medium",
                                              "group_idx", "locality"};

/// A field of an event in either encoding; null: it has none.
const Object *fieldOf(const Object &event, std::string_view name,
                      std::span<const std::string_view> names) {
  if (event.type == msgpack::type::MAP) {
    for (uint32_t i = 0; i < event.via.map.size; ++i)
      if (const auto &[key, value] = event.via.map.ptr[i];
          key.type == msgpack::type::STR &&
          std::string_view(key.via.str.ptr, key.via.str.size) == name)
        return &value;
    return nullptr;
  }
  size_t at =
      static_cast<size_t>(std::ranges::find(names, name) - names.begin()) + 1;
  return at <= names.size() && at < event.via.array.size
             ? &event.via.array.ptr[at]
             : nullptr;
}

std::string typeOf(const Object &event) {
  const Object *type =
      event.type == msgpack::type::MAP ? fieldOf(event, "type", {})
      : event.type == msgpack::type::ARRAY && event.via.array.size > 0
          ? event.via.array.ptr
          : nullptr;
  return type ? type->as<std::string>() : std::string();
}

/// As vLLM's readers take it: what is neither host memory nor a storage is a
/// device's.
Tier tierOf(const Object *medium, const Object *locality) {
  auto is = [](const Object *field, std::string_view text) {
    return field && field->type == msgpack::type::STR &&
           std::string_view(field->via.str.ptr, field->via.str.size) == text;
  };
  if (is(medium, "CPU"))
    return Tier::Host;
  if (is(medium, "STORAGE"))
    return is(locality, "REMOTE") ? Tier::Store : Tier::Disk;
  return Tier::Device;
}

std::vector<RoutedEvent> eventsOf(const Object &batch) {
  std::vector<RoutedEvent> events;
  if (batch.type != msgpack::type::ARRAY || batch.via.array.size < 2)
    throw msgpack::type_error();
  for (const Object &event : batch.via.array.ptr[1].as<std::vector<Object>>()) {
    std::string type = typeOf(event);
    if (type == "AllBlocksCleared") {
      events.emplace_back();
      continue;
    }
    bool isStored = type == "BlockStored";
    if (!isStored && type != "BlockRemoved")
      continue; // of a later version
    std::span<const std::string_view> names =
        isStored ? std::span<const std::string_view>(StoredFields)
                 : std::span<const std::string_view>(RemovedFields);
    const Object *group = fieldOf(event, "group_idx", names);
    const Object *spec = fieldOf(event, "kv_cache_spec_kind", names);
    const Object *blocks = fieldOf(event, "block_hashes", names);
    if (!blocks)
      throw msgpack::type_error();
    events.push_back(
        {isStored ? RoutedEvent::Stored : RoutedEvent::Removed,
         blocks->as<std::vector<uint64_t>>(),
         group && !group->is_nil() ? group->as<int64_t>() : 0,
         spec && !spec->is_nil() && spec->as<std::string>() == "mamba",
         tierOf(fieldOf(event, "medium", names),
                fieldOf(event, "locality", names))});
  }
  return events;
}

/// The result of read(object) for a payload.
template <class Read>
auto decode(std::string_view payload, Read &&read)
    -> Expected<decltype(read(Object()))> {
  try {
    msgpack::object_handle handle =
        msgpack::unpack(payload.data(), payload.size());
    return read(handle.get());
  } catch (const std::exception &error) {
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "cache events: ", payload.size(),
                     " bytes are no batch: ", error.what());
  }
}

} // namespace

Expected<std::vector<RoutedEvent>> kv::decodeEvents(std::string_view payload) {
  return decode(payload, [](const Object &batch) { return eventsOf(batch); });
}

Expected<PublisherStatus> kv::decodeStatus(std::string_view payload) {
  return decode(payload, [](const Object &status) {
    const Object *incarnation = fieldOf(status, "incarnation", {});
    const Object *sequence = fieldOf(status, "sequence", {});
    if (status.type != msgpack::type::MAP || !incarnation || !sequence)
      throw msgpack::type_error();
    return PublisherStatus{incarnation->as<uint64_t>(),
                           sequence->as<int64_t>()};
  });
}
