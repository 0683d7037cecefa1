/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_process.cpp - executes a launcher, in this process or in a child.
 */
#include "cli/run/launch_process.hpp"

#include "cli/base/inherited_descriptors.hpp"
#include "common/invariant.hpp"
#include "common/pidfd.hpp"
#include "common/processes.hpp"

#include "ckpt/input.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ckpt::cli
{

namespace
{

std::vector<char *> pointers(const Words &words)
{
    std::vector<char *> array;
    for (const std::string &word : words) {
        array.push_back(const_cast<char *>(word.c_str()));
    }
    array.push_back(nullptr);
    return array;
}

/* Returns "DEVICE:INODE" of an output that is a file. */
std::string file_of(int fd)
{
    struct stat status {
    };
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        status = {};
    }
    return fmt::format("{:016x}:{:016x}", status.st_dev, status.st_ino);
}

/* For a program without a launcher, this tells which of its output files its parent has
 * opened. */
void tell_output(bool alone)
{
    unsetenv(CKPT_OUTPUT_VARIABLE);
    if (alone) {
        const std::string text = file_of(STDOUT_FILENO) + "," + file_of(STDERR_FILENO);
        setenv(CKPT_OUTPUT_VARIABLE, text.c_str(), 1);
    }
}

[[noreturn]] void become_or_end(const Invocation &invocation)
{
    try {
        become(invocation);
    } catch (const Error &problem) {
        fmt::print(stderr, "ckpt: {}\n", problem.what());
        (void)fflush(stderr);
        _exit(127);
    }
}

/* Waits until the parent opens the gate; exits if the parent has ended. */
void wait_for_gate(int gate)
{
    char byte;
    ssize_t got;

    do {
        got = read(gate, &byte, 1);
    } while (got < 0 && errno == EINTR);
    if (got != 1) {
        _exit(127);
    }
}

} // namespace

void become(const Invocation &invocation)
{
    const std::string &program = invocation.command.at(0);
    require_sound();
    for (const auto &[name, value] : invocation.environment) {
        setenv(name.c_str(), value.c_str(), 1);
    }
    if (invocation.input >= 0 && invocation.input != STDIN_FILENO &&
        dup2(invocation.input, STDIN_FILENO) < 0) {
        fail_errno(errno, "{} cannot be given its standard input", program);
    }
    tell_output(invocation.non_mpi);
    if (invocation.non_mpi) { /* see mpi-plugin/link/identity.h */
        setenv("CKPT_NON_MPI", process_identity(getpid()).c_str(), 1);
        close_inherited_descriptors(invocation.command);
    }
    if (!invocation.directory.empty() &&
        chdir(invocation.directory.c_str()) < 0) {
        fail_errno(errno, "cannot enter {}", invocation.directory.string());
    }
    execvp(program.c_str(), pointers(invocation.command).data());
    fail_errno(errno, "cannot start {}", program);
}

LauncherProcess::LauncherProcess(const Invocation &invocation, const sigset_t &mask,
                                 const std::function<void(pid_t)> &note)
{
    int gate[2];
    if (pipe2(gate, O_CLOEXEC) < 0) {
        fail_errno(errno, "cannot start {}", invocation.command.at(0));
    }
    Fd waits(gate[0]), opens(gate[1]);
    pid_ = fork();
    if (pid_ < 0) {
        fail_errno(errno, "cannot start {}", invocation.command.at(0));
    }
    if (pid_ == 0) {
        opens.reset();
        wait_for_gate(waits.get());
        sigprocmask(SIG_SETMASK, &mask, nullptr);
        become_or_end(invocation);
    }
    process_ = open_pidfd(pid_);
    if (!process_) {
        const int error = errno;
        give_up();
        fail_errno(error, "cannot watch {}", invocation.command.at(0));
    }
    try {
        note(pid_);
    } catch (...) {
        give_up();
        throw;
    }
    (void)write(opens.get(), "", 1); /* fails only if the process was killed */
}

void LauncherProcess::give_up() const
{
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
}

std::optional<int> LauncherProcess::exit_code()
{
    int status = 0;

    if (waitpid(pid_, &status, WNOHANG) != pid_) {
        return std::nullopt;
    }
    return exit_code_of(status);
}

std::optional<int> LauncherProcess::stop_signal() const
{
    siginfo_t info{};

    if (waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG) != 0 ||
        info.si_pid != pid_ || info.si_code != CLD_STOPPED) {
        return std::nullopt;
    }
    return info.si_status;
}

void LauncherProcess::signal(int number) const
{
    send_signal(process_, number);
}

} // namespace ckpt::cli
