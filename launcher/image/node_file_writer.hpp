/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_file_writer.hpp - saves the ranks of one node into one HDF5 file.
 *
 * The file has a temporary name until commit(); what goes wrong before that
 * leaves nothing behind. Not thread-safe, except cancel(); and while one thread begins
 * ranks others may each finish() one.
 */
#pragma once

#include "image/codec.hpp"
#include "image/file_identity.hpp"
#include "image/manifest.hpp"
#include "image/page_pool.hpp"
#include "image/page_sharing.hpp"
#include "image/protected_source.hpp"
#include "image/snapshot_method.hpp"
#include "image/stopped_process.hpp"
#include "image/write_rate.hpp"

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace ckpt
{

/* The file with the same ranks that has what another one lacks. */
struct BaseFile {
    std::uint64_t checkpoint = 0; /* number in the job; 0: there is no base */
    std::uint64_t identity = 0;
};

struct WriterOptions {
    Codec codec;
    unsigned threads = 0;             /* 0: one for each online CPU */
    std::size_t chunk_size = 1u << 20; /* bytes; a multiple of the page size */
    /* Shared by the writers of an agent's successive checkpoints; may be null:
     * then every file is read again. Must outlive the writer. */
    FileIdentities *identities = nullptr;
    SnapshotMethod snapshot = SnapshotMethod::stop;
    /* Likewise, for the codec auto: else it is measured for each file. */
    WriteRate *write_rate = nullptr;
    PagePool *pool = nullptr; /* likewise, for cll */
    SharingChoice *sharing = nullptr; /* likewise; null: no pages are shared */
    bool is_direct = false; /* chunks do not go through the page cache */
    std::uint64_t write_limit = 0; /* bytes per second; 0: none */
    /* Of ranks whose changes are known, only what has changed since then is saved. */
    BaseFile base;
    std::filesystem::path base_directory; /* of its checkpoint; empty: it is there */
    /* Of what will be in the file; 0: nobody will refer to it. */
    std::uint64_t identity = 0;
    std::string file; /* its name; empty: that of the node */
    /* Counts bytes of memory that are in the file; may be null. Must outlive the writer. */
    std::atomic<std::uint64_t> *saved = nullptr;
};

struct CaptureStats {
    std::uint64_t bytes_mapped = 0; /* sum of all regions */
    std::uint64_t bytes_read = 0;   /* from the process */
    std::uint64_t bytes_stored = 0; /* chunks as they are in the file */
    double captured_seconds = 0;    /* until the process was no longer needed */
    double seconds = 0;             /* until its chunks were handed to the file */
    FaultTimes faults;              /* meanwhile */
};

struct Beginning {
    int rank;
    std::string remark; /* why not by the method that was asked for; or empty */
};

class NodeFileReader;

class NodeFileWriter
{
  public:
    /* Creates DIRECTORY/node-HOST.h5, or options.file, under a temporary name, mode 0600. */
    NodeFileWriter(const std::filesystem::path &directory,
                   const std::string &host, const WriterOptions &options);
    ~NodeFileWriter(); /* abandons the file unless it was committed */

    /*
     * Notes what a stopped process shares with others of the node; for all of
     * them, before the first is saved. Throws as capture().
     */
    void survey(const StoppedProcess &process);

    /* Whether a rank shares memory, as survey() has found: then it may not go
     * on before all that do are saved. */
    bool shares(int rank) const;

    /*
     * Saves of a stopped process what has to be read while it stands still, and calls
     * `captured` (on this thread) as soon as it may go on: rank_capture.hpp. finish()
     * saves the rest. Both throw Error: process gone, memory unreadable, snapshot of another
     * version, rank saved twice, no space left, cancelled. After an error
     * nothing but abandon() is useful. Thread-safe, for different processes.
     * threads: that make it ready to go on; 0: all that the writer has.
     */
    Beginning begin(const StoppedProcess &process,
                    const std::function<void()> &captured = {}, unsigned threads = 0);
    CaptureStats finish(int rank);

    /* Both, of a process that stands still until it is saved. */
    CaptureStats capture(pid_t pid, std::uint64_t snapshot,
                         const std::function<void()> &captured = {});

    /*
     * Puts the message log of a rank that was saved into the file, once. A log
     * that is empty or not there leaves no trace. Throws Error as capture(),
     * and for a log that is damaged.
     */
    void add_message_log(int rank, const std::filesystem::path &log);

    /* Writes all of a rank that is in another file, or in those under it, as if it had
     * been saved here. Throws Error as capture(). */
    void copy(const NodeFileReader &reader, int rank);

    /* Closes the file, fsync, rename, fsync of the directory. */
    Piece commit();

    /* Removes the temporary file; harmless after commit(). */
    void abandon() noexcept;

    /* Makes a call under way, or yet to come, throw soon. From any thread. */
    void cancel() noexcept;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace ckpt
