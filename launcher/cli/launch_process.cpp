/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_process.cpp - exec and spawn of a launcher, signals in between.
 */
#include "cli/launch_process.hpp"

#include "cli/inherited_descriptors.hpp"
#include "cli/warning.hpp"
#include "common/processes.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

namespace ckpt::cli
{

namespace
{

constexpr int forwarded[] = {SIGINT,  SIGTERM, SIGHUP,
                             SIGQUIT, SIGUSR1, SIGUSR2};

/* Blocks the signals this file deals with, for as long as it lives. */
class BlockedSignals
{
  public:
    BlockedSignals()
    {
        sigemptyset(&set_);
        sigaddset(&set_, SIGCHLD);
        for (int signal : forwarded) {
            sigaddset(&set_, signal);
        }
        sigprocmask(SIG_BLOCK, &set_, &before_);
    }
    BlockedSignals(const BlockedSignals &) = delete;
    BlockedSignals &operator=(const BlockedSignals &) = delete;
    ~BlockedSignals() { restore(); }

    /* Context: also a forked child. */
    void restore() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }

    siginfo_t wait() const
    {
        siginfo_t info{};
        while (sigwaitinfo(&set_, &info) < 0 && errno == EINTR) {
        }
        return info;
    }

  private:
    sigset_t set_;
    sigset_t before_;
};

std::vector<char *> pointers(const Words &words)
{
    std::vector<char *> array;
    for (const std::string &word : words) {
        array.push_back(const_cast<char *>(word.c_str()));
    }
    array.push_back(nullptr);
    return array;
}

int exit_code_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool asks_for_end(int signal)
{
    return signal != SIGUSR1 && signal != SIGUSR2;
}

} // namespace

void become(const Invocation &invocation)
{
    const std::string &program = invocation.command.at(0);
    for (const auto &[name, value] : invocation.environment) {
        setenv(name.c_str(), value.c_str(), 1);
    }
    if (invocation.alone) { /* mpi-plugin/alone/identity.h */
        setenv("CKPT_ALONE", process_identity(getpid()).c_str(), 1);
        close_inherited_descriptors(invocation.command);
    }
    if (!invocation.directory.empty() &&
        chdir(invocation.directory.c_str()) < 0) {
        fail_errno(errno, "cannot enter {}", invocation.directory.string());
    }
    execvp(program.c_str(), pointers(invocation.command).data());
    fail_errno(errno, "cannot start {}", program);
}

Ending run_and_wait(const Invocation &invocation, LastCheckpoint *last)
{
    BlockedSignals signals;
    if (last != nullptr && last->is_announced()) {
        return {exit_failed, true}; /* it came when nothing ran */
    }
    pid_t child = fork();
    if (child < 0) {
        fail_errno(errno, "cannot start {}", invocation.command.at(0));
    }
    if (child == 0) {
        signals.restore();
        try {
            become(invocation);
        } catch (const Error &problem) {
            fmt::print(stderr, "ckpt: {}\n", problem.what());
            _exit(127);
        }
    }

    Ending ending;
    for (;;) {
        siginfo_t info = signals.wait();
        int status = 0;
        if (last != nullptr && last->takes(info.si_signo)) {
            continue;
        }
        const int given_up = last != nullptr ? last->given_up() : 0;
        if (given_up != 0) {
            kill(child, given_up);
        }
        if (info.si_signo != SIGCHLD) {
            ending.by_user |= asks_for_end(info.si_signo);
            if (info.si_code != SI_KERNEL) {
                kill(child, info.si_signo);
            }
        } else if (waitpid(child, &status, WNOHANG) == child) {
            ending.exit_code = exit_code_of(status);
            if (last != nullptr) {
                last->wait();
            }
            return ending;
        }
    }
}

} // namespace ckpt::cli
