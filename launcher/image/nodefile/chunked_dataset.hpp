/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chunked_dataset.hpp - datasets of bytes whose encoded chunks the caller writes to the
 * file (direct chunk write); HDF5 only keeps their addresses. Chunks never written read
 * as zeros.
 *
 * All functions throw Error; the caller holds a Hdf5Lock.
 */
#pragma once

#include "image/codec/codec.hpp"
#include "image/nodefile/encoded_chunk.hpp"
#include "image/hdf5/hdf5_file_driver.hpp"
#include "image/hdf5/hdf5_support.hpp"
#include "image/model/rank_image.hpp"

#include <cstdint>
#include <string>

namespace ckpt
{

/* Creates a dataset of `length` bytes. */
Hdf5Id create_chunked_dataset(hid_t parent, const std::string &name,
                              std::uint64_t length, std::uint64_t chunk_size,
                              Codec codec);

/* Allocates space in the file for a chunk that is not all zero; the caller must write it
 * there. Returns its record with region 0; `what` names the chunk in errors. */
ChunkRecord place_chunk(const Hdf5Id &dataset, std::uint64_t index,
                        std::uint64_t chunk_size, const EncodedChunk &chunk,
                        Codec codec, DriverFile &driver, const std::string &what);

} // namespace ckpt
