/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_directory.cpp - the mark file that identifies a job's directory as one of ckpt.
 */
#include "config.h"
#include "image/store/job_directory.hpp"

#include "common/files/directory.hpp"
#include "common/error.hpp"
#include "common/files/files.hpp"
#include "image/store/checkpoint_files.hpp"
#include "image/store/manifest.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

namespace ckpt
{

namespace fs = std::filesystem;

namespace
{

constexpr const char *mark_text =
    "This directory holds checkpoints of one job. ckpt has made it, and removes in it what\n"
    "has the names of its own files (ckpt gc). Without this file it removes nothing.\n";

/* Whether the directory is empty, apart from marks that other processes are writing. */
bool is_empty(const Directory &directory)
{
    return std::ranges::all_of(directory.names(), [](const std::string &name) {
        return name.starts_with(job_mark_name);
    });
}

/* A copied job directory may lack the mark. */
bool holds_checkpoint(const fs::path &path, const Directory &directory)
{
    return std::ranges::any_of(directory.names(), [&](const std::string &name) {
        if (!checkpoint_number(name)) {
            return false;
        }
        try {
            return Manifest::load(path / name).job == path.filename();
        } catch (const Error &) {
            return false;
        }
    });
}

void adopt(const fs::path &path)
{
    const Directory directory(path);

    if (directory.has_file(job_mark_name)) {
        return;
    }
    if (!is_empty(directory) && !holds_checkpoint(path, directory)) {
        fail("{} holds files that are not of ckpt: give the job another name (--name), or its "
             "checkpoints another directory",
             path.string());
    }
    write_text_file_atomically(path / job_mark_name, mark_text, "mark of a job's directory");
}

} // namespace

bool is_job_directory(const fs::path &directory)
{
    constexpr std::array not_ours = {ENOENT, ENOTDIR, EPERM, EACCES};

    try {
        return Directory(directory).has_file(job_mark_name);
    } catch (const Error &error) {
        if (std::ranges::find(not_ours, error.code()) == not_ours.end()) {
            throw;
        }
        return false;
    }
}

void make_job_directory(const fs::path &directory)
{
    if (directory.has_parent_path() && !directory_exists(directory.parent_path())) {
        make_private_directory(directory.parent_path());
    }
    make_lasting_directory(directory);
    adopt(directory);
}

void make_checkpoint_directory(const fs::path &directory)
{
    make_job_directory(directory.parent_path());
    make_private_directory(directory);
}

void remove_job_directory_if_empty(const fs::path &path)
{
    if (!is_job_directory(path)) {
        return;
    }
    const Directory directory(path);
    if (is_empty(directory)) {
        /* Only the mark, complete or not. */
        for (const std::string &name : directory.names()) {
            directory.remove_file(name);
        }
        if (::rmdir(path.c_str()) < 0) {
            adopt(path);
        }
    }
}

} // namespace ckpt
