/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stopped_process.cpp - reads the description that a stopped process has left
 * in its memory.
 */
#include "config.h"
#include "image/memory/stopped_process.hpp"

#include "common/error.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace ckpt
{

RankImage read_description(const RemoteMemory &memory, std::uint64_t address,
                           const std::string &whose)
{
    RankImage image;
    image.snapshot = memory.read_object<ckpt_snapshot>(address);
    const ckpt_snapshot &snapshot = image.snapshot;
    require_sane_snapshot(snapshot, whose);
    image.regions =
        memory.read_array<ckpt_region>(snapshot.regions, snapshot.region_count);
    image.threads =
        memory.read_array<ckpt_thread>(snapshot.threads, snapshot.thread_count);
    image.files =
        memory.read_array<ckpt_file>(snapshot.files, snapshot.file_count);
    image.strings =
        memory.read_array<char>(snapshot.strings, snapshot.strings_size);
    std::vector<char> summary =
        memory.read_array<char>(snapshot.summary, snapshot.summary_size);
    image.summary.assign(summary.begin(), std::ranges::find(summary, '\0'));
    require_sane_image(image, whose);
    return image;
}

void require_unchanged(const RemoteMemory &memory, std::uint64_t address,
                       const ckpt_snapshot &snapshot, const std::string &whose)
{
    auto now = memory.read_object<ckpt_snapshot>(address);
    if (std::memcmp(&now, &snapshot, sizeof(now)) != 0) {
        refuse(CKPT_REFUSAL_UNREADABLE_RANK, "{} went on while it was being saved", whose);
    }
}

} // namespace ckpt
