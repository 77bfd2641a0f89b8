//===- Backend.h - Where the kernels under test run -------------*- C++ -*-===//
//
// The same tests run the bodies on a CPU (EmulatorBackend) and the images on a
// GPU (test/gpu): a program links one makeBackend.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_KERNELS_BACKEND_H
#define KV_TEST_KERNELS_BACKEND_H

#include "kernels/emulator/Machine.h"

#include <memory>
#include <string_view>

namespace kv::cuda::test {

class Backend {
public:
  virtual ~Backend() = default;

  /// Memory of the device that begins as a copy of `data`. It lives as long as
  /// the backend.
  virtual void *give(const void *data, size_t bytes, Access access) = 0;
  /// The same for reading, where only [from, from + used) of `data` is touched;
  /// the rest is 0xff, or what `data` holds.
  virtual void *givePool(const void *data, size_t bytes, size_t from,
                         size_t used) = 0;
  /// A tensor in memory of the device, as its kernels take it.
  virtual TensorMap encode(const TensorDescription &tensor) = 0;
  /// What lies at `given` now.
  virtual void take(void *data, const void *given, size_t bytes) = 0;
  /// Runs a kernel of KernelTable.h or InstructionKernels.def to its end. Each
  /// of the blocks is a cluster of so many where the chip's form clusters.
  virtual void launch(std::string_view name, int blocks, const void *params,
                      int cluster = 1) = 0;
  /// What went wrong so far.
  virtual std::vector<std::string> reports() = 0;
};

/// Whether the device has code of a kernel, and its blocks may have as much
/// shared memory as that asks for. Cases of a kernel that cannot run are left
/// out; tests say so.
bool canRun(std::string_view kernel);
constexpr const char *OtherChips = "other chips have such kernels";

/// The options say how the emulator orders things; a GPU does as it likes.
std::unique_ptr<Backend> makeBackend(const MachineOptions &options = {});

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_BACKEND_H
