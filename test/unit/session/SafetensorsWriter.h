//===- SafetensorsWriter.h - Small weights files for tests ------*- C++ -*-===//

#ifndef KV_TEST_UNIT_SESSION_SAFETENSORSWRITER_H
#define KV_TEST_UNIT_SESSION_SAFETENSORSWRITER_H

#include <cstdint>
#include <string>
#include <vector>

namespace kv::test {

class SafetensorsWriter {
public:
  SafetensorsWriter &add(const std::string &name, const std::string &dtype,
                         const std::vector<int64_t> &shape,
                         const std::string &contents) {
    std::string sizes;
    for (int64_t size : shape)
      sizes.append(sizes.empty() ? "" : ",").append(std::to_string(size));
    tensors += ",\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":[" +
               sizes + "],\"data_offsets\":[" + std::to_string(data.size()) +
               "," + std::to_string(data.size() + contents.size()) + "]}";
    data += contents;
    return *this;
  }

  SafetensorsWriter &add(const std::string &name,
                         const std::vector<int64_t> &shape,
                         const std::vector<float> &values) {
    return add(name, "F32", shape,
               std::string(reinterpret_cast<const char *>(values.data()),
                           values.size() * sizeof(float)));
  }

  SafetensorsWriter &metadata(const std::string &key,
                              const std::string &value) {
    pairs += pairs.empty() ? "\"" : ",\"";
    pairs += key;
    pairs += "\":\"";
    pairs += value;
    pairs += "\"";
    return *this;
  }

  /// `slack` spaces end the header, as its writers align the data.
  std::string bytes(size_t slack = 0) const {
    std::string header = "{\"__metadata__\":{" + pairs + "}" + tensors + "}" +
                         std::string(slack, ' ');
    uint64_t length = header.size();
    return std::string(reinterpret_cast<const char *>(&length), 8) + header +
           data;
  }

private:
  std::string tensors, pairs, data;
};

} // namespace kv::test

#endif // KV_TEST_UNIT_SESSION_SAFETENSORSWRITER_H
