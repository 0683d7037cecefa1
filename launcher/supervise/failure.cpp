/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failure.cpp - failures as text.
 */
#include "supervise/failure.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstring>

#include <sys/wait.h>

namespace ckpt
{

namespace
{

constexpr int signal_code = 128; /* added by a shell for a process that a signal has killed */

/* Whether a signal usually comes from outside: from the kernel when memory runs out or the
 * hardware has a memory error, or from a batch system. A program's own errors rarely cause these
 * signals. */
bool is_sent(int signal)
{
    return signal == SIGKILL || signal == SIGTERM || signal == SIGBUS;
}

std::string end_of(const std::optional<int> &status, bool is_finished)
{
    const char *when = is_finished ? "" : " before MPI_Finalize";
    if (!status) {
        return fmt::format("has ended{}", when);
    }
    if (WIFSIGNALED(*status)) {
        return fmt::format("was killed by signal {} ({})", WTERMSIG(*status),
                           strsignal(WTERMSIG(*status)));
    }
    return fmt::format("has ended with code {}{}", WEXITSTATUS(*status), when);
}

} // namespace

std::string Failure::text() const
{
    switch (kind) {
    case Kind::rank_ended:
        if (rank < 0) {
            return fmt::format("a process that was not yet a rank {}", end_of(status, true));
        }
        return fmt::format("rank {} on {} {}", rank, host, end_of(status, is_finished));
    case Kind::rank_stopped:
        return fmt::format("rank {} on {} was stopped by a signal while other ranks wait for it",
                           rank, host);
    case Kind::node_lost:
        return fmt::format("node {} was lost", host);
    case Kind::cut_off:
        return "most nodes of the job cannot be reached from here";
    case Kind::launcher_ended:
        break;
    }
    return fmt::format("the job ended with code {}", exit_code);
}

std::string Failure::salvage_text() const
{
    if (salvaged != 0) {
        return fmt::format("; it is replayed, the others are saved as number {}", salvaged);
    }
    return why_not_salvaged.empty() ? std::string() : "; " + why_not_salvaged;
}

std::string Failure::place() const
{
    switch (kind) {
    case Kind::rank_ended:
    case Kind::rank_stopped:
        return rank < 0 ? "" : fmt::format("rank {}", rank);
    case Kind::node_lost:
        return fmt::format("node {}", host);
    case Kind::cut_off:
        return "here";
    case Kind::launcher_ended:
        break;
    }
    return "the launcher";
}

bool Failure::is_from_outside() const
{
    switch (kind) {
    case Kind::node_lost:
    case Kind::cut_off:
    case Kind::rank_stopped:
        return true;
    case Kind::rank_ended:
    case Kind::launcher_ended:
        break;
    }
    if (status) {
        return WIFSIGNALED(*status) && is_sent(WTERMSIG(*status));
    }
    /* launchers end with such a code, too, if a rank was killed */
    return exit_code > signal_code && is_sent(exit_code - signal_code);
}

} // namespace ckpt
