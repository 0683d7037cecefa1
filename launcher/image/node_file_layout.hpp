/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_file_layout.hpp - names and types inside a node file, and its header.
 *
 * docs/format.md describes the same for people. Writer and reader share it.
 */
#pragma once

#include "image/file_seal.hpp"
#include "image/hdf5_support.hpp"
#include "image/rank_image.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt
{

/* A file has the lowest version that knows all that is in it. */
inline constexpr unsigned first_node_file_version = 1;
inline constexpr unsigned message_log_version = 2; /* message logs */
inline constexpr unsigned lz4_version = 3;         /* chunks in LZ4 */
inline constexpr unsigned packed_version = 4;      /* ranks with page runs */
inline constexpr unsigned shared_version = 5;      /* shared pages */
inline constexpr unsigned sealed_version = 6;  /* encrypted with a key */
inline constexpr unsigned node_file_version = sealed_version;

/* The header fills HDF5's user block, the first bytes of the file. */
inline constexpr std::size_t header_size = 512;

/* Bytes of the name of a checkpoint that fit into it. */
inline constexpr std::size_t longest_owner = 255;

/* Bytes that hold stored chunks and nothing else. */
struct Extent {
    std::uint64_t offset;
    std::uint64_t length;
};

/* What the header says: the extents' table is the end of the file; checksum
 * is XXH3-64 of all bytes that are neither header nor in an extent. */
struct NodeFileHeader {
    unsigned version = first_node_file_version;
    std::uint64_t bytes = 0; /* of the whole file */
    std::uint64_t extent_count = 0;
    std::uint64_t checksum = 0;
    /* Of a sealed file only (docs/encryption.md). */
    std::uint64_t seal_count = 0;
    std::string key;   /* its name */
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
    /* header_size bytes of text, filled up with NUL. */
    std::string text() const;
    /* Throws Error with `path` in its text unless `text` is a whole header of
     * a version that we know. */
    static NodeFileHeader parse(std::string_view text, const std::string &path);
};

/* Sorts extents and joins neighbours. */
void merge_extents(std::vector<Extent> &extents);

/* XXH3-64 of the file's bytes from the header's end up to `bytes` that are in
 * no extent. Throws Error naming `path`. */
std::uint64_t checksum_outside(int fd, std::uint64_t bytes,
                               const std::vector<Extent> &extents,
                               const std::string &path);

/* Names of attributes of the root group, and of what a rank's group holds. */
namespace node_file_names
{
inline constexpr const char *format = "format";
inline constexpr const char *software = "software";
inline constexpr const char *host = "host";
inline constexpr const char *codec = "codec";
inline constexpr const char *chunk_size = "chunk_size";
inline constexpr const char *ranks = "ranks";
inline constexpr const char *identity = "identity";           /* if any */
inline constexpr const char *base = "base";                   /* if any */
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
/* Follows the name of a stream of bytes: the table of its chunks. */
inline constexpr const char *stream_chunks = "_chunks";
/* Attributes of message_log. */
inline constexpr const char *messages = "messages";
inline constexpr const char *bytes = "bytes";

std::string rank_group(int rank);                   /* "rank3" */
std::string memory_dataset(const ckpt_region &region); /* "7f0012340000" */
} // namespace node_file_names

/* The compound type that has the fields of T; caller holds a Hdf5Lock. */
template <typename T> Hdf5Id make_record_type();
template <> Hdf5Id make_record_type<ckpt_snapshot>();
template <> Hdf5Id make_record_type<ckpt_region>();
template <> Hdf5Id make_record_type<ckpt_thread>();
template <> Hdf5Id make_record_type<ckpt_file>();
template <> Hdf5Id make_record_type<FileReference>();
template <> Hdf5Id make_record_type<ChunkRecord>();
template <> Hdf5Id make_record_type<PageRun>();

} // namespace ckpt
