/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_server_process.cpp - forks the page server and its guardian.
 */
#include "config.h"
#include "restart/page_server_process.hpp"

#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/invariant.hpp"
#include "common/pidfd.hpp"
#include "common/processes.hpp"
#include "common/refusal.hpp"
#include "common/sockets/descriptor_passing.hpp"
#include "restart/page_server.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace ckpt::restart
{

namespace
{

/* What the two processes have from the restart program. */
struct Inheritance {
    const PageSource &source;
    const MissingPages &missing;
    const Fd &faults;
    pid_t pid;  /* of the restarted process */
    Fd process; /* its pidfd */
    Fd connection;
};

/* The launcher waits for the end of what its processes write, and knows their descriptors. Messages
 * of errors go to standard error. */
void leave_launcher(const std::set<int> &inherited)
{
    for (const int fd : inherited) {
        ::close(fd);
    }
    const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!null || ::dup2(null.get(), STDIN_FILENO) < 0 || ::dup2(null.get(), STDOUT_FILENO) < 0 ||
        ::setsid() < 0) {
        fail_errno(errno, "the page server cannot leave the launcher");
    }
}

/* Ends the process and those that it has forked: their memory is incomplete, too. */
void end_processes(const Inheritance &from)
{
    std::set<std::int64_t> doomed = {from.pid};
    for (std::size_t before = 0; before != doomed.size();) {
        before = doomed.size();
        for (const std::int64_t pid : process_ids()) {
            if (doomed.contains(parent_of(pid))) {
                doomed.insert(pid);
            }
        }
    }
    doomed.erase(from.pid);
    for (const std::int64_t pid : doomed) {
        (void)::kill(static_cast<pid_t>(pid), SIGKILL);
    }
    send_signal(from.process, SIGKILL);
}

void tell(const PageSource &source, const std::string &text)
{
    fmt::print(stderr, "ckpt: rank {}: {}; the program cannot go on\n", source.rank, text);
}

[[noreturn]] void be_page_server(Inheritance &from)
{
    (void)::prctl(PR_SET_NAME, page_server_name);
    int status = 1;
    try {
        const NodeFileReader &reader = from.source.reader;
        const auto read = [&](std::uint64_t saved, std::span<std::byte> bytes) {
            const MemoryPlace place{saved, bytes};
            reader.read_pages(from.source.rank, {&place, 1});
        };
        Fd faults(::fcntl(from.faults.get(), F_DUPFD_CLOEXEC, 0));
        Fd end(::fcntl(from.process.get(), F_DUPFD_CLOEXEC, 0));
        if (!faults || !end) {
            fail_errno(errno, "the page server has no descriptors");
        }
        PageServer server({from.pid, std::move(end), std::move(from.connection),
                           fault_strikes("pages-on-demand")},
                          FaultDescriptor(std::move(faults)), from.missing, reader.chunk_size(),
                          read);
        server.run();
        status = 0;
    } catch (const std::exception &error) {
        tell(from.source, message_of(error));
        end_processes(from);
    }
    ::_exit(status);
}

/* The guardian keeps the userfaultfd open until the process has ended. */
[[noreturn]] void be_guardian(Inheritance &from)
{
    (void)::prctl(PR_SET_NAME, guardian_name);
    const pid_t server = ::fork();
    if (server == 0) {
        be_page_server(from);
    }
    from.connection.reset();
    int status = 0;
    pid_t ended = -1;
    while (server > 0 && (ended = ::waitpid(server, &status, 0)) < 0 && errno == EINTR) {
    }
    if (ended != server) {
        tell(from.source, "the page server cannot be started or watched");
        end_processes(from);
    } else if (WIFSIGNALED(status)) {
        tell(from.source, fmt::format("signal {} has ended the page server before all memory was "
                                      "there",
                                      WTERMSIG(status)));
        end_processes(from);
    }
    ::_exit(0);
}

/* Waits for the process between this one and the guardian. */
void await_intermediate(pid_t child)
{
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            fail_errno(errno, "the page server cannot be started");
        }
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fail("the page server cannot be started");
    }
}

[[noreturn]] void be_intermediate(Inheritance &from, const std::set<int> &inherited)
{
    try {
        leave_launcher(inherited);
        const pid_t guardian = ::fork();
        if (guardian == 0) {
            be_guardian(from);
        }
        ::_exit(guardian > 0 ? 0 : 1);
    } catch (const std::exception &error) {
        fmt::print(stderr, "ckpt-restart: {}\n", message_of(error));
        ::_exit(1);
    }
}

} // namespace

std::set<int> inherited_descriptors()
{
    std::set<int> inherited;
    std::error_code error;
    for (const auto &path : descriptors_of(::getpid(), &error)) {
        const int fd = std::stoi(path.filename());
        if (fd > STDERR_FILENO && ::fcntl(fd, F_GETFD) >= 0) {
            inherited.insert(fd);
        }
    }
    if (error) {
        throw Error("the open descriptors cannot be listed: " + error.message(), error.value());
    }
    return inherited;
}

Fd start_page_server(const PageSource &source, const MissingPages &missing, const Fd &faults,
                     const std::set<int> &inherited)
{
    CKPT_EXPECT(faults && !missing.empty());
    auto [ours, theirs] = connected_pair(SOCK_STREAM, "no connection with the page server");
    Inheritance from{source, missing, faults, ::getpid(), open_pidfd(::getpid()),
                     std::move(theirs)};
    if (!from.process) {
        fail_errno(errno, "the page server could not see this process end");
    }
    const pid_t child = ::fork();
    if (child < 0) {
        fail_errno(errno, "the page server cannot be started");
    }
    if (child == 0) {
        ours.reset();
        be_intermediate(from, inherited);
    }
    await_intermediate(child);
    CKPT_INVARIANT(ours && from.process);
    return std::move(ours); /* no variable, but a name in a pair */
}

} // namespace ckpt::restart
