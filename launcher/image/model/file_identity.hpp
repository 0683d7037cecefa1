/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_identity.hpp - how the image refers to a file that it does not contain.
 *
 * A mapping of an unchanged file (program text, libraries) is saved by
 * reference: size, modification time, and checksum of the mapped bytes.
 */
#pragma once

#include "ckpt/snapshot.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

namespace ckpt
{

struct FileReference {
    std::uint64_t size = 0;     /* st_size */
    std::int64_t mtime_ns = 0;  /* st_mtim */
    std::uint64_t checksum = 0; /* XXH3-64 of the mapped bytes of the file */
    std::uint32_t region = 0;   /* index in the rank's regions */
    std::uint32_t reserved = 0;
};

/* Returns false if the file has been deleted or replaced since it was mapped,
 * for example by an upgrade. Then only its content in memory can be saved. */
bool leads_to_mapped_file(const ckpt_region &region, const std::string &path);

/* Caches checksums by (device, inode, size, mtime, offset, length), so that an
 * agent reads each file only once. Thread-safe. */
class FileIdentities
{
  public:
    /* Describes the file at `path` that `region` maps; the caller fills in
     * `region` of the result. Throws Error if the file cannot be read or
     * changes meanwhile. */
    FileReference describe(const ckpt_region &region, const std::string &path);

  private:
    using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t,
                           std::int64_t, std::uint64_t, std::uint64_t>;

    std::mutex mutex_;
    std::map<Key, std::uint64_t> checksums_;
};

/* At restart: throws Error, naming the file and the difference, unless the file
 * at `path` has the mapped bytes that `reference` describes. If size and
 * modification time match, the bytes are not read. */
void require_same_file(const std::string &path, const ckpt_region &region,
                       const FileReference &reference);

} // namespace ckpt
