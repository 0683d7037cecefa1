/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sealed_tables.hpp - encrypts in place the parts of a sealed node file outside the extents.
 * The parts have 1 MiB; their nonces and tags lie between HDF5's end and the table of
 * extents (docs/encryption.md).
 */
#pragma once

#include "image/seal/file_seal.hpp"
#include "image/nodefile/node_file_layout.hpp"
#include "image/seal/table_memory.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ckpt
{

/* Returns the number of parts if HDF5's file ends at `end`. */
std::uint64_t count_seals(std::uint64_t end, const std::vector<Extent> &extents);

/* Writes the encrypted tables up to header.seals_offset(), and the seals. All fields of the
 * header except the checksum are set. Throws Error naming `path`. */
void write_sealed_tables(int fd, const NodeFileHeader &header,
                         const std::vector<Extent> &extents, const FileSeal &seal,
                         const TableMemory &tables, const std::string &path);

/* Reads and decrypts the tables; the extents are in order and inside the file. Throws Error,
 * also if tables, extents or header are not authentic. */
TableMemory read_sealed_tables(int fd, const NodeFileHeader &header,
                               const std::vector<Extent> &extents, const FileSeal &seal,
                               const std::string &path);

} // namespace ckpt
