/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warning.cpp - asks for the last checkpoint of a job, beside what else goes on.
 */
#include "cli/warning.hpp"

#include "cli/agent_client.hpp"
#include "cli/jobs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

namespace ckpt::cli
{

namespace
{

constexpr int starting_patience_ms = 10000;

constexpr std::array signals_waited_for = {SIGINT,  SIGTERM, SIGHUP,
                                           SIGQUIT, SIGUSR1, SIGUSR2};

volatile std::sig_atomic_t noted_signal = 0;

void note(int signal)
{
    noted_signal = signal;
}

int signal_of(const std::string &word)
{
    auto found = std::ranges::find_if(signals_waited_for, [&](int signal) {
        const std::string name = sigabbrev_np(signal);
        return word == name || word == "SIG" + name;
    });
    if (found == signals_waited_for.end()) {
        fail("{} is none of INT, TERM, HUP, QUIT, USR1, USR2", word);
    }
    return *found;
}

/* Asks the job's agent; the name of the checkpoint. Throws Error. */
std::string save_and_end(const TierDirectories &directories, const std::string &job)
{
    const RunningJob found = find_started_job(directories, job, starting_patience_ms);
    control::Request request;
    request.command = "checkpoint";
    request.then = "kill";
    const auto reply = ask_agent(found.socket, request, -1);
    if (!reply) {
        fail("it has just ended");
    }
    if (reply->event == "error") {
        fail("{}", reply->error);
    }
    return reply->result.name;
}

/* What the process does; its exit code. */
int save(const TierDirectories &directories, const std::string &job)
{
    try {
        fmt::print(stderr, "ckpt: saved as {}\n", save_and_end(directories, job));
        return 0;
    } catch (const std::exception &problem) {
        fmt::print(stderr, "ckpt: job {} was not saved: {}\n", job, problem.what());
        return 1;
    }
}

} // namespace

std::set<int> parse_signals(const std::string &text)
{
    std::set<int> found;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
        found.insert(signal_of(word));
    }
    return found;
}

LastCheckpoint::LastCheckpoint(std::set<int> signals, TierDirectories directories,
                               std::string job)
    : signals_(std::move(signals)), directories_(std::move(directories)),
      job_(std::move(job))
{
    struct sigaction action{};
    action.sa_handler = note;
    for (int signal : signals_) {
        sigaction(signal, &action, nullptr);
    }
}

bool LastCheckpoint::takes(int signal)
{
    if (!signals_.contains(signal) || (is_announced() && process_ == 0)) {
        return false;
    }
    if (process_ != 0) {
        return true;
    }
    signal_ = signal;
    fmt::print(stderr, "ckpt: SIG{}: job {} is saved and ended\n", sigabbrev_np(signal), job_);
    (void)fflush(stderr);
    process_ = fork();
    if (process_ < 0) {
        process_ = 0;
        fail_errno(errno, "cannot start a process");
    }
    if (process_ == 0) {
        const int code = save(directories_, job_);
        (void)fflush(stderr);
        _exit(code);
    }
    return true;
}

int LastCheckpoint::given_up()
{
    int status = 0;
    if (process_ == 0 || waitpid(process_, &status, WNOHANG) != process_) {
        return 0;
    }
    ended(status);
    return saved_ ? 0 : signal_;
}

void LastCheckpoint::wait()
{
    int status = 0;
    if (process_ != 0 && waitpid(process_, &status, 0) == process_) {
        ended(status);
    }
}

bool LastCheckpoint::is_announced() const
{
    return signal_ != 0 || noted_signal != 0;
}

void LastCheckpoint::ended(int status)
{
    process_ = 0;
    saved_ = WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace ckpt::cli
