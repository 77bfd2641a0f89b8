//===- LaunchLog.h - Which kernels a row launches ---------------*- C++ -*-===//
//
// Each is named on standard output before it is launched, as "+ NAME": when a
// row does not end, tools/gpu-verify/gpu-verify knows where it may have
// stopped. Kernels that have hung before are launched by no row.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_GPU_LAUNCHLOG_H
#define KV_TEST_GPU_LAUNCHLOG_H

#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace kv::cuda::test {

/// Thrown instead of a launch of a kernel that has hung before.
struct Refused {};

class LaunchLog {
public:
  void refuse(std::set<std::string> kernels) { without = std::move(kernels); }

  /// A launch of `kernel` follows, or Refused.
  void emplace(std::string_view kernel) {
    std::string name(kernel);
    if (without.contains(name)) {
      refused = name;
      throw Refused{};
    }
    if (!kernels.insert(name).second)
      return;
    std::printf("+ %s\n", name.c_str());
    std::fflush(stdout);
  }

  /// The kernels that were launched since the last call.
  std::set<std::string> take() { return std::exchange(kernels, {}); }
  /// The kernel that was refused since the last call; empty: none was.
  std::string takeRefused() { return std::exchange(refused, {}); }

private:
  std::set<std::string> kernels, without;
  std::string refused;
};

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_LAUNCHLOG_H
