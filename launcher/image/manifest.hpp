/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * manifest.hpp - the small JSON file that makes a checkpoint exist.
 *
 * It is written last, after every piece is safe on disk (docs/format.md,
 * section 6).
 */
#pragma once

#include "image/checkpoint_cost.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace ckpt
{

inline constexpr int manifest_version = 1;
inline constexpr const char *manifest_name = "manifest.json";

/* One node file of a checkpoint. */
struct Piece {
    std::string file; /* name inside the checkpoint's directory */
    std::string host;
    std::uint64_t bytes = 0;
    std::uint64_t checksum = 0; /* the file's own, docs/format.md section 3 */
    std::vector<int> ranks;
    bool shared = false; /* some of them share memory */
    /* Of what it holds, wherever and in however many files that is; 0: nobody refers to
     * it. */
    std::uint64_t identity = 0;
    /* The checkpoint of the job whose piece with the same ranks has what this one lacks;
     * 0: it has all. */
    std::uint64_t base = 0;
    std::uint64_t base_identity = 0;
    /* Of an encrypted one: by it the manifest, which is authentic, names this very file. */
    std::string salt = {};
};

/* How the job was started; what `ckpt restart` starts again. */
struct Launch {
    std::vector<std::string> launcher; /* argv of mpirun, srun, ...; may be empty */
    std::string launcher_directory;    /* its working directory */
    std::vector<std::string> application; /* argv of the program */
    std::vector<std::string> waiting_parent; /* argv of what the launcher started, if that is not
                                                the program but waits for it: sh -c "app; mv a b" */
    std::map<std::string, std::string> environment; /* CKPT_* settings */
    std::map<std::string, std::string> facts; /* for humans: MPI version, ... */
};

/* Seconds. */
struct Timings {
    double request_to_stop = 0;
    double stop = 0; /* how long the application stood still */
    double drain = 0;
    double capture = 0;
};

struct Manifest {
    std::string job;
    std::uint64_t number = 0;
    std::int64_t created = 0; /* ns since 1970 */
    std::uint64_t epoch = 0;
    std::uint64_t files_mark = 0; /* in the file journal, ckpt/journal.h; 0: none */
    std::vector<std::string> hosts;
    int rank_count = 0;
    std::vector<Piece> pieces;
    Launch launch;
    Timings timings;
    CheckpointCost cost; /* all 0: written before it was counted */
    std::string protocol = "sns"; /* or "cl": how the cut was agreed on */
    std::string codec;
    std::string snapshot = "stop"; /* method that was asked for */
    int standing = 0;              /* ranks that were saved with stop instead */
    std::vector<int> replayed; /* ranks that had died: saved as their last independent
                                  checkpoints have them, and they have yet to catch up */
    std::string software; /* our own version */

    /* The piece that holds a rank; every rank has one after load(). */
    const Piece &piece_of(int rank) const;
    std::uint64_t bytes() const;

    /* JSON text, and back. parse() checks every field and that each rank is in
     * exactly one piece; `name` is how errors call the text. */
    std::string text() const;
    static Manifest parse(const std::string &text, const std::string &name);

    /* DIRECTORY/manifest.json, mode 0600: temporary name, fsync, rename,
     * fsync of the directory. The checkpoint exists after this. Sealed with the key of this
     * process, if it has one (image/sealed_text.hpp), and load() then takes no other. */
    void write(const std::filesystem::path &directory) const;
    static Manifest load(const std::filesystem::path &directory);

    /* Whether there is no reading it without its key. */
    bool is_encrypted() const;
};

} // namespace ckpt
