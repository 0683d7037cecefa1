/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failure.cpp - a failure in words.
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

std::string end_of(const std::optional<int> &status)
{
    if (!status) {
        return "has ended before MPI_Finalize";
    }
    if (WIFSIGNALED(*status)) {
        return fmt::format("was killed by signal {} ({})", WTERMSIG(*status),
                           strsignal(WTERMSIG(*status)));
    }
    return fmt::format("has ended with code {} before MPI_Finalize", WEXITSTATUS(*status));
}

} // namespace

std::string Failure::text() const
{
    switch (kind) {
    case Kind::rank_ended:
        return fmt::format("rank {} on {} {}", rank, host, end_of(status));
    case Kind::rank_stopped:
        return fmt::format("rank {} on {} was stopped by a signal, and others wait for it",
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

std::string Failure::place() const
{
    switch (kind) {
    case Kind::rank_ended:
    case Kind::rank_stopped:
        return fmt::format("rank {}", rank);
    case Kind::node_lost:
        return fmt::format("node {}", host);
    case Kind::cut_off:
        return "here";
    case Kind::launcher_ended:
        break;
    }
    return "";
}

bool Failure::is_from_outside() const
{
    return kind == Kind::node_lost || kind == Kind::cut_off || kind == Kind::rank_stopped ||
           (kind == Kind::rank_ended && status && WIFSIGNALED(*status) &&
            (WTERMSIG(*status) == SIGKILL || WTERMSIG(*status) == SIGTERM));
}

int exit_code_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace ckpt
