/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connections.cpp - sockets that connect ranks of a node.
 */
#include "config.h"
#include "image/connections.hpp"

#include "common/error.hpp"
#include "common/processes.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <string>

namespace ckpt
{

namespace
{

bool is_socket(const ckpt_file &file)
{
    return file.kind == CKPT_FILE_SOCKET && file.same_as < 0;
}

[[noreturn]] void refuse(const RankImage &image, const ckpt_file &file,
                         int rank, const std::string &what)
{
    fail("rank {}: descriptor {} ({}) cannot be saved: it is a socket {}", rank,
         file.descriptor, image.text(file.path), what);
}

/* The process at the other end, for people. */
std::string holder(std::uint64_t inode)
{
    auto process = holder_of(fmt::format("socket:[{}]", inode));
    return process ? fmt::format("process {} ({})", process->pid, process->name)
                   : std::string("a process that cannot be seen");
}

} // namespace

void Connections::survey(const RankImage &image, int rank)
{
    for (const ckpt_file &file : image.files) {
        if (is_socket(file)) {
            End &end = ends_[file.inode];
            end.peer = file.value;
            end.ranks.insert(rank);
        }
    }
}

const Connections::End *Connections::find(std::uint64_t inode) const
{
    auto found = ends_.find(inode);
    return found != ends_.end() ? &found->second : nullptr;
}

/* All that have the end or the other one. */
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
    return std::ranges::any_of(ends_, [this](const auto &entry) {
        return ranks_of(entry.second).size() > 1;
    });
}

void Connections::distribute_socket(const RankImage &image, ckpt_file &file,
                                    int rank) const
{
    const End *end = find(file.inode);
    const End *other = file.value != 0 ? find(file.value) : nullptr;
    if (file.value != 0 && other == nullptr) {
        refuse(image, file, rank,
               fmt::format("connected to {}, which is no rank of this job on "
                           "this node",
                           holder(file.value)));
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
    /* Such ranks have not told that anything leads out of them; and of packets
     * only one process at a time can see what has been received. */
    if (end->ranks == other->ranks ||
        (end->ranks.size() > 1 && file.detail != SOCK_STREAM)) {
        refuse(image, file, rank,
               fmt::format("that is open in the ranks {} at once",
                           fmt::join(end->ranks, " and ")));
    }
    file.sharers = static_cast<std::uint32_t>(ranks.size());
    file.size = *end->ranks.begin() == rank ? file.payload_size : 0;
}

void Connections::distribute(RankImage &image, int rank) const
{
    for (ckpt_file &file : image.files) {
        if (is_socket(file)) {
            distribute_socket(image, file, rank);
        }
    }
}

} // namespace ckpt
