/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * adopted.hpp - orphans of the ranks: processes that this process has not started, and whose parent
 * it becomes (PR_SET_CHILD_SUBREAPER).
 *
 * They may be frozen copies of ranks (docs/snapshots.md), which may come to life and replace ranks;
 * agents; daemons that the program leaves behind. Only copies matter here. A process belongs to
 * the launch from the moment at which it is seen as a frozen copy, by its name, until it ends. So a
 * copy that comes to life has to keep this name until MPI_Init has connected it to its world. All
 * others are only reaped.
 */
#pragma once

#include <set>

#include <sys/types.h>

namespace ckpt::launch
{

class Adopted
{
  public:
    /* From now on this process adopts orphans of its descendants. Throws Error. */
    Adopted();

    /* Looks for frozen copies among the children of this process. */
    void look();
    /* Whether a copy exists, frozen or alive. */
    bool has_any() const { return !copies_.empty(); }
    /* Whether a copy has come to life. */
    bool has_living() const;
    /* Reaps a child that has ended. */
    void reap(pid_t process);
    /* Sends a signal to those that have come to life. */
    void signal(int number) const;
    /* SIGTERM for all. A frozen copy takes it when it comes to life. Until then it runs on, as an
     * agent may be reading it. */
    void end() const;

  private:
    std::set<pid_t> copies_; /* children that are or were frozen copies, and are not reaped */
};

} // namespace ckpt::launch
