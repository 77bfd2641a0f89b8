//===- Faults.h - Mistakes that the tests must see --------------*- C++ -*-===//
//
// Compile-time switches of the real bodies. A kernel is always built with
// None; each other one is a mistake of a kind that is easily made, and a test
// shows that it is found.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_FAULTS_H
#define KV_KERNELS_CUDA_FAULTS_H

namespace kv::cuda {

enum class Fault {
  None,
  LoadBeforeBarrier,   // a stage is refilled while others still read it
  MissingWait,         // nobody waits for the copies
  WaitOneShort,        // the newest copy needed may still be under way
  MissingStageBarrier, // own copies are awaited, others' are not
  MissingUnitBarrier,  // the next unit's keys overwrite this one's state
  MissingQueriesBarrier,
  MissingMaximaBarrier,
  MissingWeightsBarrier, // over latent rows, which come in no tiles of values
  MissingRefillBarrier,  // a latent tile is refilled while others read values
  MissingTotalBarrier,
  MissingEndsBarrier, // of the plan: where others' tiles end is not known yet
  SkippedShuffle,     // one lane does not take part
  SkippedBarrier,     // one thread does not take part
  NoTailFill,         // keys beyond the end are loaded, not zeroed
  UncheckedPage,      // an entry that is no page is used
  UncheckedTable,     // the table is read beyond its row
  MissingRelease,     // pieces are announced before they are there
  MissingAcquire,     // who comes last may read what was there before
  MissingArrivalBarrier, // a thread announces the pieces of others
  MissingTicketBarrier,  // who is last is asked before it is known
  MissingReset,          // counters are not zero for the next launch
  MissingPlacesBarrier,  // of a merge: where pieces lie is not known yet
  MissingPieceWeightsBarrier,
  ForgottenMaximum,    // pieces behind the first 32 begin anew
  MissingMergeBarrier, // the next unit overwrites what a merge still reads
  PlainScratchLoad,    // pieces come from the block's own cache
  PlainScratchStore,
  SlotOfAnotherGroup, // the merge reads a group twice
  ForgottenMask,
  TreeInSight,   // leaves of a tree are taken for seen by all
  PathOneBitOff, // the bit of the key beside
  PathOfAnotherRow,
  WindowByRow,        // a window ends where the row stands, not its node
  UnclearedWeights,   // of rows that are none
  ColumnsBeyondRow,   // a warp reads columns that a row does not have
  StoredBeyondHead,   // and stores them
  CopiedBeyondRow,    // a thread copies more of a row than there is
  UnscaledQueries,    // those of an 8-bit cache leave f16's range
  WeightsInOwnOrder,  // weights of 8 bits lie as keys do, not as values
  WeightsNotDivided,  // the power of two that they have stays in their sum
  UnscaledWeights,    // so do weights with the scales of values
  ScalesOfUnseenKeys, // a row's weights shrink for what it does not see
  OneScaleBuffer,     // the next leaf's scales overwrite this one's
  StaleScales,        // a leaf has the scales of the one before
  UncheckedScalePage, // the scales of an entry that is no page are read
  UnmaskedAmax,       // of a store: lanes beyond a row count for its scale
  OwnHalfOnly,        // of a rope: what stands beside is not normed
  MissingSumsBarrier, // of a draw: others' sums are read before they are there
  OwnPartOnly,        // and those of other blocks never come
  MissingClusterBarrier, // or are read before these have told them
  OneFoundBuffer,        // or overwrite the digit's before
  DrawnFromAll,          // what was cut is drawn
  UnorderedTies,         // of equal logits all are kept
  UncheckedState,        // a number that is no state is used
  StateReadTwice,        // others read a state than those who write it
  ForgottenDecay,        // of a scan

  // Of kernels that copy tiles.
  MissingEmptyWait,     // a stage is filled while others still read it
  BoxNotCounted,        // a tile is complete when one of its boxes is not there
  MissingCleanFence,    // zeros of unseen values are not there for wgmma
  MissingQueriesFence,  // nor are the queries
  MissingTileWait,      // a tile is multiplied before it is there
  WrongParity,          // the phase before the tile's is awaited
  EarlyRelease,         // a stage is given back while it is multiplied
  ReleasedTwice,        // the warps of one warpgroup count as all
  EarlyScores,          // scores are read while they are under way
  MissingProductsFence, // wgmma takes registers before they are written
  QueriesOfOtherRows,   // a descriptor names the other warpgroup's rows
  ValuesOneAtomShort,   // and a step of V the keys before it
  PartOfOtherColumns,   // a part of a wide head is copied where it is not
  RowsOfOneTileMore,    // a warpgroup with sixteen rows does as if it had none
  TurnsNotPassed,       // one without rows keeps the other one waiting
  MissingScalesBarrier, // scales are overwritten that another lane reads
  OnePartAwaited,       // only the first part of the keys is waited for
  EarlyPart,            // a part of the values folds while it is under way
  MissingPathsBarrier,  // rows finish where paths of trees are still read
  MissingSlabWait,      // a slab is widened before it is there
  EarlySlabRelease,     // a slab is given back before it is widened
  MissingWidenFence,    // what was widened is not there for wgmma
  KeysInOwnOrder,       // keys lie as in memory, not as queries do
  ScalesByLeaf, // the next work's first leaf has the buffer of this one's last
  MissingSharesBarrier, // shares of groups are read before all are there

  // Of those whose products are bytes'.
  MissingCopyWait,       // values are overwritten before they are transposed
  MissingTransposeFence, // transposed values are not there for wgmma
  MissingOnes,           // sums of weights are none
  WeightsOfOtherPower,   // weights are not as large as their fold takes them
  UnroundedSums,         // weights are summed before they are rounded
  LostNaN,               // a score that is none is no maximum
  EarlyPass,             // a warpgroup without rows does not wait for its turn

  // Of kernels with tensor memory.
  ScoresTooEarly,      // scores come to where weights are still read
  MissingFoldWait,     // so do values to where those before are folded
  MissingIssuersFence, // weights are multiplied that are not there for products
  MissingWeightsFence, // nor are they passed on
  MissingStoreWait,    // nor stored
  MissingScoresFence,  // scores are loaded that are not there for loads
  MissingValuesWait,   // values are folded while they are under way
  MissingPartWait,     // the last weights are multiplied too early
  MissingSliceWait,    // scores come to where the last slice reads weights
  EarlySettled, // scores that were masked are loaded before they are there
  NeverFreed,   // tensor memory is left allocated

  // Of those whose warpgroups share latent rows; MissingWeightsBarrier and
  // MissingWeightsFence too.
  MissingGroupBarrier, // weights are multiplied before all are stored
  WeightsOfOtherLeaf,  // of the other stage

  // Of pairs of blocks; MissingClusterBarrier too, before the first copy.
  ReleasedAtHome,       // the other block never hears that a slab was read
  OwnReadersCounted,    // or a slab counts as read when one block has read it
  CopiedToOneBlock,     // the other one waits for its bytes
  HalfSlabUnasked,      // nobody asks for the half of the second block
  HalfSlabCounted,      // a slab is complete when half of it is there
  LeftEarly,            // a block ends where the other still arrives
  RowsOfOtherBlock,     // both have the first one's rows
  CountersOfOtherBlock, // one's arrivals count as the other's
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_FAULTS_H
