//===- Gpu.h - A GPU and the images in a folder -----------------*- C++ -*-===//
//
// By runtime/cuda/driver/Driver.h. Whatever the driver refuses ends the program
// with a sentence: a GPU that has failed once answers nothing any more, and who
// started the program goes on in another.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_GPU_GPU_H
#define KV_TEST_GPU_GPU_H

#include "LaunchLog.h"
#include "Watchdog.h"
#include "runtime/cuda/launches/TensorMaps.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kv::cuda::test {

/// The program's exit statuses.
enum ExitStatus {
  ExitPassed = 0,
  ExitFailed = 1,
  ExitUsage = 2,
  ExitNoGpu = 3
};

struct GpuFacts {
  std::string name;
  int major = 0, minor = 0; // compute capability
  int driverVersion = 0;    // 13000: 13.0
  int multiprocessors = 0;
  int sharedBytes = 0; // that a block may have
  int64_t l2Bytes = 0, memoryBytes = 0;

  /// The chip that machine code is compiled for which runs here; empty: for
  /// none of those that there are kernels for.
  std::string_view chip() const {
    return major == 8                  ? "sm_80"
           : major == 9 && minor == 0  ? "sm_90a"
           : major == 10 && minor == 0 ? "sm_100a"
           : major == 12               ? "sm_120"
                                       : "";
  }
};

/// Code that is in the folder.
struct Image {
  std::string path;      // empty: there is none that runs here
  std::string_view chip; // "sm_90a", or of PTX "compute_80"

  /// Whose shapes its kernels have (KernelTable.h).
  int sm() const;
};

class Gpu : public GpuFacts {
public:
  /// The first device, with the images under `folder`: <folder>/kv-cuda and
  /// <folder>/kv-verify; with `watchdog`, first those of
  /// <folder>/kv-cuda-watchdog and <folder>/kv-verify-watchdog. Errors: no
  /// driver, no device.
  static Expected<std::unique_ptr<Gpu>> open(std::string folder,
                                             bool watchdog = false);

  void *allocate(size_t bytes);
  void free(void *data);
  void copyIn(void *to, const void *from, size_t bytes);
  void copyOut(void *to, const void *from, size_t bytes);
  void fill(void *data, unsigned char byte, size_t bytes);

  /// What a kernel takes of a tensor.
  TensorMap encode(const TensorDescription &tensor);

  /// What runs here of the image with a kernel: machine code, else PTX.
  const Image &imageOf(std::string_view kernel);
  /// Queues a kernel of KernelTable.h or VerifyKernels.h.
  /// Each of the blocks is a cluster of so many where the chip's form clusters.
  void launch(std::string_view kernel, int blocks, const void *params,
              int cluster = 1);
  /// Queues one that may begin before the kernel before it has ended, where
  /// launchesEarly().
  void launchEarly(std::string_view kernel, int blocks, const void *params,
                   int cluster = 1);
  bool launchesEarly(std::string_view kernel);
  void synchronize();
  /// Blocks of a kernel that an SM runs at once, as the driver says.
  int blocksPerSM(std::string_view kernel);
  /// The names of kernels that are launched.
  LaunchLog &launches() { return launched; }
  /// The stream that everything is queued on.
  driver::Stream stream() const { return queue; }

  /// Milliseconds of each of `repeats` calls of `work`, which queues something,
  /// after some for warming up. Before each so much else is read that nothing
  /// of `work` is left in the L2 cache; were it written, the cache would have
  /// to write it back while `work` runs.
  std::vector<float> time(int repeats, const std::function<void()> &work);
  /// The clock of an SM in MHz, right after what was queued.
  double clock();

private:
  struct Kernel {
    driver::Function function;
    int threads, sharedBytes;
  };
  explicit Gpu(const driver::Driver &api) : api(api), watchdog(api) {}
  void check(int result, const char *call);
  const Kernel &find(std::string_view name);
  driver::Module moduleOf(const Image &image);

  const driver::Driver &api;
  std::string folder;
  bool watched = false;
  Watchdog watchdog;
  driver::Stream queue = nullptr;
  void *flushed = nullptr;
  uint64_t *clocks = nullptr;
  driver::Event events[2] = {};
  std::map<std::string, Image> images;           // by their names
  std::map<std::string, driver::Module> modules; // by their paths
  LaunchLog launched;
  std::map<std::string, Kernel, std::less<>> kernels;
};

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_GPU_H
