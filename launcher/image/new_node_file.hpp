/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * new_node_file.hpp - a node file on its way to the disk: an HDF5 file under a temporary
 * name, which gets its table of extents, its header and its name at the end.
 */
#pragma once

#include "common/fd.hpp"
#include "image/hdf5_file_driver.hpp"
#include "image/hdf5_support.hpp"
#include "image/node_file_layout.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace ckpt
{

/* All throw Error, with one text for every way to say that a disk is full. */
class NewNodeFile
{
  public:
    /* is_direct: chunks are written past the page cache, where that is possible. */
    /* seal: with which it is encrypted, for `owner`, or null. It must live longer. */
    NewNodeFile(const std::filesystem::path &directory, const std::string &name,
                bool is_direct = false, const FileSeal *seal = nullptr,
                std::string owner = {});
    ~NewNodeFile() { abandon(); }

    /* Creates it under a temporary name, mode 0600. What a crash has left of it goes. */
    void create();
    /* Makes it an HDF5 file; `describe` writes the attributes of its root. */
    void open(const std::function<void(hid_t)> &describe);

    const std::filesystem::path &path() const { return path_; }
    int descriptor() const { return fd_.get(); }
    /* For those who write datasets, under with_hdf5(). */
    hid_t root() const { return file_.get(); }
    DriverFile &driver() { return driver_; }

    /* Runs HDF5 calls under its lock; a failed write, which HDF5 does not see, fails
     * here. */
    void with_hdf5(const std::function<void()> &action);
    /* Writes a chunk where it has its place. Thread-safe, not under with_hdf5(). */
    void write(const ChunkRecord &place, std::span<const std::byte> chunk);
    /* Throws unless the error number is 0. */
    void check(int error) const;

    /* The file has something that versions below do not know. Thread-safe, as the next. */
    void require_version(unsigned version);
    /* Chunks are in the file; returns their bytes. */
    std::uint64_t note(const std::vector<ChunkRecord> &chunks);

    /* When all is there: closes the HDF5 file; adds the table of extents and the header. */
    NodeFileHeader seal(std::vector<int> &ranks);
    /* fsync; and after that rename, and fsync of the directory. */
    void sync();
    void publish();

    /* Removes it; harmless after publish(). */
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
    TableMemory tables_; /* of a sealed file */
    Fd fd_; /* open as long as the temporary file exists */
    Fd direct_; /* the same, for direct writes */
    DriverFile driver_;
    Hdf5Id file_;
    std::mutex mutex_; /* of what follows */
    unsigned version_ = first_node_file_version;
    std::vector<Extent> extents_; /* of all chunks */
    std::uint64_t started_writeback_ = 0; /* bytes before it were handed to the disk */
};

} // namespace ckpt
