/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_reaper.cpp - ends single threads of a child process with ptrace.
 */
#include "thread_reaper.hpp"

#include <cerrno>
#include <cstring>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

namespace
{

struct Error {
    std::string text;
};

void check(long result, const char *what)
{
    if (result < 0) {
        throw Error{std::string(what) + ": " + strerror(errno)};
    }
}

int wait_for(pid_t tid)
{
    int status = 0;

    check(waitpid(tid, &status, __WALL), "waitpid");
    return status;
}

/* Runs one system call in the thread, whose next instruction follows a
 * `syscall` instruction. */
void call(pid_t tid, const user_regs_struct &start, long number)
{
    user_regs_struct registers = start;

    registers.rip -= 2; /* the instruction itself */
    registers.rax = static_cast<unsigned long long>(number);
    registers.orig_rax = ~0ull; /* nothing to restart */
    registers.rdi = 0;
    registers.rsi = 24; /* set_robust_list: the size of a head */
    check(ptrace(PTRACE_SETREGS, tid, nullptr, &registers), "setregs");
    if (number == SYS_exit) {
        check(ptrace(PTRACE_DETACH, tid, nullptr, nullptr), "detach");
        return;
    }
    check(ptrace(PTRACE_SINGLESTEP, tid, nullptr, nullptr), "singlestep");
    if (!WIFSTOPPED(wait_for(tid))) {
        throw Error{"the thread ended too early"};
    }
    check(ptrace(PTRACE_GETREGS, tid, nullptr, &registers), "getregs");
    if (registers.rip != start.rip ||
        static_cast<long long>(registers.rax) < 0) {
        throw Error{"a system call in the thread failed"};
    }
}

void reap(pid_t tid)
{
    user_regs_struct start;

    check(ptrace(PTRACE_SEIZE, tid, nullptr, nullptr), "seize");
    check(ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr), "interrupt");
    if (!WIFSTOPPED(wait_for(tid))) {
        throw Error{"the thread did not stop"};
    }
    check(ptrace(PTRACE_GETREGS, tid, nullptr, &start), "getregs");
    call(tid, start, SYS_set_tid_address);
    call(tid, start, SYS_set_robust_list);
    call(tid, start, SYS_exit);
}

} // namespace

std::string reap_threads(const std::vector<pid_t> &tids)
{
    try {
        for (pid_t tid : tids) {
            reap(tid);
        }
    } catch (const Error &error) {
        return error.text;
    }
    return "";
}
