/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chunk_pipeline.hpp - a few threads that read memory in chunks, drop chunks of
 * zeros, compress and checksum the others.
 */
#pragma once

#include "image/chunk_plan.hpp"
#include "image/chunk_source.hpp"
#include "image/codec.hpp"
#include "image/encoded_chunk.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace ckpt
{

/* A chunk that is not all zero, as it goes to the file. */
struct StoredChunk {
    const ChunkJob &job;
    EncodedChunk encoded;
};

struct PipelineOptions {
    Codec codec;
    CodecChoice *choice; /* of the codec auto, else null */
    unsigned threads;
    const std::atomic<bool> *cancelled;
};

/*
 * Does all jobs of the plan. On the calling thread, `store` is called for each
 * chunk to be stored, in any order, and `captured` once, as soon as the last
 * byte has been read. Memory used is bounded by the number of threads. Throws
 * what a reader or `store` threw, after the threads have ended.
 */
void run_chunk_pipeline(ChunkSource &source, const ChunkPlan &plan,
                        const PipelineOptions &options,
                        const std::function<void(const StoredChunk &)> &store,
                        const std::function<void()> &captured);

} // namespace ckpt
