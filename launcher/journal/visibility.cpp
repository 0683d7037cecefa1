/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * visibility.cpp - distinguishes file systems that hosts share from those of
 * one host.
 */
#include "config.h"
#include "journal/visibility.hpp"

#include "common/error.hpp"
#include "common/host.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <optional>

namespace ckpt::journal
{

namespace fs = std::filesystem;

namespace
{

/* Magic numbers that linux/magic.h does not define. */
constexpr long lustre_magic = 0x0bd00bd0;
constexpr long gpfs_magic = 0x47504653;
constexpr long beegfs_magic = 0x19830326;
constexpr long panfs_magic = 0xaad7aaea;
constexpr std::array network_magics = {
    long{NFS_SUPER_MAGIC}, long{AFS_SUPER_MAGIC}, long{AFS_FS_MAGIC},
    long{CEPH_SUPER_MAGIC}, long{V9FS_MAGIC}, long{FUSE_SUPER_MAGIC},
    long{SMB_SUPER_MAGIC}, long{CIFS_SUPER_MAGIC}, long{SMB2_SUPER_MAGIC},
    long{OCFS2_SUPER_MAGIC}, lustre_magic, gpfs_magic, beegfs_magic, panfs_magic};

/* Returns the nearest parent directory of `path` that exists. */
std::optional<struct stat> directory_above(fs::path &path)
{
    struct stat status;

    do {
        path = path.parent_path();
        if (::stat(path.c_str(), &status) == 0) {
            return status;
        }
    } while (path.has_relative_path());
    return std::nullopt;
}

bool is_of_network(const fs::path &directory)
{
    struct statfs status;

    return ::statfs(directory.c_str(), &status) == 0 &&
           std::ranges::find(network_magics, static_cast<long>(status.f_type)) !=
               network_magics.end();
}

bool has_inode(const fs::path &path, std::uint64_t inode)
{
    struct stat status;

    return inode != 0 && ::lstat(path.c_str(), &status) == 0 && status.st_ino == inode;
}

struct Doubt {
    std::string path, directory;
};

class Visibility
{
  public:
    explicit Visibility(const Journal &journal)
        : journal_(journal)
    {
        struct stat status;
        if (::stat(journal.directory.c_str(), &status) == 0) {
            device_ = status.st_dev;
        }
    }

    void look_at(const Record &record)
    {
        const std::string &host = journal_.log_of(record).host;
        fs::path directory = record.path;

        if (host == here_) {
            return;
        }
        const auto status = directory_above(directory);
        const dev_t device = status ? status->st_dev : 0;
        if (status && (device == device_ || is_proof(record))) {
            shared_.insert({host, device});
        }
        doubts_.try_emplace({host, device}, Doubt{record.path, directory});
    }

    std::vector<std::string> obstacles() const
    {
        std::vector<std::string> all;
        for (const auto &[key, doubt] : doubts_) {
            if (!shared_.contains(key) && !is_of_network(doubt.directory)) {
                all.push_back(fmt::format("{}: was changed on {}, in a file system that is not "
                                          "seen on {}; restart on {}",
                                          doubt.path, key.first, here_, key.first));
            }
        }
        return all;
    }

  private:
    bool is_proof(const Record &record) const
    {
        return (record.keeps_file() && !record.has(CKPT_JOURNAL_IS_COPY) &&
                has_inode(journal_.kept_file(record), record.head.inode)) ||
               has_inode(record.path, record.head.inode);
    }

    const Journal &journal_;
    const std::string here_ = host_name();
    dev_t device_ = 0;
    std::map<std::pair<std::string, dev_t>, Doubt> doubts_;
    std::set<std::pair<std::string, dev_t>> shared_;
};

} // namespace

std::vector<std::string> elsewhere(const Journal &journal, const Plan &plan)
{
    Visibility visibility(journal);

    for (const Record *step : plan.steps) {
        visibility.look_at(*step);
    }
    return visibility.obstacles();
}

} // namespace ckpt::journal
