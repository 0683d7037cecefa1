/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_file_writer.hpp - saves the ranks of one node into one HDF5 file.
 *
 * The file has a temporary name until commit(); a failure before that leaves no file behind.
 * Not thread-safe, with two exceptions: any thread may call cancel(), and while one thread
 * begins ranks, others may each finish() one.
 */
#pragma once

#include "image/codec/codec.hpp"
#include "image/model/file_identity.hpp"
#include "image/store/manifest.hpp"
#include "image/memory/page_pool.hpp"
#include "image/memory/page_sharing.hpp"
#include "image/memory/protected_source.hpp"
#include "image/model/snapshot_method.hpp"
#include "image/memory/stopped_process.hpp"
#include "image/io/write_rate.hpp"

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace ckpt
{

/* The file with the same ranks on which an incremental file builds. */
struct BaseFile {
    std::uint64_t checkpoint = 0; /* number in the job; 0: not incremental */
    std::uint64_t identity = 0;
};

struct WriterOptions {
    Codec codec;
    unsigned threads = 0;              /* 0: one for each online CPU */
    std::size_t chunk_size = 1u << 20; /* bytes; a multiple of the page size */
    /* Shared by the writers of an agent's successive checkpoints, and must outlive the
     * writer. May be null: then every mapped file is read again. */
    FileIdentities *identities = nullptr;
    SnapshotMethod snapshot = SnapshotMethod::stop;
    /* Shared likewise, for the codec "auto". Null: the rate is measured for each file. */
    WriteRate *write_rate = nullptr;
    PagePool *pool = nullptr;         /* shared likewise, for the method cll */
    SharingChoice *sharing = nullptr; /* shared likewise; null: do not share pages */
    bool is_direct = false;           /* write chunks past the page cache */
    std::uint64_t write_limit = 0;    /* bytes per second; 0: no limit */
    /* If set, only changed pages are saved, for ranks whose changes are known. */
    BaseFile base;
    /* Of the base's checkpoint, to check that it still exists; empty: no check. */
    std::filesystem::path base_directory;
    /* Identity of the new file; 0: no other file will refer to it. */
    std::uint64_t identity = 0;
    std::string file; /* its name; empty: node_file_name(host) */
    /* Incremented by the bytes of memory that are in the file; may be null. Must outlive the
     * writer. */
    std::atomic<std::uint64_t> *saved = nullptr;
};

struct CaptureStats {
    std::uint64_t bytes_mapped = 0; /* sum of all regions */
    std::uint64_t bytes_read = 0;   /* from the process */
    std::uint64_t bytes_stored = 0; /* encoded chunks in the file */
    double captured_seconds = 0;    /* until the process could resume */
    double seconds = 0;             /* until all of its chunks were passed to the file */
    FaultTimes faults;              /* during the capture */
};

struct Beginning {
    int rank;
    std::string remark; /* why the requested method was not used; or empty */
};

class NodeFileReader;

class NodeFileWriter
{
  public:
    /* Creates DIRECTORY/node-HOST.h5 (or options.file) under a temporary name, mode 0600. */
    NodeFileWriter(const std::filesystem::path &directory,
                   const std::string &host, const WriterOptions &options);
    ~NodeFileWriter(); /* abandons the file unless it was committed */

    /*
     * Records what a stopped process shares with others of the node. The caller calls it for
     * all processes before it saves the first one. Throws as capture().
     */
    void survey(const StoppedProcess &process);

    /* Whether the rank shares memory, by survey(). Such a rank may not resume before all
     * ranks that share memory are saved. */
    bool shares(int rank) const;

    /*
     * begin() saves the part of a stopped process that must be read while it is stopped. It
     * calls `captured` (on this thread) as soon as the process may resume; see
     * rank_capture.hpp. finish() saves the rest. Both throw Error: process ended, memory
     * unreadable, snapshot of another version, rank saved twice, no space left, cancelled.
     * After an error only abandon() is useful. Thread-safe for different processes. threads:
     * how many prepare the process for resuming; 0: all threads of the writer.
     */
    Beginning begin(const StoppedProcess &process,
                    const std::function<void()> &captured = {}, unsigned threads = 0);
    CaptureStats finish(int rank);

    /* Calls begin() and finish() for a process that stays stopped until it is saved. */
    CaptureStats capture(pid_t pid, std::uint64_t snapshot,
                         const std::function<void()> &captured = {});

    /*
     * Adds the message log of a saved rank to the file; once per rank. An empty or missing
     * log is not stored. Throws Error as capture(), and for a damaged log.
     */
    void add_message_log(int rank, const std::filesystem::path &log);

    /* Copies a rank from another file, with the content of that file's bases, as if it had
     * been saved here. Throws Error as capture(). */
    void copy(const NodeFileReader &reader, int rank);

    /* Closes the file; fsync, rename, fsync of the directory. */
    Piece commit();

    /* Removes the temporary file; has no effect after commit(). */
    void abandon() noexcept;

    /* Makes the current call, or the next one, throw soon. Any thread may call it. */
    void cancel() noexcept;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace ckpt
