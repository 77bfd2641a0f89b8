//===- ArtifactRun.h - An artifact on random data ---------------*- C++ -*-===//
//
// Knows no MLIR, whose headers do not go together with the runtime's: those are
// C++23 (kv_mlir_target).
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_FUZZ_ARTIFACTRUN_H
#define KV_TEST_FUZZ_ARTIFACTRUN_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace kv::fuzz {

/// The arguments of an entry as an execution left them.
class ArtifactRun {
public:
  ArtifactRun();
  ~ArtifactRun();

  /// Runs the first entry of the artifact, a file, on random data, the same for
  /// the same seed. What went wrong, or nothing. Pages that no sequence owns
  /// are NaN.
  std::optional<std::string> execute(const std::string &artifact,
                                     uint64_t seed);

  /// The first element of an argument that differs from the other run's by more
  /// than rounding explains; nothing if there is none.
  std::optional<std::string> differenceFrom(const ArtifactRun &reference) const;

private:
  class Host;
  struct Arguments;

  std::unique_ptr<Arguments> arguments;
};

} // namespace kv::fuzz

#endif // KV_TEST_FUZZ_ARTIFACTRUN_H
