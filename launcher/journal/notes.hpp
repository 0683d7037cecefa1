/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notes.hpp - what the launcher itself notes in the directory of a file journal: how far
 * a roll back has come, and which records no checkpoint needs any more.
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
        undoing,  /* records are being undone */
        undone,   /* all are; they are to be removed */
        finished, /* they are removed */
    };

    std::uint64_t checkpoint = 0;
    State state = State::finished;
    std::uint64_t steps = 0; /* of the plan that is carried out */
    std::uint64_t from = 0;  /* the step with which a repetition begins */
    /* All records of greater order were made after the start from `base_checkpoint`,
     * whether that has marks in the logs or not. */
    std::uint64_t base_checkpoint = 0, base_order = 0;
    /* Directories that were made again before `from`: the inode in the records, as text, and
     * the new one. */
    std::map<std::string, std::uint64_t> remade;

    /* Nothing if there is no such file. Throws Error if it is damaged. */
    static std::optional<RedoRecord> load(const std::filesystem::path &journal);
    /* Replaces it atomically; it is on the disk afterwards. Throws Error. */
    void write(const std::filesystem::path &journal) const;
};

/* The file "revealed": what others have seen cannot be taken back. */
struct Revealed {
    std::uint64_t checkpoint = 0; /* all up to this one may be revealed; 0: nothing */
    bool is_done = true;          /* or it is being done, and will be done again */
    /* By name of a log, without its end: the order of the last output passed on. */
    std::map<std::string, std::uint64_t> outputs;
    /* Names and inodes of objects that were revealed last, and that the program had replaced
     * or removed by then. */
    std::map<std::string, std::uint64_t> outdated;

    static Revealed load(const std::filesystem::path &journal);
    void write(const std::filesystem::path &journal) const;
};

/* The file "dropped": how much at the begin of each log nobody needs. */
struct Dropped {
    std::uint64_t checkpoint = 0; /* older ones cannot be rolled back to; 0: all can */
    std::uint64_t order = 0;      /* above that of all dropped records */
    std::map<std::string, std::uint64_t> offsets; /* bytes, by name of the log */

    static Dropped load(const std::filesystem::path &journal);
    void write(const std::filesystem::path &journal) const;
};

} // namespace ckpt::journal
