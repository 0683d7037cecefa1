/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * undo.cpp - carries out the steps of a rollback.
 *
 * Each step sets an object to its earlier state, whatever its current state. So steps can be
 * repeated, starting at the newest; the oldest step determines the result.
 */
#include "config.h"
#include "journal/undo.hpp"

#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "journal/concealed.hpp"
#include "journal/file_change.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

namespace ckpt::journal
{

namespace fs = std::filesystem;

namespace
{

constexpr const char *temporary_prefix = ".ckpt-undo-";
constexpr std::size_t buffer_size = 1u << 20;

Attributes attributes_of(const ckpt_journal_record &head)
{
    return {head.mode, head.owner, head.group, head.modified};
}

bool is_it(const std::optional<struct stat> &status, const ckpt_journal_record &head)
{
    return status && status->st_ino == head.inode;
}

std::string key_of(const Record &record)
{
    return fmt::format("{}:{}", record.head.device, record.head.inode);
}

fs::path temporary_beside(const fs::path &path, std::size_t i)
{
    return path.parent_path() / fmt::format("{}{}", temporary_prefix, i);
}

int make_symbolic_link(const Record &record, const char *path)
{
    return ::symlink(record.other.c_str(), path);
}

int make_special(const Record &record, const char *path)
{
    return ::mknod(path, record.head.mode, record.head.value);
}

/* Writes the data of the record from the log into the file. */
void write_data(const Journal &journal, const Record &record, int to)
{
    const ckpt_journal_record &head = record.head;
    const fs::path &log = journal.log_of(record).path;

    if (record.type() != CKPT_JOURNAL_DATA || head.data_size == 0) {
        return;
    }
    const Fd from = open_file(log, O_RDONLY | O_NOFOLLOW, 0, "file journal");
    const std::size_t size = std::min<std::uint64_t>(buffer_size, head.data_size);
    const auto buffer = std::make_unique<char[]>(size);
    for (std::uint64_t done = 0; done < head.data_size;) {
        const std::size_t part = std::min<std::uint64_t>(size, head.data_size - done);
        int error = read_exactly(from.get(), buffer.get(), part, record.data_offset() + done);
        if (error == 0) {
            error = write_exactly(to, buffer.get(), part, head.offset + done);
        }
        if (error != 0) {
            fail_errno(error, "cannot write {}", record.path);
        }
        done += part;
    }
}

} // namespace

void bring_back_content(const Journal &journal, const Record &record, int file)
{
    const ckpt_journal_record &head = record.head;
    struct stat status;

    if (record.type() == CKPT_JOURNAL_CONTENT) {
        copy_content(journal.kept_file(record), file, head.size);
        return;
    }
    if (::fstat(file, &status) < 0) {
        fail_errno(errno, "cannot look at {}", record.path);
    }
    write_data(journal, record, file);
    const bool has_to_grow = record.type() == CKPT_JOURNAL_DATA;
    if ((has_to_grow || static_cast<std::uint64_t>(status.st_size) > head.size) &&
        ::ftruncate(file, static_cast<off_t>(head.size)) < 0) {
        fail_errno(errno, "cannot set the size of {}", record.path);
    }
}

Undo::Undo(const Journal &journal, const Plan &plan)
    : journal_(journal), plan_(plan), kept_(journal)
{
    for (std::size_t i = 0; i < plan.steps.size(); i++) {
        const Record &record = *plan.steps[i];
        if (record.type() == CKPT_JOURNAL_FILE && record.has(CKPT_JOURNAL_IS_COPY)) {
            copies_.try_emplace({record.path, record.head.inode}, i);
        }
    }
}

void Undo::carry_out(RedoRecord &redo)
{
    CKPT_EXPECT(redo.from <= plan_.steps.size());
    remade_ = redo.remade;
    for (std::size_t i = redo.from; i < plan_.steps.size(); i++) {
        if (plan_.steps[i]->type() == CKPT_JOURNAL_MOVED) {
            sync();
            redo.from = i;
            redo.remade = remade_;
            redo.write(journal_.directory);
        }
        step(i);
        fault_kill("rollback-after-step");
    }
    set_times_of_directories();
    CKPT_INVARIANT(redo.from <= plan_.steps.size());
    sync();
}

void Undo::step(std::size_t i)
{
    const Record &record = *plan_.steps[i];

    switch (record.type()) {
    case CKPT_JOURNAL_MOVED:
        move_back(record);
        break;
    case CKPT_JOURNAL_ABSENT:
        remove_name(record.path);
        break;
    case CKPT_JOURNAL_SIZE:
    case CKPT_JOURNAL_DATA:
    case CKPT_JOURNAL_CONTENT:
        set_content(record, i);
        break;
    case CKPT_JOURNAL_ATTRIBUTES:
        if (const std::string path = object_of(record, i); !path.empty()) {
            set_attributes(path, attributes_of(record.head));
        }
        break;
    default:
        set_name(record, i);
        break;
    }
    note_file_system(record.path);
}

/* ---- Names ------------------------------------------------------------------------- */

void Undo::set_name(const Record &record, std::size_t i)
{
    const fs::path path = record.path;
    const fs::path temporary = temporary_beside(path, i);
    const auto status = status_of(path);

    if (record.type() == CKPT_JOURNAL_FILE) {
        if (!is_it(status, record.head) || !S_ISREG(status->st_mode) ||
            record.has(CKPT_JOURNAL_IS_COPY)) {
            link_kept(record, temporary);
        }
        note_remade(record);
        set_attributes(path, attributes_of(record.head));
    } else if (record.type() == CKPT_JOURNAL_DIRECTORY) {
        if (!status || !S_ISDIR(status->st_mode)) {
            remove_name(path);
            change_name(path, "make", [&] { return ::mkdir(path.c_str(), 0700); });
        }
        note_remade(record);
        set_attributes(path, attributes_of(record.head));
    } else {
        replace_name(path, temporary, [&](const char *name) {
            return record.type() == CKPT_JOURNAL_SYMLINK ? make_symbolic_link(record, name)
                                                         : make_special(record, name);
        });
        set_attributes(path, attributes_of(record.head));
    }
}

/* Uses a hard link, so that the file is the same inode; makes a copy if a link is
 * impossible. */
void Undo::link_kept(const Record &record, const fs::path &temporary)
{
    const fs::path kept = journal_.kept_file(record);

    replace_name(record.path, temporary, [&](const char *name) {
        if (!record.has(CKPT_JOURNAL_IS_COPY) &&
            ::linkat(AT_FDCWD, kept.c_str(), AT_FDCWD, name, 0) == 0) {
            return 0;
        }
        const int error = errno;
        if (!record.has(CKPT_JOURNAL_IS_COPY) && error != EPERM && error != EXDEV &&
            error != EMLINK) {
            return -1;
        }
        const Fd copy(::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (!copy) {
            return -1;
        }
        copy_content(kept, copy.get(), record.head.size);
        return 0;
    });
}

/* A removed directory, or a copied file, has a different inode when it is created again. */
void Undo::note_remade(const Record &record)
{
    const auto status = status_of(record.path);

    if (status && !is_it(status, record.head)) {
        remade_[key_of(record)] = status->st_ino;
    } else {
        remade_.erase(key_of(record));
    }
}

/* Whether the path names the directory or file of the record. */
bool Undo::names(const std::string &path, const Record &record) const
{
    const auto status = status_of(path);
    const auto remade = remade_.find(key_of(record));

    return remade == remade_.end() ? is_it(status, record.head)
                                   : status && status->st_ino == remade->second;
}

void Undo::move_back(const Record &record)
{
    if (names(record.path, record)) {
        return; /* the call did not take effect, or this is a repetition */
    }
    if (is_gone(record.path)) { /* a mark that the launcher made without a record */
        remove_name(record.path);
    }
    if (!names(record.other, record)) {
        fail("cannot rename {} back to {}: it is not there", record.other, record.path);
    }
    /* The other object, if it was new, may have been removed already. */
    const bool has_other = status_of(record.path).has_value();
    const unsigned flags =
        record.has(CKPT_JOURNAL_EXCHANGED) && has_other ? RENAME_EXCHANGE : 0;
    change_name(record.path, "rename back", [&] {
        return ::renameat2(AT_FDCWD, record.other.c_str(), AT_FDCWD, record.path.c_str(), flags);
    });
    note_file_system(record.other);
}

/* ---- Content ----------------------------------------------------------------------- */

/* Returns a name of the record's file; "" if an older step has already replaced the file, in a
 * repetition. */
std::string Undo::object_of(const Record &record, std::size_t i) const
{
    if (names(record.path, record)) {
        return record.path;
    }
    const auto copy = copies_.find({record.path, record.head.inode});
    if (copy != copies_.end() && copy->second < i) {
        return record.path;
    }
    for (const std::string &path : kept_.of_file(record)) {
        if (is_it(status_of(path), record.head)) {
            return path;
        }
    }
    return "";
}

void Undo::set_content(const Record &record, std::size_t i)
{
    const ckpt_journal_record &head = record.head;
    const std::string path = object_of(record, i);

    if (path.empty()) {
        return;
    }
    bring_back_content(journal_, record, open_writable(path).get());
    set_modified(path, head.modified);
}

/* ---- At the end -------------------------------------------------------------------- */

/* Creating and removing names in a directory has changed its modification time. */
void Undo::set_times_of_directories() const
{
    std::map<std::string, const Record *> last;

    for (const Record *step : plan_.steps) {
        if (step->type() == CKPT_JOURNAL_MOVED) {
            std::map<std::string, const Record *> renamed;
            for (const auto &[path, record] : last) {
                const bool is_inside =
                    path == step->other || path.starts_with(step->other + "/");
                renamed[is_inside ? step->path + path.substr(step->other.size()) : path] = record;
            }
            last = std::move(renamed);
        } else if (step->type() == CKPT_JOURNAL_DIRECTORY ||
                   (step->type() == CKPT_JOURNAL_ATTRIBUTES && S_ISDIR(step->head.mode))) {
            last[step->path] = step;
        }
    }
    for (const auto &[path, record] : last) {
        const auto status = status_of(path);
        if (status && S_ISDIR(status->st_mode)) {
            set_modified(path, record->head.modified);
        }
    }
}

void Undo::note_file_system(const std::string &path)
{
    struct stat status;
    const std::string directory = fs::path(path).parent_path();

    if (::stat(directory.c_str(), &status) == 0 && !file_systems_.contains(status.st_dev)) {
        file_systems_[status.st_dev] = open_file(directory, O_RDONLY | O_DIRECTORY, 0,
                                                 "directory");
    }
}

void Undo::sync()
{
    for (const auto &[device, directory] : file_systems_) {
        if (::syncfs(directory.get()) < 0) {
            fail_errno(errno, "cannot sync a file system");
        }
    }
    file_systems_.clear();
}

} // namespace ckpt::journal
