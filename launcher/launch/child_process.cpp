/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * child_process.cpp - fork and exec.
 */
#include "launch/child_process.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/pidfd.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ckpt::launch
{

namespace
{

std::vector<char *> pointers(const std::vector<std::string> &words)
{
    std::vector<char *> array;
    for (const std::string &word : words) {
        array.push_back(const_cast<char *>(word.c_str()));
    }
    array.push_back(nullptr);
    return array;
}

/* Returns whether `input` is standard input now, otherwise sets errno. */
bool take_input(int input)
{
    const int source = input < 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : input;

    return source == STDIN_FILENO || (source >= 0 && dup2(source, STDIN_FILENO) >= 0);
}

/* Returns whether this process may run only on these processors from now on, otherwise sets
 * errno. */
bool run_on(const std::vector<int> &processors)
{
    if (processors.empty()) {
        return true;
    }
    const int count = *std::ranges::max_element(processors) + 1;
    const std::size_t size = CPU_ALLOC_SIZE(count);
    std::vector<cpu_set_t> set(size / sizeof(cpu_set_t) + 1); /* all clear */
    for (int processor : processors) {
        CPU_SET_S(static_cast<std::size_t>(processor), size, set.data());
    }
    return sched_setaffinity(0, size, set.data()) == 0;
}

/* Runs in the child. Writes errno to `report` if something fails. */
[[noreturn]] void become(const ChildStart &start, int report)
{
    const std::vector<char *> argv = pointers(start.program);
    const std::vector<char *> environment = pointers(start.environment);

    (void)setpgid(0, 0); /* cannot fail for a new process */

    (void)close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC); /* Linux 5.11 */
    if (take_input(start.input) && run_on(start.processors) &&
        (start.endpoint < 0 || fcntl(start.endpoint, F_SETFD, 0) == 0) &&
        (start.directory.empty() || chdir(start.directory.c_str()) == 0) &&
        sigprocmask(SIG_SETMASK, &start.mask, nullptr) == 0) {
        (void)execvpe(argv[0], argv.data(), environment.data());
    }
    const int error = errno;
    (void)!write(report, &error, sizeof error); /* the parent has ended */
    _exit(127);
}

/* Returns errno of the child; 0 when its program is being executed. */
int await_program(const Fd &reports)
{
    int error = 0;
    ssize_t got = 0;

    do {
        got = read(reports.get(), &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    return got == 0 ? 0 : error;
}

} // namespace

ChildProcess::ChildProcess(const ChildStart &start)
{
    int ends[2];

    CKPT_EXPECT(!start.program.empty());
    if (pipe2(ends, O_CLOEXEC) != 0) {
        fail_errno(errno, "cannot start {}", start.program.front());
    }
    const Fd reports(ends[0]);
    Fd report(ends[1]);
    pid_ = fork();
    if (pid_ == 0) {
        become(start, report.get());
    }
    if (pid_ < 0) {
        fail_errno(errno, "cannot start {}", start.program.front());
    }
    report.reset();
    int error = await_program(reports);
    process_ = open_pidfd(pid_);
    if (error == 0 && !process_) {
        error = errno;
        signal(SIGKILL);
    }
    if (error != 0) {
        (void)await_status(0);
        fail_errno(error, "cannot start {}", start.program.front());
    }
}

std::optional<int> ChildProcess::take_status()
{
    int status = 0;

    if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_) {
        status_ = status;
    }
    return status_;
}

int ChildProcess::await_status(int timeout)
{
    pollfd end{process_.get(), POLLIN, 0};
    int status = 0;
    pid_t got = 0;

    if (status_) {
        return *status_;
    }
    if (poll(&end, 1, timeout) != 1) {
        signal(SIGKILL);
    }
    do {
        got = waitpid(pid_, &status, 0);
    } while (got < 0 && errno == EINTR);
    CKPT_INVARIANT(got == pid_);
    status_ = status;
    return status;
}

void ChildProcess::signal(int number) const
{
    CKPT_EXPECT(pid_ > 0 && !status_);
    if (kill(-pid_, number) != 0) { /* the process may have left its group */
        (void)kill(pid_, number);
    }
}

} // namespace ckpt::launch
