/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * protector.hpp - decides which ranks of this node are saved while they run on, with write
 * protection (cll), and why others are not.
 */
#pragma once

#include "common/fd.hpp"
#include "image/memory/page_pool.hpp"
#include "image/memory/write_protection.hpp"

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
    /* is_wanted: if false, no rank is protected. Sizes as in PagePool. */
    Protector(bool is_wanted, std::size_t pool_bytes, std::size_t granule);

    /* The pool for all checkpoints of the node; null if no rank is protected. */
    PagePool *pool() { return pool_ ? &*pool_ : nullptr; }

    /* Whether the agent has to ask the rank for a userfaultfd (WATCH). */
    bool asks(int rank) const { return pool_ && pause_ == 0 && refused_.count(rank) == 0; }
    /* Takes the rank's userfaultfd, or the error number that says why it has none. */
    void add(int rank, pid_t pid, Fd descriptor, int error);
    /* Returns the protection that add() made, once; null: the rank has to be saved in another
     * way. */
    std::shared_ptr<WriteProtection> take(int rank);

    /* A program's action has made a checkpoint fail. No rank is protected in the next
     * checkpoint; if that happens again, in the next two, four, eight and so on. */
    void pause(const std::string &reason);
    /* The checkpoint has failed on another node. The ranks here run the same program, so they
     * are not protected either. */
    void pause_too(const std::string &reason);
    /* A checkpoint has been taken. */
    void committed();

    void forget(int rank);

  private:
    void tell(int rank, const std::string &obstacle);

    std::optional<PagePool> pool_; /* set if ranks are to be protected */
    unsigned pause_ = 0;           /* number of checkpoints without protection */
    unsigned next_pause_ = 1;
    std::map<int, std::shared_ptr<WriteProtection>> protections_; /* not yet taken by take() */
    std::set<int> refused_;                                       /* ranks that cannot be
                                                                     protected */
};

} // namespace ckpt
