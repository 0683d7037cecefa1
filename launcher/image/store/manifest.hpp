/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * manifest.hpp - the small JSON file that makes a checkpoint valid.
 *
 * It is written last, after every piece is on disk (docs/format.md, section 6).
 */
#pragma once

#include "image/store/checkpoint_cost.hpp"
#include "image/model/checkpoint_names.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace ckpt
{

inline constexpr int manifest_version = 1;

/* One node file of a checkpoint. */
struct Piece {
    std::string file; /* file name in the checkpoint's directory */
    std::string host;
    std::uint64_t bytes = 0;
    std::uint64_t checksum = 0; /* the checksum stored in the file, docs/format.md section 3 */
    std::vector<int> ranks;
    bool shared = false; /* some of its ranks share memory */
    /* Identifies the content, however many files hold it. 0: no other piece refers to this
     * one. */
    std::uint64_t identity = 0;
    /* An incremental piece: the number of the job's checkpoint whose piece with the same ranks
     * has the missing content. 0: this piece is complete. */
    std::uint64_t base = 0;
    std::uint64_t base_identity = 0;
    /* Of an encrypted piece: its salt, by which the authenticated manifest identifies the exact
     * file. */
    std::string salt = {};
};

/* How the job was started; `ckpt restart` uses it. */
struct Launch {
    std::vector<std::string> launcher;    /* argv of mpirun, srun, ...; may be empty */
    std::string launcher_directory;       /* the launcher's working directory */
    std::vector<std::string> application; /* argv of the program */
    /* argv of the process that the launcher started, if that is not the program but waits
     * for it: sh -c "app; mv a b". */
    std::vector<std::string> waiting_parent;
    std::map<std::string, std::string> environment; /* CKPT_* settings */
    std::map<std::string, std::string> facts;       /* for people: MPI version, ... */
};

/* In seconds. */
struct Timings {
    double request_to_stop = 0;
    double stop = 0; /* how long the application was stopped */
    double drain = 0;
    double capture = 0;
};

struct Manifest {
    std::string job;
    std::uint64_t number = 0;
    std::int64_t created = 0; /* ns since the epoch of 1970 */
    std::uint64_t epoch = 0;
    std::uint64_t files_mark = 0; /* position in the file journal, ckpt/journal.h; 0: none */
    std::vector<std::string> hosts;
    int rank_count = 0;
    std::vector<Piece> pieces;
    Launch launch;
    Timings timings;
    CheckpointCost cost;          /* all 0: written by a version that did not count it */
    std::string protocol = "sns"; /* or "cl": the protocol that agreed on the cut */
    std::string codec;
    std::string snapshot = "stop"; /* the requested method */
    int standing = 0;              /* number of ranks that were saved with "stop" instead */
    /* Ranks that had died. The checkpoint has them as in their last independent checkpoints;
     * they must catch up by replay. */
    std::vector<int> replayed;
    std::string software; /* version of ckpt that wrote the file */

    /* Returns the piece that holds a rank; after load() every rank has one. */
    const Piece &piece_of(int rank) const;
    std::uint64_t bytes() const;

    /* Converts to JSON text and back. parse() checks every field, and that each rank is in
     * exactly one piece; `name` identifies the text in errors. */
    std::string text() const;
    static Manifest parse(const std::string &text, const std::string &name);

    /* Writes or reads DIRECTORY/manifest.json, mode 0600. write() uses a temporary name, fsync,
     * rename, and fsync of the directory; afterwards the checkpoint exists. If this process has
     * a key, write() seals the file (image/seal/sealed_text.hpp), and load() accepts only sealed
     * files. */
    void write(const std::filesystem::path &directory) const;
    static Manifest load(const std::filesystem::path &directory);

    /* Whether the checkpoint can only be read with its key. */
    bool is_encrypted() const;
};

} // namespace ckpt
