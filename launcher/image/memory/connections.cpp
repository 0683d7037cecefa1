/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connections.cpp - sockets and pipes that connect ranks of a node.
 */
#include "config.h"
#include "image/memory/connections.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/processes.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>
#include <string>

namespace ckpt
{

namespace
{

bool is_socket(const ckpt_file &file)
{
    return file.kind == CKPT_FILE_SOCKET && file.same_as < 0;
}

bool is_pipe(const ckpt_file &file)
{
    return file.kind == CKPT_FILE_PIPE;
}

bool reads(const ckpt_file &pipe)
{
    return (pipe.status_flags & O_ACCMODE) != O_WRONLY;
}

bool writes(const ckpt_file &pipe)
{
    return (pipe.status_flags & O_ACCMODE) != O_RDONLY;
}

const char *kind_name(const ckpt_file &file)
{
    return is_pipe(file)                    ? "pipe"
           : file.kind == CKPT_FILE_EVENTFD ? "counter"
                                            : "socket";
}

[[noreturn]] void refuse(const RankImage &image, const ckpt_file &file,
                         int rank, const std::string &what,
                         ckpt_refusal identity = CKPT_REFUSAL_SHARED_DESCRIPTOR)
{
    ckpt::refuse(identity, "rank {}: descriptor {} ({}) cannot be saved: it is a {} {}", rank,
                 file.descriptor, image.text(file.path), kind_name(file), what);
}

/* Describes the process for error messages. */
std::string name_of(const std::optional<ProcessName> &process)
{
    return process ? fmt::format("process {} ({})", process->pid, process->name)
                   : std::string("a process that cannot be seen");
}

constexpr const char *stranger = "which is not a rank of this job on this node";

} // namespace

void Connections::survey(const RankImage &image, int rank)
{
    for (const ckpt_file &file : image.files) {
        if (is_socket(file)) {
            End &end = ends_[file.inode];
            end.peer = file.value;
            end.ranks.insert(rank);
        } else if (is_pipe(file)) {
            Pipe &pipe = pipes_[{file.device, file.inode}];
            if (reads(file)) {
                pipe.readers.insert(rank);
            }
            if (writes(file)) {
                pipe.writers.insert(rank);
            }
        } else if (file.kind == CKPT_FILE_EVENTFD && file.inode != 0) {
            counters_[file.inode].insert(rank);
        }
    }
    processes_.insert(image.snapshot.pid);
}

std::set<int> Connections::Pipe::ranks() const
{
    std::set<int> both = readers;
    both.insert(writers.begin(), writers.end());
    return both;
}

const Connections::End *Connections::find(std::uint64_t inode) const
{
    auto found = ends_.find(inode);
    return found != ends_.end() ? &found->second : nullptr;
}

/* Returns all ranks that have either end of the connection. */
std::set<int> Connections::ranks_of(const End &end) const
{
    std::set<int> ranks = end.ranks;
    if (const End *other = end.peer != 0 ? find(end.peer) : nullptr) {
        ranks.insert(other->ranks.begin(), other->ranks.end());
    }
    return ranks;
}

bool Connections::any() const
{
    return std::ranges::any_of(ends_,
                               [this](const auto &entry) {
                                   return ranks_of(entry.second).size() > 1;
                               }) ||
           std::ranges::any_of(pipes_, [](const auto &entry) {
               return entry.second.ranks().size() > 1;
           });
}

void Connections::distribute_socket(const RankImage &image, ckpt_file &file,
                                    int rank) const
{
    const End *end = find(file.inode);
    const End *other = file.value != 0 ? find(file.value) : nullptr;
    if (file.value != 0 && other == nullptr) {
        refuse(image, file, rank,
               fmt::format("connected to {}, {}",
                           name_of(holder_of(
                               fmt::format("socket:[{}]", file.value))),
                           stranger),
               CKPT_REFUSAL_OUTSIDE_CONNECTION);
    }
    auto ranks = end != nullptr ? ranks_of(*end) : std::set{rank};
    if (ranks.size() < 2) {
        return;
    }
    if (other == nullptr) {
        refuse(image, file, rank,
               fmt::format("that is open in the ranks {}, without a connection "
                           "from one to the other",
                           fmt::join(ranks, " and ")));
    }
    if (other->peer != file.inode) {
        refuse(image, file, rank,
               fmt::format("connected to one of rank {} that is not connected "
                           "to it",
                           *other->ranks.begin()));
    }
    CKPT_INVARIANT(end != nullptr); /* it is what joins several ranks */
    /* Ranks that have both ends open report no connection to the outside. And
     * only one process at a time can peek at the received packets of a packet
     * socket. */
    if (end->ranks == other->ranks ||
        (end->ranks.size() > 1 && file.detail != SOCK_STREAM)) {
        refuse(image, file, rank,
               fmt::format("that is open in the ranks {} at once",
                           fmt::join(end->ranks, " and ")));
    }
    file.sharers = static_cast<std::uint32_t>(ranks.size());
    file.size = *end->ranks.begin() == rank ? file.payload_size : 0;
}

void Connections::distribute_pipe(const RankImage &image, ckpt_file &file,
                                  int rank) const
{
    auto found = pipes_.find({file.device, file.inode});
    if (found == pipes_.end()) {
        refuse(image, file, rank, "that was not there before");
    }
    const Pipe &pipe = found->second;
    const std::string path = image.text(file.path);
    const bool is_alone = (file.value & CKPT_PIPE_ALONE) != 0;
    const bool is_private =
        pipe.ranks().size() < 2 && path.starts_with("pipe:[");
    if ((pipe.readers.empty() || pipe.writers.empty()) && !is_alone) {
        refuse(image, file, rank,
               fmt::format("whose other end is in {}, {}",
                           name_of(holder_of(path, processes_)), stranger),
               CKPT_REFUSAL_OUTSIDE_CONNECTION);
    }
    if (is_private) {
        return;
    }
    if (auto other = holder_of(path, processes_)) {
        refuse(image, file, rank,
               fmt::format("that is also open in {}, {}", name_of(other),
                           stranger),
               CKPT_REFUSAL_OUTSIDE_CONNECTION);
    }
    if (pipe.ranks().size() < 2) {
        return;
    }
    /* The ranks did not report it as a connection. */
    if (pipe.readers == pipe.writers) {
        refuse(image, file, rank,
               fmt::format("of which both ends are open in the ranks {}",
                           fmt::join(pipe.readers, " and ")));
    }
    const bool fills = !pipe.readers.empty() && *pipe.readers.begin() == rank;
    file.sharers = static_cast<std::uint32_t>(pipe.ranks().size());
    file.size = fills ? file.payload_size : 0;
}

void Connections::require_private(const RankImage &image,
                                  const ckpt_file &counter, int rank) const
{
    auto found = counters_.find(counter.inode);
    if (found != counters_.end() && found->second.size() > 1) {
        refuse(image, counter, rank,
               fmt::format("that is open in the ranks {} at once",
                           fmt::join(found->second, " and ")));
    }
}

void Connections::distribute(RankImage &image, int rank) const
{
    for (ckpt_file &file : image.files) {
        if (is_socket(file)) {
            distribute_socket(image, file, rank);
        } else if (is_pipe(file)) {
            distribute_pipe(image, file, rank);
        } else if (file.kind == CKPT_FILE_EVENTFD) {
            require_private(image, file, rank);
        }
    }
}

} // namespace ckpt
