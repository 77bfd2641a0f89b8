"""The mistakes of the sources of kernels/cuda that the tests must see.

A mistake is a list of changes (file, text before, text after). White space counts as one space. A text that ends with a
semicolon is statements, any other one an expression; a text after it that says PLANTED takes its place as it is.
Leaving out, doubling and weakening what orders threads is Faulty.h's, and not here.
"""

COMMON = "attention/common/"
MMA = "attention/mma/"
WGMMA = "attention/wgmma/"
TENSOR = "attention/tcgen05/"

MISTAKES = {
    # Where keys and values come from.
    "NoTailFill": [  # keys beyond the end are loaded, not zeroed
        (
            MMA + "KeyPlaces.h",
            "first = kv::plan::greater<int64_t>(first, keysFirst); last = kv::plan::lesser<int64_t>(last, keysLast);",
            ";",
        ),
        (COMMON + "TileLoader.h", "leaf * C::Leaf < first || leaf * C::Leaf > last - C::Leaf", "false"),
        ("products/ExpertBody.h", "chunk < chunks", "true"),
    ],
    "UncheckedPage": [  # an entry that is no page is used
        (MMA + "KeyPlaces.h", "uint32_t(page) < uint32_t(p.cache.pages)", "page != -1"),
        ("movers/MoverBodies.h", "page >= p.firstPage && page < p.cache.pages", "true"),
        ("movers/CacheRowsBody.h", "row.page >= s.firstPage && row.page < s.cache.pages", "true"),
    ],
    "UncheckedTilePage": [  # its scales are
        (COMMON + "TileLoader.h", "uint32_t(entry) < uint32_t(p.cache.pages)", "true")
    ],
    "UncheckedTable": [  # the table is read beyond its row
        (COMMON + "Works.h", "int64_t(p.tableColumns) * p.cache.pageSize", "INT64_MAX")
    ],
    "UncheckedScalePage": [(MMA + "KeyPlaces.h", "exists ? at : -1", "page != -1 ? at : -1")],
    "CopiedBeyondRow": [  # a thread copies more of a row than there is
        (MMA + "KeyRing.h", "column + C::CopiedColumns <= C::RowChunks", "true")
    ],
    "ColumnsBeyondRow": [  # a warp reads columns that a row does not have
        (MMA + "TileOperands.h", "column = kv::plan::lesser(column, C::RowChunks - 1);", ";")
    ],
    "StoredBeyondHead": [(COMMON + "RowResults.h", "column < C::HeadDim", "true")],
    "LoadBeforeBarrier": [  # a stage is refilled while others still read it
        (
            MMA + "KeyRing.h",
            "b.template wait<Pending>(); b.sync(); issueTile(u, leaf, tile + C::Ahead);",
            "issueTile(u, leaf, tile + C::Ahead); b.template wait<Pending + 1>(); b.sync();",
        ),
        (
            MMA + "LatentRing.h",
            "b.template wait<Pending>(); b.sync(); issueTile(u, leaf, C::Ahead);",
            "issueTile(u, leaf, C::Ahead); b.template wait<Pending + 1>(); b.sync();",
        ),
    ],
    "PartOfOtherColumns": [  # a part of a wide head is copied where it is not
        (COMMON + "TileLoader.h", "(part * C::CopySlabs + slab)", "slab")
    ],
    "BoxNotCounted": [  # a tile is complete when one of its boxes is not there
        (
            COMMON + "TileLoader.h",
            "b.expectBytes(bar, C::CopyBytes)",
            "b.expectBytes(bar, C::CopyBytes - (C::CopyRowBytes << p.boxShift))",
        ),
        (
            COMMON + "LatentTileLoader.h",
            "unclean ? C::TileBytes : C::SlabBytes",
            "(unclean ? C::TileBytes : C::SlabBytes) - (SlabRowBytes << p.boxShift)",
        ),
    ],
    # Between two blocks of a part.
    "HalfSlabCounted": [  # a slab is complete when half of it is there
        (
            COMMON + "LatentTileLoader.h",
            "unclean ? C::TileBytes : C::SlabBytes",
            "(unclean ? C::TileBytes : C::SlabBytes) / 2",
        )
    ],
    "HalfSlabUnasked": [  # nobody asks for the half of the second block
        (
            COMMON + "LatentTileLoader.h",
            "b.copyTileTo(All, p.maps[0], offset, at, bar);",
            "if (b.clusterRank() == 0) b.copyTileTo(All, p.maps[0], offset, at, bar);",
        )
    ],
    "CopiedToOneBlock": [  # the other one waits for its bytes
        (
            COMMON + "LatentTileLoader.h",
            "b.copyTileTo(All, p.maps[0], offset, at, bar);",
            "b.copyTileTo(1, p.maps[0], offset, at, bar);",
        )
    ],
    "ReleasedAtHome": [  # the other block never hears that a slab was read
        (
            WGMMA + "LatentTileKernel.h",
            "b.releaseAt(b.barrier(C::empty(stage, slab)), u.map.lane, u.map.lane < PartBlocks<C>);",
            "if (u.map.lane == 0) b.arriveAt(b.barrier(C::empty(stage, slab)));",
        )
    ],
    "OwnReadersCounted": [  # or a slab counts as read when one block has read it
        (COMMON + "LatentLeaves.h", "C::readers(slab)", "C::readers(slab) / PartBlocks<C>")
    ],
    "RowsOfOtherBlock": [(COMMON + "Rows.h", "firstRow += b.clusterRank() * C::Rows;", ";")],
    "CountersOfOtherBlock": [  # one's arrivals count as the other's
        (COMMON + "Merge.h", "rows.rowsBefore() / C::Rows * (2 * p.shape.parts)", "0")
    ],
    # Queries, scores and masks.
    "UnscaledQueries": [  # those of an 8-bit cache leave the range of what they become
        (
            COMMON + "Queries.h",
            "ByteProducts<C> ? byteScale(largest) : rangeScale(largest)",
            "RangeScale{1, 1}",
        )
    ],
    "QueriesOfOtherRows": [  # a descriptor names another warpgroup's rows
        (
            WGMMA + "TileRing.h",
            "group * GroupWarps * 16 * SlabRowBytes",
            "(C::Groups == 2 ? group ^ 1 : group == 0) * GroupWarps * 16 * SlabRowBytes",
        ),
        (
            TENSOR + "TensorIssuer.h",
            "OffsetOf<C, slot::Queries> + tile * TensorLanes * SlabRowBytes",
            "OffsetOf<C, slot::Queries> + (1 - tile) * TensorLanes * SlabRowBytes",
        ),
    ],
    "OnePartAwaited": [  # only the first part of the keys is waited for
        (WGMMA + "TileLeaves.h", "ring.awaitTile(u, part);", "if (part == 0) ring.awaitTile(u, part);")
    ],
    "ForgottenMask": [
        (COMMON + "Bounds.h", "first < allSeeFrom || first > allSeeTo - C::Leaf", "false"),
        (TENSOR + "TensorScores.h", "first < seen.x || first > seen.y - Piece", "false"),
        ("movers/MergeSidesBody.h", "share == 0", "false"),
        ("movers/CacheRowsBody.h", "p.window == 0 || place + p.window > sequence.cached", "true"),
    ],
    "TreeInSight": [  # leaves of a tree are taken for seen by all
        (
            COMMON + "Bounds.h",
            "allSeeTo = int32_t(kv::plan::lesser<int64_t>( allSeeTo,"
            " sequence.cached + kv::plan::tokensBeforeTree(sequence.added)));",
            ";",
        )
    ],
    "PathOneBitOff": [  # the bit of the key beside
        (COMMON + "Scores.h", "bounds.load(row).y - 1", "bounds.load(row).y - 2")
    ],
    "PathOfAnotherRow": [(COMMON + "Scores.h", "u.bounds.paths().load(row)", "u.bounds.paths().load(row ^ 1)")],
    "WindowByRow": [  # a window ends where the row stands, not its node
        (COMMON + "Rows.h", "node.position", "sequence.cached + token")
    ],
    "LostNaN": [  # a score that is none is no maximum
        (
            COMMON + "Scores.h",
            "ByteTiles<C> ? kv::plan::largerOrNaN(a, b) : kv::plan::larger(a, b)",
            "kv::plan::larger(a, b)",
        )
    ],
    "RowsOfOneTileMore": [  # a warpgroup with sixteen rows does as if it had none
        (WGMMA + "TileLeaves.h", "u.rows.liveRows > GroupWarps * 16", "u.rows.liveRows > GroupWarps * 16 + 16"),
        ("parameters/AttentionTensor.h", "rows > TensorLanes", "rows > TensorLanes + 16"),
    ],
    # Weights and their sums.
    "UnclearedWeights": [(MMA + "WarpWeights.h", "u.rows.hasRows(1)", "true")],  # of rows that are none
    "WeightsInOwnOrder": [  # weights of 8 bits lie as keys do, not as values
        (
            MMA + "WarpWeights.h",
            "scores.tiles[m][half * 2 + i / 2][side * 2 + i % 2]",
            "scores.tiles[m][half * 2 + i % 2][side * 2 + i / 2]",
        )
    ],
    "WeightsNotDivided": [  # the power of two that they have stays in their sum
        (
            MMA + "WarpWeights.h",
            "weights.right = kv::plan::multiply(weights.right, 1.0f / (1 << WeightLog));",
            ";",
        )
    ],
    "WeightsOfOtherPower": [  # weights are not as large as their fold takes them
        (WGMMA + "TileWeights.h", "base -= WeightLog;", ";"),
        (TENSOR + "TensorScores.h", "base -= WeightLog;", ";"),
    ],
    "UnscaledWeights": [  # weights with the scales of values leave the range of 16 bits
        (
            MMA + "WarpScales.h",
            "powerAboveScale(kv::plan::larger(kv::plan::larger(four.x, four.y), kv::plan::larger(four.z, four.w)))",
            "RangePower{1, 1, 0}",
        ),
        (WGMMA + "TileWeights.h", "powerAboveScale(scales.largest[side])", "RangePower{1, 1, 0}"),
    ],
    "ScalesOfUnseenKeys": [  # a row's weights shrink for what it does not see
        (COMMON + "Scores.h", "tiles[m][i / 2][side * 2 + i % 2] != kv::plan::NoScore", "true")
    ],
    "OneScaleBuffer": [  # the next leaf's scales overwrite this one's
        (MMA + "WarpScales.h", "(leaf & 1)", "0"),
        (WGMMA + "TileWeights.h", "(buffer * 2 + plane)", "plane"),
        (WGMMA + "TileWidener.h", "(buffer * 2 + plane)", "plane"),
    ],
    "ScalesByLeaf": [  # the next work's first leaf has the buffer of this one's last
        (WGMMA + "TileWeights.h", "(buffer * 2 + plane)", "(leaf % C::ScaleBuffers * 2 + plane)"),
        (WGMMA + "TileWidener.h", "(buffer * 2 + plane)", "(leaf % C::ScaleBuffers * 2 + plane)"),
    ],
    "StaleScales": [  # a leaf has the scales of the one before
        (
            MMA + "KeyPlaces.h",
            "if constexpr (C::Scaled) scales.load(u, scaleAt); storeRowPlace(u, leaf + 2, nextPage);",
            "storeRowPlace(u, leaf + 2, nextPage);",
        )
    ],
    "UnroundedSums": [  # weights are summed before they are rounded
        (
            WGMMA + "TileWeights.h",
            "weights[n / 4][n / 2 % 2 * 2 + side] ="
            " narrowFour<typename C::Product>(four[0], four[1], four[2], four[3]);",
            "rows.sums[side * 2] = (n ? rows.sums[side * 2] : 0) + ((four[0] + four[1]) + (four[2] + four[3]));"
            " weights[n / 4][n / 2 % 2 * 2 + side] ="
            " narrowFour<typename C::Product>(four[0], four[1], four[2], four[3]);",
        ),
        (
            WGMMA + "ByteTileKernel.h",
            "weights.foldSums(group, folds, part[C::PartTiles]);",
            "weights.foldSums(u, group, folds);",
        ),
        (
            WGMMA + "TileWeights.h",
            "foldSums(group, folds, rows.sums);",
            "float sums[4]; for (int i = 0; i < 4; i += 2) { sums[i] = rows.sums[i];"
            " sums[i] += u.b.shuffleXor(sums[i], 1); sums[i] += u.b.shuffleXor(sums[i], 2); }"
            " foldSums(group, folds, sums);",
        ),
        (
            TENSOR + "TensorScores.h",
            "return narrowFour<typename C::Product>(w[0], w[1], w[2], w[3]);",
            "u.ownSum += (w[0] + w[1]) + (w[2] + w[3]);"
            " return narrowFour<typename C::Product>(w[0], w[1], w[2], w[3]);",
        ),
        (
            TENSOR + "TensorGroup.h",
            "state.sum = kv::plan::foldValue(state.sum, sum[0], weights);",
            "state.sum = kv::plan::foldValue(state.sum, u.ownSum, weights); u.ownSum = 0;",
        ),
        (TENSOR + "TensorUnit.h", "float ownFactor = 0;", "float ownFactor = 0, ownSum = 0; // PLANTED"),
    ],
    "MissingOnes": [  # sums of weights are none
        (
            WGMMA + "ByteTileLoader.h",
            "constexpr uint32_t Ones = 0x01010101u * 0x38;",
            "const uint32_t Ones = PLANTED ? 0 : 0x01010101u * 0x38;",
        )
    ],
    "WeightsOfOtherLeaf": [  # of the other stage
        (
            WGMMA + "LatentTileKernel.h",
            "tile.behind(C::StageWeights)",
            "tile.behind((stage ? -1 : 1) * C::TileBytes + C::StageWeights)",
        ),
        (
            TENSOR + "LatentTensorIssuer.h",
            "tile.behind(C::StageWeights)",
            "tile.behind((values.stage ? -1 : 1) * C::TileBytes + C::StageWeights)",
        ),
    ],
    # Values.
    "ValuesOneAtomShort": [  # a step of V has the keys before it
        (WGMMA + "TileLeaves.h", "k * 2 * AtomBytes", "(k ? k * 2 - 1 : 0) * AtomBytes"),
        (WGMMA + "LatentTileKernel.h", "k * 2 * AtomBytes", "(k ? k * 2 - 1 : 0) * AtomBytes"),
        (TENSOR + "LatentTensorIssuer.h", "k * 2 * AtomBytes", "(k ? k * 2 - 1 : 0) * AtomBytes"),
        (TENSOR + "TensorIssuer.h", "k * StepAtoms * AtomBytes", "(k * StepAtoms - (k ? 1 : 0)) * AtomBytes"),
    ],
    "KeysInOwnOrder": [  # keys lie as in memory, not as queries do
        (
            WGMMA + "TileWidener.h",
            "if (Plane) { out[i / 2].words[i % 2 * 2] = low;",
            "if (Plane || PLANTED) { out[i / 2].words[i % 2 * 2] = low;",
        ),
        (WGMMA + "ByteTileLoader.h", "0x6420", "0x6240"),
        (WGMMA + "ByteTileLoader.h", "0x7531", "0x7351"),
    ],
    # Who may go on.
    "EarlyRelease": [  # a stage is given back while it is multiplied
        (
            WGMMA + "TileLeaves.h",
            "b.template awaitProducts<0>(scores.tiles[0]); KV_UNROLL for (int part = 0; part < C::Parts; ++part)"
            " ring.releaseTile(u);",
            "for (int part = 0; part < C::Parts; ++part) ring.releaseTile(u);"
            " b.template awaitProducts<0>(scores.tiles[0]);",
        ),
        (
            WGMMA + "ByteTileKernel.h",
            "u.b.template awaitProducts<0>(scores.tiles[0]); ring.releaseTile(u);",
            "ring.releaseTile(u); u.b.template awaitProducts<0>(scores.tiles[0]);",
        ),
        (
            WGMMA + "ByteTileKernel.h",
            "b.template awaitProducts<0>(part); ring.releaseTile(u);",
            "ring.releaseTile(u); b.template awaitProducts<0>(part);",
        ),
        (
            WGMMA + "LatentTileKernel.h",
            "b.template awaitProducts<0>(sliced); KV_UNROLL for (int i = 0; i < C::SliceSlabs; ++i)"
            " releaseSlab(u, stage, slab + i);",
            "for (int i = 0; i < C::SliceSlabs; ++i) releaseSlab(u, stage, slab + i); b.template awaitProducts<0>(sliced);",
        ),
        (
            TENSOR + "TensorIssuer.h",
            "sumWeights(weights, part);",
            "sumWeights(weights, part);"
            " if (isLast(tile) && part == 0) b.commitTensor(b.barrier(C::empty(values.stage)));",
        ),
        (TENSOR + "TensorIssuer.h", "releaseTile(values);", "values.move(2);"),
        (
            TENSOR + "LatentTensorIssuer.h",
            "b.awaitPhase(b.barrier(C::folded(place)), placePhase ^ 1);",
            "b.awaitPhase(b.barrier(C::folded(place)), placePhase ^ 1);"
            " for (int i = 0; i < C::SliceSlabs; ++i) b.commitTensor(b.barrier(C::empty(values.stage, slab + i)));",
        ),
        (
            TENSOR + "LatentTensorIssuer.h",
            "b.commitTensor(b.barrier(C::empty(values.stage, slab + i)));",
            ";",
        ),
    ],
    "EarlySlabRelease": [  # a slab is given back before it is widened, or transposed
        (
            WGMMA + "TileWidener.h",
            "b.awaitPhase(b.barrier(C::landed(copy)), copyPhase);",
            "b.awaitPhase(b.barrier(C::landed(copy)), copyPhase); if (lane == 0) b.arriveAt(released);",
        ),
        (WGMMA + "TileWidener.h", "b.arriveAt(released);", ";"),
        (
            WGMMA + "ByteTileLoader.h",
            "b.awaitPhase(b.barrier(C::landed(copy)), copyPhase);",
            "b.awaitPhase(b.barrier(C::landed(copy)), copyPhase);"
            " if (lane == 0) b.arriveAt(b.barrier(C::transposed(copy)));",
        ),
        (WGMMA + "ByteTileLoader.h", "b.arriveAt(released);", ";"),
    ],
    "TurnsNotPassed": [  # a warpgroup without rows keeps the other one waiting
        (WGMMA + "TileLeaves.h", "C::Parts == 1 || tile == 0", "false")
    ],
    "EarlyPass": [  # a warpgroup without rows does not wait for its turn
        (
            WGMMA + "ByteTileKernel.h",
            "awaitTurn<C>(u.b, u.map.warp); passTurn<C>(u.b, u.map.warp); ring.releaseTile(u); ring.releaseTile(u);",
            "passTurn<C>(u.b, u.map.warp); ring.releaseTile(u); ring.releaseTile(u);",
        )
    ],
    "ScoresTooEarly": [  # scores come to where weights are still read
        (TENSOR + "TensorScores.h", "at / C::ScorePlaces & 1", "at / 2 & 1"),
        (TENSOR + "TensorScores.h", "at % C::ScorePlaces", "at % 2"),
        (TENSOR + "TensorIssuer.h", "place == C::ScorePlaces - 1 ? 0 : place + 1", "place == 1 ? 0 : place + 1"),
    ],
    # Units that parts share.
    "MissingReset": [(COMMON + "Merge.h", "b.store(counter, 0u);", ";")],
    "SlotOfAnotherGroup": [  # the merge reads a group twice
        (
            COMMON + "Merge.h",
            "kv::plan::groupLeaves(s.tile, group).begin",
            "kv::plan::groupLeaves(s.tile, group == 1 ? 0 : group).begin",
        ),
        (
            COMMON + "MergeBody.h",
            "kv::plan::pieceSlot(p.shape, header, tile, head, parts, leaf)",
            "kv::plan::pieceSlot(p.shape, header, tile, head, parts,"
            " leaf == tile.leafBegin + kv::plan::LeavesPerGroup ? tile.leafBegin : leaf)",
        ),
    ],
    "ForgottenMaximum": [  # pieces behind the first 32 begin anew
        (COMMON + "Merge.h", "maxima[r] = kv::plan::larger(maxima[r], all);", ";"),
        (COMMON + "MergeBody.h", "maximum = kv::plan::larger(maximum, all);", ";"),
    ],
    # Movers and recurrent layers.
    "UnmaskedAmax": [  # of a store: lanes beyond a row count for its scale
        (
            "movers/MoverBodies.h",
            "if (stored && chunk < chunks) loadEight(b, source, from + chunk * Eight, p.rowsType, x);",
            "if (stored) loadEight(b, source, from + chunk * Eight, p.rowsType, x);",
        )
    ],
    "OwnHalfOnly": [  # of a rope: what stands beside is not normed
        ("movers/RopeStoreBody.h", "normChunk(b, row, beside, inverse, p.offset, partner);", ";")
    ],
    "OwnPartOnly": [("movers/SampleBody.h", "to < cluster", "to < cluster && to == rank")],
    "OneFoundBuffer": [("movers/SampleBody.h", "turn ^= 1;", ";")],  # it overwrites the digit's before
    "DrawnFromAll": [("movers/SampleBody.h", "place > last", "false")],  # what was cut is drawn
    "UnorderedTies": [  # of equal logits all are kept
        ("movers/SampleBody.h", "<< idBits | uint64_t(token);", "<< idBits | uint64_t(PLANTED ? 0 : token);")
    ],
    "UncheckedState": [("movers/StateBody.h", "id <= 0 || id >= states.count", "false")],
    "StateReadTwice": [  # others read a state than those who write it
        (
            "movers/StateBody.h",
            "if (at < old || at >= sequence.added) continue;",
            "if (at > 0 && at < old) { loadEight(b, data + stateAt(b, p.states, number, 0) + work.column, x);"
            " work.take(token, x); continue; } if (at < old || at >= sequence.added) continue;",
        )
    ],
    "ForgottenDecay": [  # of a scan
        (
            "movers/StateBody.h",
            "float decayed = kv::plan::multiply(state[i][c], token.decay);",
            "float decayed = PLANTED ? state[i][c] : kv::plan::multiply(state[i][c], token.decay);",
        )
    ],
}
