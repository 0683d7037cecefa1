/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal.cpp - reads the logs, clocks and notes of a journal directory.
 */
#include "config.h"
#include "journal/journal.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

namespace ckpt::journal
{

namespace fs = std::filesystem;

namespace
{

constexpr std::string_view clock_prefix = "clock.";
constexpr const char *kept_directory = "kept";

std::vector<std::string> sorted_names(const fs::path &directory)
{
    std::vector<std::string> names;
    std::error_code error;

    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        names.push_back(entry->path().filename());
    }
    if (error) {
        fail_errno(error.value(), "cannot list file journal {}", directory.string());
    }
    std::ranges::sort(names);
    return names;
}

/* A clock file that was just created may be empty. */
ckpt_journal_clock read_clock(const fs::path &path)
{
    const std::string bytes = read_own_text_file(path, "clock of the file journal");
    ckpt_journal_clock clock = {};

    if (bytes.size() >= sizeof clock) {
        std::memcpy(&clock, bytes.data(), sizeof clock);
    }
    if (clock.magic == 0) {
        return {};
    }
    if (clock.magic != CKPT_JOURNAL_MAGIC || clock.version != CKPT_JOURNAL_VERSION) {
        fail("{} is not a clock of version {} of the file journal", path.string(),
             CKPT_JOURNAL_VERSION);
    }
    return clock;
}

} // namespace

Journal Journal::read(const fs::path &directory, Depth depth)
{
    Journal journal;

    journal.directory = directory;
    if (!path_exists(directory)) {
        return journal;
    }
    require_own(directory, "file journal");
    journal.dropped = Dropped::load(directory);
    journal.redo = RedoRecord::load(directory);
    for (const std::string &name : sorted_names(directory)) {
        if (name.starts_with(clock_prefix)) {
            journal.clocks[name.substr(clock_prefix.size())] = read_clock(directory / name);
        } else if (is_log_name(name)) {
            const auto from = journal.dropped.offsets.find(name);
            Log log = read_log(directory / name,
                               from == journal.dropped.offsets.end() ? 0 : from->second, depth);
            for (Record &record : log.records) {
                record.log = journal.logs.size();
            }
            journal.logs.push_back(std::move(log));
        }
    }
    return journal;
}

std::uint64_t Journal::last_order() const
{
    std::uint64_t last = 0;

    for (const auto &[host, clock] : clocks) {
        last = std::max(last, clock.last);
    }
    for (const Log &log : logs) {
        last = std::max(last, log.begin);
        for (const Record &record : log.records) {
            last = std::max(last, record.head.order);
        }
    }
    return last;
}

std::uint64_t Journal::greatest_mark() const
{
    std::uint64_t greatest = dropped.checkpoint;

    if (redo) {
        greatest = std::max({greatest, redo->checkpoint, redo->base_checkpoint});
    }
    for (const Log &log : logs) {
        for (const Record &record : log.records) {
            if (record.type() == CKPT_JOURNAL_MARK) {
                greatest = std::max(greatest, record.head.value);
            }
        }
    }
    return greatest;
}

fs::path Journal::kept_file(const Record &record) const
{
    const fs::path path = record.other;
    const fs::path here = directory / kept_directory / path.filename();
    struct stat status;

    if (path.parent_path().filename() == kept_directory &&
        ::lstat(path.c_str(), &status) < 0 && ::lstat(here.c_str(), &status) == 0) {
        return here;
    }
    return path;
}

Fd lock_records(const fs::path &directory, int how)
{
    Fd fd = open_file(directory / kept_directory, O_RDONLY | O_DIRECTORY, 0, "file journal");
    int result;

    do {
        result = ::flock(fd.get(), how);
    } while (result < 0 && errno == EINTR);
    return result < 0 && errno == EWOULDBLOCK ? Fd() : std::move(fd);
}

bool is_kept_name(const fs::path &path)
{
    const std::string parent = path.parent_path().filename();

    return path.has_filename() && path.filename() != "." && path.filename() != ".." &&
           (parent == kept_directory || parent.starts_with(CKPT_JOURNAL_KEPT_PREFIX));
}

} // namespace ckpt::journal
