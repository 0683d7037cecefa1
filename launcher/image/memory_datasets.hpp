/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory_datasets.hpp - one chunked dataset for each region with content.
 *
 * Chunks go straight to the file as they are (direct chunk write); those that
 * are never written read as zeros.
 */
#pragma once

#include "image/chunk_pipeline.hpp"
#include "image/codec.hpp"
#include "image/hdf5_file_driver.hpp"
#include "image/rank_image.hpp"

#include <map>
#include <vector>

namespace ckpt
{

class MemoryDatasets
{
  public:
    /* Makes the group `memory`; caller holds a Hdf5Lock, here and below. */
    MemoryDatasets(hid_t rank_group, const std::vector<ckpt_region> &regions,
                   Codec codec, const DriverFile &driver);

    /* Writes the chunk; returns its record. */
    ChunkRecord store(const StoredChunk &chunk);

  private:
    const Hdf5Id &dataset_of(const ChunkJob &job);
    Hdf5Id create(const ckpt_region &region, std::uint32_t chunk_size) const;

    const std::vector<ckpt_region> &regions_;
    const Codec codec_;
    const DriverFile &driver_;
    Hdf5Id group_;
    std::vector<bool> exists_;             /* by region */
    std::map<std::uint32_t, Hdf5Id> open_; /* by region */
};

} // namespace ckpt
