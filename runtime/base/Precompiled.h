//===- Precompiled.h - The standard headers of most files -----*- C++ -*-===//
//
// Parsed once for kernels/, runtime/ and kv-run, and with GoogleTest's for the
// tests. None of our own: who changes one would wait for every file.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_BASE_PRECOMPILED_H
#define KV_RUNTIME_BASE_PRECOMPILED_H

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#endif // KV_RUNTIME_BASE_PRECOMPILED_H
