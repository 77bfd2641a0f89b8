//===- TensorFaultTest.cpp - Mistakes in kernels with tensor memory -------===//

#include "AttentionFaults.h"
#include "kernels/cuda/attention/tcgen05/TensorKernel.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

template <class ConfigT> struct Tensor : Roles<ConfigT, CpuTensorBlock> {
  static Results
  run(typename Roles<ConfigT, CpuTensorBlock>::Fixture &fixture) {
    return Tensor::runBy(fixture, [](auto &b, const TileParams &p) {
      runTensor<ConfigT>(b, p);
    });
  }
};
using Plain = Tensor<TensorConfig<Bf16, Bf16, 64>>;
/// Whose values are folded by slices.
using Slices = Tensor<TensorConfig<Bf16, Bf16, 128>>;
/// With products of 8 bits.
using Bytes = Tensor<TensorConfig<Bf16, F8E4M3, 64>>;
using WideBytes = Tensor<TensorConfig<Bf16, F8E4M3, 128>>;
using Latent = Tensor<LatentTensorConfig<Bf16, 192, 128>>;

/// Units of two tiles of rows and of one, tails, and more leaves than scores
/// have places and the ring tiles.
AttentionCase batch(std::vector<SequenceLengths> sequences = {{600, 70},
                                                              {130, 3}},
                    int parts = 1) {
  AttentionCase c;
  c.heads = 1;
  c.parts = parts;
  c.sequences = std::move(sequences);
  return c;
}
/// A second tile of sixteen rows is left out.
AttentionCase oneTileMore() { return batch({{130, 36}}); }
/// Of few keys, so that roundings do not cancel out.
AttentionCase fewKeys() {
  AttentionCase c = batch({{0, 6}});
  c.scale = 1;
  return c;
}
/// Several tiles of rows, a tail, more leaves than there are stages, odd and
/// even numbers of them.
AttentionCase latent() {
  AttentionCase c = batch({{620, 5}, {70, 3}}, 3);
  c.group = 16;
  return c;
}
AttentionCase latentWhole() {
  AttentionCase c = batch({{2500, 5}});
  c.group = 16;
  return c;
}

AttentionCase latentShared() {
  AttentionCase c = batch({{1500, 5}, {700, 5}}, 11);
  c.group = 16;
  return c;
}

const Survivor QueriesBarrier = {
    {"TileConsumer.h", "runWork", Member::Sync, 1},
    "all threads arrive at Asked behind their queries and bounds, and scores "
    "come behind that"};
const Survivor ScoresFence = {
    {"LatentTensorIssuer.h", "multiplyQueries", Member::FenceAfter},
    "the slices of the leaf before, whose weights lay there, had one each"};
const Survivor WeightsFence = {
    {"LatentTensorIssuer.h", "multiplyWeights", Member::FenceAfter},
    "each slice has its own; without both it is seen (MissingIssuersFences)"};

const What FreedNever = {{{"TensorKernel.h", "runTensor", Member::FreeTensor}}};

const bool Added[] = {
    addKernel(
        {"TensorFault",
         {caseOf<Plain>(batch()), caseOf<Plain>(batch({{1500, 3}}, 5)),
          caseOf<Plain>(batch({{2500, 70}}, 1)),
          caseOf<Plain>(batch({{1500, 40}, {700, 40}}, 5))},
         {{"BoxNotCounted", Mistake::BoxNotCounted, "bytes",
           caseOf<Plain>(batch())},
          {"EarlyRelease", Mistake::EarlyRelease, "shared memory",
           caseOf<Plain>(batch())},
          {"ScoresTooEarly", Mistake::ScoresTooEarly, "tensor memory",
           caseOf<Plain>(batch())},
          {"LateWeightsFence",
           {{{"TensorScores.h", "announceWeights", Member::FenceBefore},
             Action::Later}},
           "passed on by fenceBefore()",
           caseOf<Plain>(batch())},
          {"NeverFreed", FreedNever, "tensor memory allocated",
           caseOf<Plain>(batch())},
          {"QueriesOfOtherRows", Mistake::QueriesOfOtherRows, nullptr,
           caseOf<Plain>(batch())},
          {"ValuesOneAtomShort", Mistake::ValuesOneAtomShort, nullptr,
           caseOf<Plain>(batch())},
          {"NoTailFill", Mistake::NoTailFill, nullptr, caseOf<Plain>(batch())},
          {"ForgottenMask", Mistake::ForgottenMask, nullptr,
           caseOf<Plain>(batch())},
          {"RowsOfOneTileMore", Mistake::RowsOfOneTileMore, nullptr,
           caseOf<Plain>(oneTileMore())}},
         {MergedTiles}}),
    addKernel({"TensorSlicesFault", {caseOf<Slices>(batch())}}),
    addKernel(
        {"ByteTensorFault",
         {caseOf<Bytes>(batch()), caseOf<Bytes>(batch({{1500, 3}}, 1))},
         {{"QueriesOfOtherRows", Mistake::QueriesOfOtherRows, nullptr,
           caseOf<Bytes>(batch())},
          // Of a magnitude that the type has no numbers for.
          {"UnscaledQueries", Mistake::UnscaledQueries, nullptr,
           caseOf<Bytes>(
               batch(),
               [](Bytes::Fixture &fixture) { fixture.enlargeQueries(-12); })},
          {"WeightsOfOtherPower", Mistake::WeightsOfOtherPower, nullptr,
           caseOf<Bytes>(batch())},
          {"UnroundedSums", Mistake::UnroundedSums, nullptr,
           caseOf<Bytes>(fewKeys())},
          {"ScoresTooEarly", Mistake::ScoresTooEarly, "tensor memory",
           caseOf<Bytes>(batch())},
          {"ValuesOneAtomShort", Mistake::ValuesOneAtomShort, nullptr,
           caseOf<Bytes>(batch())},
          {"NoTailFill", Mistake::NoTailFill, nullptr, caseOf<Bytes>(batch())},
          {"EarlyRelease", Mistake::EarlyRelease, "shared memory",
           caseOf<Bytes>(batch())},
          {"RowsOfOneTileMore", Mistake::RowsOfOneTileMore, nullptr,
           caseOf<Bytes>(oneTileMore())},
          // Of a decode step, whose tiles of the ring the first one gives
          // back.
          {"EarlyReleaseByOneTile", Mistake::EarlyRelease, "shared memory",
           caseOf<Bytes>(batch({{1500, 3}}))}}}),
    addKernel({"WideByteTensorFault", {caseOf<WideBytes>(batch())}}),
    addKernel(
        {"LatentTensorFault",
         {caseOf<Latent>(latent()), caseOf<Latent>(latentWhole()),
          caseOf<Latent>(latentShared())},
         {{"BoxNotCounted", Mistake::BoxNotCounted, "bytes",
           caseOf<Latent>(latent())},
          {"WrongParity",
           {{{"LatentTensorIssuer.h", "multiplyQueries", Member::AwaitPhase},
             Action::Weaken}},
           "shared memory",
           caseOf<Latent>(latent())},
          {"EarlyRelease", Mistake::EarlyRelease, "shared memory",
           caseOf<Latent>(latent())},
          {"MissingIssuersFences",
           {{{"LatentTensorIssuer.h", "multiplyWeights", Member::FenceAfter}},
            {{"LatentTensorIssuer.h", "multiplySlice", Member::FenceAfter}}},
           "without fenceAfter()",
           caseOf<Latent>(latent())},
          {"MissingWeightsBarriers",
           {{{"LatentTensorIssuer.h", "multiplyWeights", Member::AwaitPhase}},
            {{"LatentTensorRows.h", "awaitWeights", Member::AwaitPhase}}},
           "shared memory",
           caseOf<Latent>(latent())},
          {"NeverFreed", FreedNever, "tensor memory allocated",
           caseOf<Latent>(latent())},
          {"WeightsOfOtherLeaf", Mistake::WeightsOfOtherLeaf, "shared memory",
           caseOf<Latent>(latent())},
          {"ValuesOneAtomShort", Mistake::ValuesOneAtomShort, nullptr,
           caseOf<Latent>(latent())},
          {"NoTailFill", Mistake::NoTailFill, nullptr,
           caseOf<Latent>(latent())}},
         {MergedTiles, FoldedTotal, QueriesBarrier, ScoresFence,
          WeightsFence}}),
};

} // namespace
