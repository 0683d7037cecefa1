/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * piece_group.hpp - a group of nodes for tests: each has a directory with its piece of one
 * checkpoint.
 */
#pragma once

#include "common/files/files.hpp"
#include "image/store/store.hpp"
#include "redundancy/block_source.hpp"
#include "redundancy/protect.hpp"
#include "redundancy/rebuild.hpp"
#include "tests/common/child_process.hpp"

#include <fcntl.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ckpt::test
{

inline const std::string group_job = "job", group_number = "000001";

class PieceGroup
{
  public:
    /* sizes: of the pieces, in bytes */
    PieceGroup(unsigned losses, const std::vector<std::uint64_t> &sizes)
    {
        std::vector<redundancy::Member> members;
        for (std::size_t i = 0; i < sizes.size(); i++) {
            const std::string host = "n" + std::to_string(i);
            std::string content(sizes[i], '\0');
            fill_random(std::as_writable_bytes(std::span(content)), i + 1);
            members.push_back({host, node_file_name(host), sizes[i]});
            contents_.push_back(content);
            make_private_directory(directory(i));
            write_text_file(piece(i, members[i].file), content, "piece");
        }
        group = redundancy::Group::make(losses, members);
    }

    std::size_t size() const { return contents_.size(); }
    /* The agent's directory on a node: JOB/NUMBER is below it. */
    std::filesystem::path root(std::size_t i) const
    {
        return std::filesystem::path(scratch_.path()) / std::to_string(i);
    }
    std::filesystem::path directory(std::size_t i) const
    {
        return root(i) / group_job / group_number;
    }
    std::filesystem::path piece(std::size_t i) const
    {
        return piece(i, group.members[i].file);
    }
    std::filesystem::path parity(std::size_t i) const
    {
        return directory(i) / parity_file_name(group.members[i].host);
    }

    void protect(std::size_t i) { protect(i, sources()); }
    void protect(std::size_t i, const std::vector<redundancy::BlockSource *> &sources)
    {
        write_parity(group, i, directory(i), sources, nullptr, never);
    }
    void protect()
    {
        for (std::size_t i = 0; i < size(); i++) {
            protect(i);
        }
    }

    /* Rebuilds the piece of a lost node in a new directory; returns its bytes. */
    std::string rebuilt(std::size_t i) { return rebuilt_from(i, sources({i})); }
    std::string rebuilt_from(std::size_t i,
                             const std::vector<redundancy::BlockSource *> &sources)
    {
        const std::filesystem::path place = scratch_ / "new";
        make_private_directory(place);
        rebuild_piece(group, i, place, sources, never);
        return read_text_file(place / group.members[i].file, "piece", ~0ull);
    }
    const std::string &content(std::size_t i) const { return contents_[i]; }

    /* Valid until the next call. */
    std::vector<redundancy::BlockSource *> sources(const std::set<std::size_t> &lost = {})
    {
        std::vector<redundancy::BlockSource *> all;
        sources_.clear();
        for (std::size_t i = 0; i < size(); i++) {
            if (lost.contains(i)) {
                all.push_back(nullptr);
            } else {
                sources_.push_back(
                    std::make_unique<redundancy::LocalSource>(directory(i)));
                all.push_back(sources_.back().get());
            }
        }
        return all;
    }

    redundancy::Group group;
    const std::atomic<bool> never = false;

  private:
    std::filesystem::path piece(std::size_t i, const std::string &file) const
    {
        return directory(i) / file;
    }

    ScratchDirectory scratch_;
    std::vector<std::string> contents_;
    std::vector<std::unique_ptr<redundancy::LocalSource>> sources_;
};

/* Changes one bit of a file. */
inline void damage(const std::filesystem::path &path, std::uint64_t offset)
{
    Fd fd = open_file(path, O_RDWR, 0, "file");
    char byte = 0;

    if (read_exactly(fd.get(), &byte, 1, offset) != 0) {
        fail("{} has no byte {}", path.string(), offset);
    }
    byte = static_cast<char>(byte ^ 4);
    if (write_exactly(fd.get(), &byte, 1, offset) != 0) {
        fail("{} cannot be changed", path.string());
    }
}

} // namespace ckpt::test
