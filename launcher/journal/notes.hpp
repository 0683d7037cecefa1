/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notes.hpp - the launcher's own notes in the directory of a file journal: the progress of a
 * rollback, the state of revealing, and the records that no checkpoint needs any more.
 */
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace ckpt::journal
{

/* The redo record: the file "rollback". */
struct RedoRecord {
    enum class State {
        undoing,  /* the records are being undone */
        undone,   /* all records are undone, and are to be removed */
        finished, /* the records are removed */
    };

    std::uint64_t checkpoint = 0;
    State state = State::finished;
    std::uint64_t steps = 0; /* number of steps of the plan */
    std::uint64_t from = 0;  /* the step at which a repetition starts */
    /* All records with greater order were made after the start from `base_checkpoint`,
     * whether or not that has marks in the logs. */
    std::uint64_t base_checkpoint = 0, base_order = 0;
    /* Directories that were created again before step `from`: the inode in the records, as
     * text, and the new inode. */
    std::map<std::string, std::uint64_t> remade;

    /* Returns nothing if there is no such file. Throws Error if it is damaged. */
    static std::optional<RedoRecord> load(const std::filesystem::path &journal);
    /* Replaces the file atomically, and waits until it is on the disk. Throws Error. */
    void write(const std::filesystem::path &journal) const;
};

/* The file "revealed". Revealed outputs cannot be revoked. */
struct Revealed {
    std::uint64_t checkpoint = 0; /* checkpoints up to this one may be revealed; 0: none */
    bool is_done = true;          /* false: interrupted; the next revealing first repeats it */
    /* By the name of a log, without its suffix: the order of the last output passed on. */
    std::map<std::string, std::uint64_t> outputs;
    /* Names and inodes of the objects revealed last that the program had replaced or removed
     * before. */
    std::map<std::string, std::uint64_t> outdated;

    static Revealed load(const std::filesystem::path &journal);
    void write(const std::filesystem::path &journal) const;
};

/* The file "dropped": how much of the start of each log is no longer needed. */
struct Dropped {
    /* oldest that can be rolled back to; 0: all can */
    std::uint64_t checkpoint = 0;
    /* greater than the orders of all dropped records */
    std::uint64_t order = 0;
    std::map<std::string, std::uint64_t> offsets; /* bytes, by name of the log */

    static Dropped load(const std::filesystem::path &journal);
    void write(const std::filesystem::path &journal) const;
};

} // namespace ckpt::journal
