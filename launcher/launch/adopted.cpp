/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * adopted.cpp - finds frozen copies among the children of this process.
 */
#include "launch/adopted.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/processes.hpp"

#include "ckpt/copy.h"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ckpt::launch
{

namespace
{

bool is_frozen(std::int64_t process)
{
    return process_name(process) == CKPT_COPY_NAME;
}

/* The process may have ended, but is not reaped. */
void send(pid_t process, int number)
{
    if (kill(-process, number) != 0) { /* it leads no group */
        (void)kill(process, number);
    }
}

} // namespace

Adopted::Adopted()
{
    if (prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL) != 0) {
        fail_errno(errno, "cannot adopt orphans of the ranks");
    }
}

void Adopted::look()
{
    for (const std::int64_t process : process_ids()) {
        if (parent_of(process) == getpid() && is_frozen(process)) {
            copies_.insert(static_cast<pid_t>(process));
        }
    }
}

bool Adopted::has_living() const
{
    return std::ranges::any_of(copies_, [](pid_t process) {
        return is_running(process) && !is_frozen(process);
    });
}

void Adopted::reap(pid_t process)
{
    CKPT_EXPECT(process > 0);
    if (waitpid(process, nullptr, WNOHANG) == process) {
        copies_.erase(process);
    }
}

void Adopted::signal(int number) const
{
    for (const pid_t process : copies_) {
        if (!is_frozen(process)) {
            send(process, number);
        }
    }
}

void Adopted::end() const
{
    for (const pid_t process : copies_) {
        send(process, SIGTERM);
        send(process, SIGCONT); /* a stopped process takes SIGTERM only then */
    }
}

} // namespace ckpt::launch
