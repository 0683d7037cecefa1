/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory_datasets.hpp - one chunked dataset for each region with content.
 */
#pragma once

#include "image/write/chunk_pipeline.hpp"
#include "image/codec/codec.hpp"
#include "image/hdf5/hdf5_file_driver.hpp"
#include "image/model/rank_image.hpp"

#include <map>
#include <vector>

namespace ckpt
{

class MemoryDatasets
{
  public:
    /* Creates the group `memory`. The caller holds a Hdf5Lock, here and below. */
    MemoryDatasets(hid_t rank_group, const std::vector<ckpt_region> &regions,
                   Codec codec, DriverFile &driver);

    /* Allocates space for the chunk, which the caller writes there. Returns its
     * record. */
    ChunkRecord place(const StoredChunk &chunk);

  private:
    const Hdf5Id &dataset_of(const ChunkJob &job);

    const std::vector<ckpt_region> &regions_;
    const Codec codec_;
    DriverFile &driver_;
    Hdf5Id group_;
    std::vector<bool> exists_;             /* by region */
    std::map<std::uint32_t, Hdf5Id> open_; /* by region */
};

} // namespace ckpt
