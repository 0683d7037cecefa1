/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drop.cpp - drops records at the starts of logs, and the files that these records
 * keep.
 */
#include "config.h"
#include "journal/drop.hpp"

#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/files/files.hpp"
#include "common/host.hpp"
#include "common/invariant.hpp"
#include "common/processes.hpp"
#include "journal/concealed.hpp"
#include "journal/file_change.hpp"
#include "journal/removal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace ckpt::journal
{

namespace fs = std::filesystem;

namespace
{

constexpr std::uint64_t block = 4096; /* the first has the BEGIN record */

/* Returns, for each log, how many of its first records were made before the
 * checkpoint. */
std::vector<std::size_t> unneeded_records(const Journal &journal,
                                          const std::vector<MarkPlace> &marks)
{
    const Thresholds thresholds(journal, marks);
    std::vector<std::size_t> counts;

    for (const Log &log : journal.logs) {
        const std::uint64_t above = thresholds.of(log);
        const auto needed = std::ranges::find_if(
            log.records, [&](const Record &record) { return record.head.order > above; });
        counts.push_back(static_cast<std::size_t>(needed - log.records.begin()));
    }
    CKPT_INVARIANT(counts.size() == journal.logs.size());
    for (const MarkPlace &mark : marks) {
        CKPT_EXPECT(mark.log < counts.size() && mark.next > 0);
        counts[mark.log] = mark.next - 1; /* the mark itself stays */
    }
    return counts;
}

bool has_changes(const Journal &journal, const std::vector<std::size_t> &counts)
{
    for (std::size_t i = 0; i < counts.size(); i++) {
        const auto &records = journal.logs[i].records;
        if (std::any_of(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(counts[i]),
                        [](const Record &record) {
                            return record.is_change() || record.is_product();
                        })) {
            return true;
        }
    }
    return false;
}

/* Returns the space to the file system, if that is supported. */
void punch_hole(const Log &log, std::uint64_t end)
{
    const std::uint64_t last = end / block * block;

    if (last > block) {
        const Fd fd = open_file(log.path, O_WRONLY | O_NOFOLLOW, 0, "file journal");
        (void)::fallocate(fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                          static_cast<off_t>(block), static_cast<off_t>(last - block));
    }
}

/* Whether it is certain that no process appends to the log any more, neither its own
 * nor a child that has it open. */
bool has_ended(const Log &log)
{
    return log.host == host_name() && log.process > 0 && !is_running(log.process) &&
           is_open_nowhere(log.path);
}

} // namespace

void drop_before(const fs::path &directory, std::uint64_t checkpoint)
{
    if (!path_exists(directory)) {
        return;
    }
    /* Records of changes that are not revealed yet are needed. */
    if (is_concealed(directory)) {
        checkpoint = std::min(checkpoint, Revealed::load(directory).checkpoint);
    }
    const Fd lock = lock_records(directory, LOCK_EX | LOCK_NB);
    if (!lock) {
        return; /* a restart is rolling files back */
    }
    const Journal journal = Journal::read(directory, Depth::headers);
    const auto marks = find_marks(journal, checkpoint);
    if (marks.empty() || checkpoint <= journal.dropped.checkpoint ||
        (journal.redo && journal.redo->state != RedoRecord::State::finished)) {
        return;
    }
    const auto counts = unneeded_records(journal, marks);
    if (!has_changes(journal, counts)) {
        return; /* files can still be rolled back to older checkpoints */
    }
    Dropped dropped;
    dropped.checkpoint = checkpoint;
    dropped.order = journal.dropped.order;
    for (std::size_t i = 0; i < journal.logs.size(); i++) {
        const Log &log = journal.logs[i];
        CKPT_INVARIANT(counts[i] <= log.records.size());
        const auto before = journal.dropped.offsets.find(log.path.filename());
        std::uint64_t end = before == journal.dropped.offsets.end() ? 0 : before->second;
        for (std::size_t k = 0; k < counts[i]; k++) {
            remove_kept(journal, log.records[k]);
            fault_kill("drop-before-note");
            end = log.records[k].end();
            if (log.records[k].is_change()) {
                dropped.order = std::max(dropped.order, log.records[k].head.order);
            }
        }
        if (end != 0) {
            dropped.offsets[log.path.filename()] = end;
        }
    }
    CKPT_INVARIANT(dropped.order >= journal.dropped.order);
    dropped.write(directory);
    fault_kill("drop-after-note");
    for (std::size_t i = 0; i < journal.logs.size(); i++) {
        const Log &log = journal.logs[i];
        if (counts[i] == log.records.size() && has_ended(log)) {
            (void)::unlink(log.path.c_str()); /* all of its records are unneeded */
        } else if (counts[i] > 0) {
            punch_hole(log, dropped.offsets[log.path.filename()]);
        }
    }
}

void forget(const fs::path &directory)
{
    if (!path_exists(directory)) {
        return;
    }
    const Journal journal = Journal::read(directory, Depth::headers);
    for (const Log &log : journal.logs) {
        for (const Record &record : log.records) {
            remove_kept(journal, record);
        }
        if (::unlink(log.path.c_str()) < 0 && errno != ENOENT) {
            fail_errno(errno, "cannot remove file journal {}", log.path.string());
        }
    }
    std::vector<std::string> names = {"dropped", "rollback", "revealed", CKPT_JOURNAL_CONCEALED};
    for (const auto &[host, clock] : journal.clocks) {
        names.push_back("clock." + host);
    }
    for (const std::string &name : names) {
        if (::unlink((directory / name).c_str()) < 0 && errno != ENOENT) {
            fail_errno(errno, "cannot remove {}", (directory / name).string());
        }
    }
    (void)::rmdir((directory / "kept").c_str()); /* fails if it has other content */
    (void)::rmdir(directory.c_str());
}

} // namespace ckpt::journal
