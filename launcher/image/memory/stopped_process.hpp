/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stopped_process.hpp - reads the description that a stopped process has left in
 * its memory.
 */
#pragma once

#include "image/memory/change_tracker.hpp"
#include "image/memory/frozen_copy.hpp"
#include "image/model/rank_image.hpp"
#include "image/memory/remote_memory.hpp"
#include "image/memory/write_protection.hpp"

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

namespace ckpt
{

struct StoppedProcess {
    pid_t pid;
    /* address of its ckpt_snapshot in the process */
    std::uint64_t snapshot;
    std::shared_ptr<const FrozenCopy> copy = nullptr; /* read instead; or null */
    std::string why_no_copy = {};                     /* if it was requested */
    /* For cll: protects this process, which resumes while it is saved. Nothing is
     * protected yet. */
    std::shared_ptr<WriteProtection> protection = nullptr;
    /* Tracks changes; marked during the capture. Null: changes are not needed. */
    std::shared_ptr<ChangeTracker> changes = nullptr;
};

/* Copies the process's struct ckpt_snapshot at `address` and everything that it
 * points to. Throws Error, its text beginning with `whose`, if any of it is
 * invalid. */
RankImage read_description(const RemoteMemory &memory, std::uint64_t address,
                           const std::string &whose);

/*
 * Throws unless the snapshot is still there; called after all memory has been
 * read. The page map of an ended process looks empty, so this proves that the
 * process still existed, and was stopped, when it was read.
 */
void require_unchanged(const RemoteMemory &memory, std::uint64_t address,
                       const ckpt_snapshot &snapshot, const std::string &whose);

} // namespace ckpt
