/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chunked_dataset.hpp - datasets of bytes whose chunks go straight to the file
 * as they are (direct chunk write), HDF5 knowing only where; those never written read as
 * zeros.
 *
 * All throw Error; the caller holds a Hdf5Lock.
 */
#pragma once

#include "image/codec.hpp"
#include "image/encoded_chunk.hpp"
#include "image/hdf5_file_driver.hpp"
#include "image/hdf5_support.hpp"
#include "image/rank_image.hpp"

#include <cstdint>
#include <string>

namespace ckpt
{

/* Makes a dataset of `length` bytes. */
Hdf5Id create_chunked_dataset(hid_t parent, const std::string &name,
                              std::uint64_t length, std::uint64_t chunk_size,
                              Codec codec);

/* Finds a place for a chunk that is not all zero: the caller has to write it there.
 * Returns its record, of region 0; `what` names the chunk in an error. */
ChunkRecord place_chunk(const Hdf5Id &dataset, std::uint64_t index,
                        std::uint64_t chunk_size, const EncodedChunk &chunk,
                        Codec codec, DriverFile &driver, const std::string &what);

} // namespace ckpt
