/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * new_node_file.hpp - a node file that is being written: an HDF5 file under a temporary
 * name, which gets its table of extents, its header and its final name at the end.
 */
#pragma once

#include "common/fd.hpp"
#include "image/hdf5/hdf5_file_driver.hpp"
#include "image/hdf5/hdf5_support.hpp"
#include "image/nodefile/node_file_layout.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace ckpt
{

/* All functions throw Error; all errors for a full disk have the same text. */
class NewNodeFile
{
  public:
    /* is_direct: write chunks past the page cache, where possible. */
    /* seal: encrypts the file for `owner`; null: no encryption. The seal must outlive this
     * object. */
    NewNodeFile(const std::filesystem::path &directory, const std::string &name,
                bool is_direct = false, const FileSeal *seal = nullptr,
                std::string owner = {});
    ~NewNodeFile() { abandon(); }

    /* Creates the file under a temporary name, mode 0600. Removes temporary files that a
     * crash has left behind. */
    void create();
    /* Makes the file an HDF5 file; `describe` writes the attributes of the root group. */
    void open(const std::function<void(hid_t)> &describe);

    const std::filesystem::path &path() const { return path_; }
    int descriptor() const { return fd_.get(); }
    /* For code that writes datasets, under with_hdf5(). */
    hid_t root() const { return file_.get(); }
    DriverFile &driver() { return driver_; }

    /* Runs HDF5 calls under the HDF5 lock. Throws if a write has failed, which HDF5 itself
     * does not see (hdf5_file_driver.hpp). */
    void with_hdf5(const std::function<void()> &action);
    /* Writes a chunk at its place in the file. Thread-safe; not to be called under
     * with_hdf5(). */
    void write(const ChunkRecord &place, std::span<const std::byte> chunk);
    /* Throws Error unless the errno value is 0. */
    void check(int error) const;

    /* The file has content that versions below `version` cannot read. Thread-safe, as is
     * note(). */
    void require_version(unsigned version);
    /* Records that these chunks are in the file; returns their total size in bytes. */
    std::uint64_t note(const std::vector<ChunkRecord> &chunks);

    /* Closes the HDF5 file when all content has been written; adds the table of extents and
     * the header. */
    NodeFileHeader seal(std::vector<int> &ranks);
    /* sync() calls fsync. publish() comes after it: rename, and fsync of the directory. */
    void sync();
    void publish();

    /* Removes the temporary file; has no effect after publish(). */
    void abandon() noexcept;

  private:
    void write_direct(std::span<const std::byte> part, std::uint64_t offset);
    void start_writeback(std::uint64_t written_to);
    void open_hdf5();
    void write_seals(NodeFileHeader &header);
    void close_hdf5(std::vector<int> &ranks);

    const std::filesystem::path path_;
    const std::filesystem::path temporary_path_;
    const bool is_direct_;
    const FileSeal *const seal_;
    const std::string owner_;
    TableMemory tables_; /* of a sealed file: HDF5's tables, unencrypted */
    Fd fd_;              /* open as long as the temporary file exists */
    Fd direct_;          /* the same file, opened for direct writes; invalid if not used */
    DriverFile driver_;
    Hdf5Id file_;
    std::mutex mutex_; /* guards the following members */
    unsigned version_ = first_node_file_version;
    std::vector<Extent> extents_;         /* of all chunks */
    std::uint64_t started_writeback_ = 0; /* earlier bytes are in writeback */
};

} // namespace ckpt
