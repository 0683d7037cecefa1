/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_file_layout.hpp - names and types inside a node file, and its header.
 *
 * docs/format.md documents the format. The writer and the reader share this
 * file.
 */
#pragma once

#include "image/seal/file_seal.hpp"
#include "image/hdf5/hdf5_support.hpp"
#include "image/model/rank_image.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt
{

/* A file gets the lowest version that supports all of its content. */
inline constexpr unsigned first_node_file_version = 1;
inline constexpr unsigned message_log_version = 2; /* message logs */
inline constexpr unsigned lz4_version = 3;         /* chunks in LZ4 */
inline constexpr unsigned packed_version = 4;      /* ranks with page runs */
inline constexpr unsigned shared_version = 5;      /* shared pages */
inline constexpr unsigned sealed_version = 6;      /* encrypted with a key */
inline constexpr unsigned node_file_version = sealed_version;

/* The header fills the start of HDF5's user block, at the start of the file. */
inline constexpr std::size_t header_size = 512;

/* Maximum length, in bytes, of the checkpoint's name in the header. */
inline constexpr std::size_t longest_owner = 255;

/* A range of the file that holds only stored chunks. */
struct Extent {
    std::uint64_t offset;
    std::uint64_t length;
};

/* The fields of the header. The table of extents is at the end of the file.
 * `checksum` is XXH3-64 of all bytes that are neither in the header nor in an
 * extent. */
struct NodeFileHeader {
    unsigned version = first_node_file_version;
    std::uint64_t bytes = 0; /* of the whole file */
    std::uint64_t extent_count = 0;
    std::uint64_t checksum = 0;
    /* Of a sealed file only (docs/encryption.md). */
    std::uint64_t seal_count = 0;
    std::string key;   /* name of the key */
    std::string salt;  /* 64 hexadecimal digits */
    std::string owner; /* the checkpoint: JOB/NUMBER */

    bool is_sealed() const { return version >= sealed_version; }
    std::uint64_t extents_offset() const
    {
        return bytes - extent_count * sizeof(Extent);
    }
    std::uint64_t seals_offset() const
    {
        return extents_offset() - seal_count * FileSeal::overhead;
    }
    /* Returns header_size bytes of text, padded with NUL. */
    std::string text() const;
    /* Throws Error, with `path` in its text, unless `text` is a complete header
     * of a known version. */
    static NodeFileHeader parse(std::string_view text, const std::string &path);
};

/* Sorts extents and merges adjacent ones. */
void merge_extents(std::vector<Extent> &extents);

/* Returns the XXH3-64 of the file's bytes from the end of the header up to
 * offset `bytes`, without those in extents. Throws Error naming `path`. */
std::uint64_t checksum_outside(int fd, std::uint64_t bytes,
                               const std::vector<Extent> &extents,
                               const std::string &path);

/* Names of the root group's attributes, and of the members of a rank's
 * group. */
namespace node_file_names
{
inline constexpr const char *format = "format";
inline constexpr const char *software = "software";
inline constexpr const char *host = "host";
inline constexpr const char *codec = "codec";
inline constexpr const char *chunk_size = "chunk_size";
inline constexpr const char *ranks = "ranks";
inline constexpr const char *identity = "identity";           /* optional */
inline constexpr const char *base = "base";                   /* optional */
inline constexpr const char *base_identity = "base_identity"; /* with base */
inline constexpr const char *snapshot = "snapshot";
inline constexpr const char *regions = "regions";
inline constexpr const char *threads = "threads";
inline constexpr const char *files = "files";
inline constexpr const char *strings = "strings";
inline constexpr const char *summary = "summary";
inline constexpr const char *references = "references";
inline constexpr const char *chunks = "chunks";
inline constexpr const char *memory = "memory";
inline constexpr const char *page_runs = "page_runs";
inline constexpr const char *pages = "pages";
inline constexpr const char *shared_runs = "shared_runs";
inline constexpr const char *message_log = "message_log";
/* Suffix of a byte stream's name: the table of its chunks. */
inline constexpr const char *stream_chunks = "_chunks";
/* Attributes of message_log. */
inline constexpr const char *messages = "messages";
inline constexpr const char *bytes = "bytes";

std::string rank_group(int rank);                      /* "rank3" */
std::string memory_dataset(const ckpt_region &region); /* "7f0012340000" */
} // namespace node_file_names

/* Returns the compound type with the fields of T; the caller holds a
 * Hdf5Lock. */
template <typename T>
Hdf5Id make_record_type();
template <>
Hdf5Id make_record_type<ckpt_snapshot>();
template <>
Hdf5Id make_record_type<ckpt_region>();
template <>
Hdf5Id make_record_type<ckpt_thread>();
template <>
Hdf5Id make_record_type<ckpt_file>();
template <>
Hdf5Id make_record_type<FileReference>();
template <>
Hdf5Id make_record_type<ChunkRecord>();
template <>
Hdf5Id make_record_type<PageRun>();

} // namespace ckpt
