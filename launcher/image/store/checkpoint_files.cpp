/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint_files.cpp - removes files of a checkpoint from its directory.
 */
#include "config.h"
#include "image/store/checkpoint_files.hpp"

#include "common/files/directory.hpp"
#include "common/error.hpp"
#include "common/fault_injection.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace ckpt
{

namespace fs = std::filesystem;

namespace
{

/* Directory levels below the directory that the user has named, which may be a symbolic
 * link. */
constexpr unsigned job_and_checkpoint = 2;

} // namespace

std::vector<std::string> remove_checkpoint_files(const fs::path &path)
{
    std::vector<std::string> stays;

    try {
        const Directory directory(path, job_and_checkpoint);
        if (directory.has_file(manifest_name)) {
            directory.remove_file(manifest_name);
            directory.sync();
            fault_kill("remove-after-manifest");
        }
        for (const std::string &name : directory.names()) {
            const Directory::Entry entry = directory.entry(name);
            if (is_checkpoint_file(name) && entry == Directory::Entry::own_file) {
                directory.remove_file(name);
            } else if (entry != Directory::Entry::none) { /* else: gone */
                stays.push_back(name);
            }
        }
    } catch (const Error &error) {
        if (error.code() != ENOENT) {
            throw;
        }
    }
    if (stays.empty() && ::rmdir(path.c_str()) < 0 && errno != ENOENT) {
        fail_errno(errno, "cannot remove directory {}", path.string());
    }
    return stays;
}

void remove_files_without_use(const fs::path &path, const Manifest &manifest)
{
    const Directory directory(path, job_and_checkpoint);

    for (const std::string &name : directory.names()) {
        const bool is_used =
            name == manifest_name || name == trace_name ||
            std::ranges::any_of(manifest.pieces,
                                [&](const Piece &piece) { return piece.file == name; });
        if (!is_used && is_checkpoint_file(name) && directory.has_file(name)) {
            directory.remove_file(name);
        }
    }
}

} // namespace ckpt
