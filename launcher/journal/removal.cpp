/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * removal.cpp - removes records and kept files, one by one.
 */
#include "config.h"
#include "journal/removal.hpp"

#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/files/files.hpp"
#include "common/files/temporary_name.hpp"
#include "common/invariant.hpp"
#include "journal/file_change.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace ckpt::journal
{

namespace fs = std::filesystem;

namespace
{

void cut_log(const Log &log, std::uint64_t size)
{
    const Fd fd = open_file(log.path, O_WRONLY | O_NOFOLLOW, 0, "file journal");

    if (::ftruncate(fd.get(), static_cast<off_t>(size)) < 0 || ::fsync(fd.get()) < 0) {
        fail_errno(errno, "cannot cut file journal {}", log.path.string());
    }
}

void remove_log(const Log &log)
{
    if (::unlink(log.path.c_str()) < 0 && errno != ENOENT) {
        fail_errno(errno, "cannot remove file journal {}", log.path.string());
    }
}

void append_part(const Log &log, int from, int to, std::uint64_t begin, std::uint64_t end,
                 std::uint64_t &size)
{
    CKPT_EXPECT(begin <= end);
    const auto buffer = std::make_unique<char[]>(end - begin);
    int error = read_exactly(from, buffer.get(), end - begin, begin);

    if (error == 0) {
        error = write_exactly(to, buffer.get(), end - begin, size);
    }
    if (error != 0) {
        fail_errno(error, "cannot write file journal {}", log.path.string());
    }
    size += end - begin;
}

/* Writes the remaining records to a log with another name. Notes refer to positions
 * in the old log, so that stays complete until it is removed. */
void rewrite_log(const Log &log, const std::vector<bool> &consumed)
{
    const fs::path target = log.path.parent_path() / (log.path.stem().string() + "+.log");
    const fs::path temporary = temporary_name(target);
    const Fd from = open_file(log.path, O_RDONLY | O_NOFOLLOW, 0, "file journal");
    const Fd to = open_file(temporary, O_WRONLY | O_CREAT | O_EXCL, 0600, "file journal");
    ckpt_journal_record begin = {};
    std::uint64_t size = 0;

    int error = read_exactly(from.get(), &begin, sizeof begin, 0);
    if (error == 0 && begin.type == CKPT_JOURNAL_BEGIN) {
        append_part(log, from.get(), to.get(), 0, begin.length, size);
    }
    for (std::size_t i = 0; i < consumed.size(); i++) {
        if (!consumed[i]) {
            const Record &record = log.records[i];
            append_part(log, from.get(), to.get(), record.offset, record.end(), size);
        }
    }
    if (::fsync(to.get()) < 0 || ::rename(temporary.c_str(), target.c_str()) < 0) {
        fail_errno(errno, "cannot write file journal {}", target.string());
    }
    sync_directory(log.path.parent_path());
    remove_log(log);
}

void remove_from_log(const Log &log, const std::vector<bool> &consumed)
{
    CKPT_EXPECT(consumed.size() == log.records.size());
    const auto first = std::ranges::find(consumed, true);

    if (std::ranges::find(consumed, false) == consumed.end()) {
        remove_log(log);
    } else if (first == consumed.end()) {
        cut_log(log, log.size);
    } else if (std::find(first, consumed.end(), false) == consumed.end()) {
        cut_log(log, log.records[static_cast<std::size_t>(first - consumed.begin())].offset);
    } else {
        rewrite_log(log, consumed);
    }
}

} // namespace

void remove_kept(const Journal &journal, const Record &record)
{
    const fs::path path = journal.kept_file(record);
    const auto status = record.keeps_file() ? status_of(path) : std::nullopt;

    if (!status || !S_ISREG(status->st_mode) || !is_kept_name(path)) {
        return;
    }
    if (::unlink(path.c_str()) < 0 && errno != ENOENT) {
        fail_errno(errno, "cannot remove kept file {}", path.string());
    }
    const fs::path directory = path.parent_path();
    if (directory.filename().string().starts_with(CKPT_JOURNAL_KEPT_PREFIX)) {
        (void)::rmdir(directory.c_str()); /* fails if it has other files */
    }
}

void remove_consumed(const Journal &journal, const Plan &plan)
{
    CKPT_EXPECT(plan.consumed.size() == journal.logs.size());
    for (std::size_t i = 0; i < journal.logs.size(); i++) {
        const Log &log = journal.logs[i];
        for (std::size_t k = 0; k < log.records.size(); k++) {
            if (plan.consumed[i][k]) {
                remove_kept(journal, log.records[k]);
                fault_kill("rollback-during-removal");
            }
        }
        remove_from_log(log, plan.consumed[i]);
        fault_kill("rollback-during-removal");
    }
}

} // namespace ckpt::journal
