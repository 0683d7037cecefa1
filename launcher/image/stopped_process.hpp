/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stopped_process.hpp - what a stopped process says about itself, read from
 * outside.
 */
#pragma once

#include "image/change_tracker.hpp"
#include "image/frozen_copy.hpp"
#include "image/rank_image.hpp"
#include "image/remote_memory.hpp"
#include "image/write_protection.hpp"

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

namespace ckpt
{

struct StoppedProcess {
    pid_t pid;
    std::uint64_t snapshot; /* address of its ckpt_snapshot */
    std::shared_ptr<const FrozenCopy> copy = nullptr; /* to be read in its place */
    std::string why_no_copy = {}; /* if one was asked for */
    /* Of it, and nothing is protected yet: it is saved while it goes on. */
    std::shared_ptr<WriteProtection> protection = nullptr;
    /* To be marked; null: they are not wanted. */
    std::shared_ptr<ChangeTracker> changes = nullptr;
};

/* Copies the process's struct ckpt_snapshot at `address` and all that it points
 * to. Throws Error, its text beginning with `whose`, unless all of it is sane.
 */
RankImage read_description(const RemoteMemory &memory, std::uint64_t address,
                           const std::string &whose);

/*
 * After all has been read: throws unless the snapshot is still there. The page
 * map of a process that has ended looks empty, so only one that is still there,
 * and still stopped, was saved.
 */
void require_unchanged(const RemoteMemory &memory, std::uint64_t address,
                       const ckpt_snapshot &snapshot, const std::string &whose);

} // namespace ckpt
