/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * image_view.cpp - converts the numbers in an image to names.
 */
#include "cli/jobs/image_view.hpp"

#include "common/durations.hpp"
#include "common/invariant.hpp"

#include "ckpt/input.h"

#include <fmt/format.h>

#include <cstring>

#include <sys/mman.h>

namespace ckpt::cli
{

namespace
{

const char *region_kind(std::uint32_t kind)
{
    switch (kind) {
    case CKPT_REGION_ANONYMOUS:
        return "anonymous";
    case CKPT_REGION_STACK:
        return "stack";
    case CKPT_REGION_HEAP:
        return "heap";
    case CKPT_REGION_FILE:
        return "file";
    case CKPT_REGION_FILE_SHARED:
        return "file-shared";
    case CKPT_REGION_SHARED:
        return "shared";
    case CKPT_REGION_SHARED_ELSEWHERE:
        return "shared-elsewhere";
    case CKPT_REGION_VDSO:
        return "vdso";
    case CKPT_REGION_FILE_CONTENT:
        return "file-content";
    default:
        return "unknown";
    }
}

const char *file_kind(std::uint32_t kind)
{
    switch (kind) {
    case CKPT_FILE_STREAM:
        return "stream";
    case CKPT_FILE_REGULAR:
        return "regular";
    case CKPT_FILE_PIPE:
        return "pipe";
    case CKPT_FILE_EVENTFD:
        return "eventfd";
    case CKPT_FILE_DEVICE:
        return "device";
    case CKPT_FILE_DIRECTORY:
        return "directory";
    case CKPT_FILE_UNNAMED:
        return "deleted";
    case CKPT_FILE_MEMFD:
        return "memfd";
    case CKPT_FILE_EPOLL:
        return "epoll";
    case CKPT_FILE_SOCKET:
        return "socket";
    case CKPT_FILE_INOTIFY:
        return "inotify";
    case CKPT_FILE_SIGNALFD:
        return "signalfd";
    case CKPT_FILE_TIMERFD:
        return "timerfd";
    case CKPT_FILE_PROCESS:
        return "process";
    default:
        return "unknown";
    }
}

std::string protection_text(std::uint32_t protection)
{
    return {(protection & PROT_READ) != 0 ? 'r' : '-',
            (protection & PROT_WRITE) != 0 ? 'w' : '-',
            (protection & PROT_EXEC) != 0 ? 'x' : '-'};
}

Json view_of_region(const RankImage &image, std::size_t index,
                    std::uint64_t stored)
{
    CKPT_EXPECT(index < image.regions.size());
    const ckpt_region &region = image.regions[index];
    Json json = {{"start", fmt::format("{:#x}", region.start)},
                 {"end", fmt::format("{:#x}", region.end)},
                 {"bytes", region.end - region.start},
                 {"protection", protection_text(region.protection)},
                 {"kind", region_kind(region.kind)},
                 {"stored", stored}};
    if (image.reference(index) != nullptr) {
        json["by_reference"] = true;
    }
    if (region.path != 0) {
        json["path"] = image.text(region.path);
    }
    return json;
}

Json view_of_regions(const RankImage &image, std::uint64_t chunk_size)
{
    const std::vector<std::uint64_t> stored = stored_bytes(image, chunk_size);
    CKPT_INVARIANT(stored.size() == image.regions.size());
    Json list = Json::array();
    for (std::size_t i = 0; i < image.regions.size(); i++) {
        list.push_back(view_of_region(image, i, stored[i]));
    }
    return list;
}

Json view_of_threads(const RankImage &image)
{
    Json list = Json::array();
    for (const ckpt_thread &thread : image.threads) {
        std::string name(thread.name,
                         strnlen(thread.name, sizeof(thread.name)));
        list.push_back({{"tid", thread.tid}, {"name", name}});
    }
    return list;
}

Json view_of_files(const RankImage &image)
{
    Json list = Json::array();
    for (const ckpt_file &file : image.files) {
        Json json = {{"descriptor", file.descriptor},
                     {"kind", file_kind(file.kind)},
                     {"path", image.text(file.path)},
                     {"offset", file.offset},
                     {"flags", fmt::format("{:#o}", file.status_flags)}};
        if (file.kind == CKPT_FILE_STREAM && (file.value & CKPT_INPUT_SAVED) != 0) {
            json["unread"] = file.payload_size;
            json["ended"] = (file.value & CKPT_INPUT_ENDED) != 0;
            json["kept"] = (file.value & CKPT_INPUT_KEPT) != 0;
        }
        if (file.same_as >= 0) {
            json["same_as"] = file.same_as;
        }
        list.push_back(json);
    }
    return list;
}

Json view_of_timings(const Timings &timings)
{
    return {{"request_to_stop", timings.request_to_stop},
            {"stop", timings.stop},
            {"drain", timings.drain},
            {"capture", timings.capture}};
}

} // namespace

Json view_of_manifest(const Manifest &manifest)
{
    Json pieces = Json::array();
    for (const Piece &piece : manifest.pieces) {
        pieces.push_back({{"file", piece.file},
                          {"host", piece.host},
                          {"bytes", piece.bytes},
                          {"ranks", piece.ranks}});
    }
    return {{"job", manifest.job},
            {"number", manifest.number},
            {"created", format_time(manifest.created)},
            {"rank_count", manifest.rank_count},
            {"bytes", manifest.bytes()},
            {"codec", manifest.codec},
            {"snapshot", manifest.snapshot},
            {"standing", manifest.standing},
            {"software", manifest.software},
            {"launcher", manifest.launch.launcher},
            {"launcher_directory", manifest.launch.launcher_directory},
            {"application", manifest.launch.application},
            {"waiting_parent", manifest.launch.waiting_parent},
            {"environment", manifest.launch.environment},
            {"facts", manifest.launch.facts},
            {"timings", view_of_timings(manifest.timings)},
            {"pieces", pieces}};
}

Json view_of_rank(const RankImage &image)
{
    std::uint64_t memory = 0;
    std::uint64_t stored = 0;
    for (const ckpt_region &region : image.regions) {
        /* Regions of that kind have the content of files, which may have holes. */
        if (region.kind != CKPT_REGION_FILE_CONTENT) {
            memory += region.end - region.start;
        }
    }
    for (const ChunkRecord &chunk : image.chunks) {
        stored += chunk.size;
    }
    for (const ChunkRecord &chunk : image.pages.chunks) {
        stored += chunk.size;
    }
    for (const ChunkRecord &chunk : image.message_log.chunks) {
        stored += chunk.size;
    }
    const ckpt_snapshot &snapshot = image.snapshot;
    return {{"rank", snapshot.rank},
            {"pid", snapshot.pid},
            {"executable", image.text(snapshot.executable)},
            {"memory_bytes", memory},
            {"stored_bytes", stored},
            {"excluded_bytes", length_of(excluded_pages(image))},
            {"shared_bytes", length_of(shared_ranges(image))},
            {"region_count", image.regions.size()},
            {"thread_count", image.threads.size() + 1},
            {"file_count", image.files.size()},
            {"logged_messages", image.message_log.messages},
            {"logged_bytes", image.message_log.bytes}};
}

Json detailed_view_of_rank(const RankImage &image, std::uint64_t chunk_size)
{
    Json json = view_of_rank(image);
    json["working_directory"] = image.text(image.snapshot.working_directory);
    json["umask"] = fmt::format("{:04o}", image.snapshot.umask);
    json["regions"] = view_of_regions(image, chunk_size);
    json["other_threads"] = view_of_threads(image);
    json["files"] = view_of_files(image);
    Json mpi = Json::parse(image.summary, nullptr, false);
    json["mpi"] = mpi.is_discarded() ? Json(image.summary) : mpi;
    return json;
}

} // namespace ckpt::cli
