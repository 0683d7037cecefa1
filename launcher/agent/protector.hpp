/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * protector.hpp - which ranks of this node are saved while they go on, behind write
 * protection (cll), and why others are not.
 */
#pragma once

#include "common/fd.hpp"
#include "image/page_pool.hpp"
#include "image/write_protection.hpp"

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace ckpt
{

class Protector
{
  public:
    /* is_wanted: else no rank is. Sizes as of PagePool. */
    Protector(bool is_wanted, std::size_t pool_bytes, std::size_t granule);

    /* For all checkpoints of the node; null if no rank is protected. */
    PagePool *pool() { return pool_ ? &*pool_ : nullptr; }

    /* Whether a rank is to be asked for a userfaultfd (WATCH). */
    bool asks(int rank) const { return pool_ && pause_ == 0 && refused_.count(rank) == 0; }
    /* It has brought one, or has told with an error number why it cannot. */
    void add(int rank, pid_t pid, Fd descriptor, int error);
    /* Of the last add(), once; or null: it is to be saved in another way. */
    std::shared_ptr<WriteProtection> take(int rank);

    /* A checkpoint has failed for what a program did: no rank is protected in the next
     * one; if it happens again, in the next two, four, eight and so on. */
    void pause(const std::string &reason);
    /* It has failed on another node: ranks here do the same, and are not tried, either. */
    void pause_too(const std::string &reason);
    /* A checkpoint has been taken. */
    void committed();

    void forget(int rank);

  private:
    void tell(int rank, const std::string &obstacle);

    std::optional<PagePool> pool_; /* if any is protected */
    unsigned pause_ = 0;           /* checkpoints without */
    unsigned next_pause_ = 1;
    std::map<int, std::shared_ptr<WriteProtection>> protections_; /* to be taken */
    std::set<int> refused_;                                       /* ranks */
};

} // namespace ckpt
