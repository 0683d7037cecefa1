/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process.hpp - turns this process into the saved process that an image
 * describes.
 */
#pragma once

#include "common/fd.hpp"
#include "image/nodefile/node_file_reader.hpp"
#include "restart/node_rendezvous.hpp"
#include "restart/staged_bytes.hpp"

extern "C" {
#include "files/concealed_file.h"
#include "files/files.h"
#include "restore/restore.h"
}

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace ckpt::restart
{

class Process
{
  public:
    /*
     * Checks that this host can run the process. `image` must outlive this
     * object. Throws Error; its code() is EAGAIN if another execve() of this
     * program would help (see ckpt_restore_open).
     */
    explicit Process(const RankImage &image);

    /* Reads all memory except the `lazy` regions into staging areas, and the message log into
     * separate memory; checks the mapped files. */
    void load_memory(const NodeFileReader &reader, int rank,
                     const std::set<std::size_t> &lazy = {});

    /* Leaves the lazy regions to the page server. faults, server: see start_page_server(). */
    void use_page_server(const Fd &faults, const Fd &server);

    /* Returns the objects that the rank shares with other ranks of its
     * piece. */
    std::vector<SharedObject> shared_objects(const std::string &piece) const;

    /* Takes the descriptors of these objects, which the ranks have created
     * together. */
    void take_shared(const std::vector<SharedObject> &objects,
                     const std::vector<std::vector<Fd>> &descriptors);

    /* Writes the data that connections had received into them. */
    void fill_connections();

    /* Restores the working directory, the umask and descriptors. From here on
     * files change. */
    void restore_surroundings();

    /* Maps the shared file memory, and writes the files' content through it.
     * Called after the descriptors are restored, which closes those of the
     * reader. */
    void restore_shared_files();

    /* Continues as the saved process. Returns only by throwing Error. */
    [[noreturn]] void go_on(const std::string &checkpoint,
                            std::uint64_t restart_started);

  private:
    void *stage(std::size_t region);
    void load_message_log(const NodeFileReader &reader, int rank);
    void make_own_objects() const;
    void give(std::uint64_t inode, const std::string &path, const Fd &fd);
    const ckpt_socket &socket_of(const ckpt_file &file) const;
    SharedObject connection_of(const ckpt_file &file) const;
    int descriptor_of(const ckpt_region &region) const;
    const void *saved_bytes(std::uint64_t address, std::uint64_t size) const;
    ckpt_saved_files saved_files();
    static const void *payload(void *process, std::uint64_t address,
                               std::uint64_t size);
    static void written(void *process, std::uint64_t address, std::uint64_t size);

    struct Closer {
        void operator()(ckpt_restore *restore) const
        {
            ckpt_restore_close(restore);
        }
    };

    const RankImage &image_;
    std::unique_ptr<ckpt_restore, Closer> restore_;
    /* One per region; empty for regions that are all zero or have the content
     * of a file. */
    std::vector<std::span<std::byte>> staged_;
    /* Content of open files. */
    FileContents contents_;
    /* Content of shared file memory; zero if another rank restores it. */
    std::map<std::size_t, StagedBytes> shared_content_;
    /* Shared objects; `given_` points to the paths, so those are in a list. */
    std::vector<ckpt_given_file> given_;
    std::list<std::string> given_paths_;
    std::vector<Fd> given_owners_;
    /* Of a lazy restart: the userfaultfd and the connection with the page server. */
    std::vector<Fd> lazy_;
};

} // namespace ckpt::restart
