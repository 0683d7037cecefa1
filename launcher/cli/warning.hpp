/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warning.hpp - the end is announced by a signal: a last checkpoint, behind which nothing
 * of the job runs on.
 */
#pragma once

#include "image/tiers.hpp"

#include <set>
#include <string>

#include <sys/types.h>

namespace ckpt::cli
{

/* Signals by name: "USR1", "SIGTERM,SIGUSR2"; "": none. Of those that run_and_wait() waits
 * for. Throws Error that names the first other word. */
std::set<int> parse_signals(const std::string &text);

/*
 * The checkpoint that is taken when one of the signals comes. A process of its own asks for
 * it, so that whoever has this object waits for signals meanwhile, SIGCHLD too. A signal
 * that comes when nobody waits is noted. One object in a process; not for programs with
 * several threads.
 */
class LastCheckpoint
{
  public:
    LastCheckpoint(std::set<int> signals, TierDirectories directories, std::string job);
    LastCheckpoint(const LastCheckpoint &) = delete;
    LastCheckpoint &operator=(const LastCheckpoint &) = delete;

    /* True if the signal is the announcement, which begins the checkpoint, or comes while
     * that is under way. Otherwise it is for the job. Throws Error. */
    bool takes(int signal);

    /* To be asked after SIGCHLD: the signal, once, if there will be no checkpoint after all,
     * so that the job gets it; else 0. */
    int given_up();

    /* Waits for a checkpoint that is under way. */
    void wait();

    /* One of the signals has come. */
    bool is_announced() const;
    bool is_saved() const { return saved_; }

  private:
    void ended(int status);

    std::set<int> signals_;
    TierDirectories directories_;
    std::string job_;
    int signal_ = 0;    /* that has come; 0: none */
    pid_t process_ = 0; /* that asks; 0: none, or it has ended */
    bool saved_ = false;
};

} // namespace ckpt::cli
