/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sealed_tables.hpp - what is outside of the extents of a sealed node file, encrypted in its
 * place: in parts of 1 MiB, whose nonces and tags lie between HDF5's end and the table of
 * extents (docs/encryption.md).
 */
#pragma once

#include "image/file_seal.hpp"
#include "image/node_file_layout.hpp"
#include "image/table_memory.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ckpt
{

/* How many parts there are if HDF5's file ends at `end`. */
std::uint64_t count_seals(std::uint64_t end, const std::vector<Extent> &extents);

/* Writes the tables up to header.seals_offset(), and the seals. All of the header but its
 * checksum is set. Throws Error that names `path`. */
void write_sealed_tables(int fd, const NodeFileHeader &header,
                         const std::vector<Extent> &extents, const FileSeal &seal,
                         const TableMemory &tables, const std::string &path);

/* Reads them back; the extents are in order and inside the file. Throws Error, also if
 * anything is not what was sealed, extents and header included. */
TableMemory read_sealed_tables(int fd, const NodeFileHeader &header,
                               const std::vector<Extent> &extents, const FileSeal &seal,
                               const std::string &path);

} // namespace ckpt
