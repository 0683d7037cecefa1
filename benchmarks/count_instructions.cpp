// SPDX-License-Identifier: BSD-3-Clause
//
// count_instructions PROGRAM [ARGUMENT...] - single-steps PROGRAM between its marks (see calls.c).
// Prints for each name the least number of instructions of the main thread, and how many of them
// were in our library. It takes the least number, because a progress loop checks for rarer events
// every few turns.
//
// The counts are exact also without performance counters, as in virtual machines, and the same from
// run to run. Other threads run freely and are not counted.

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

constexpr std::string_view our_library = "libckpt-mpi.so";

struct Instructions {
    std::uint64_t all = 0;
    std::uint64_t ours = 0;
};

struct Range {
    std::uint64_t begin, end;
};

// Finds the code of our library in the process.
std::vector<Range> our_code(pid_t pid)
{
    std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
    std::vector<Range> ranges;

    for (std::string line; std::getline(maps, line);) {
        Range range{};
        if (line.find(our_library) != std::string::npos &&
            std::sscanf(line.c_str(), "%lx-%lx", &range.begin, &range.end) == 2) {
            ranges.push_back(range);
        }
    }
    return ranges;
}

// A stopped process under ptrace.
class Traced
{
  public:
    explicit Traced(char **command)
        : pid_(fork())
    {
        if (pid_ < 0) {
            throw std::system_error(errno, std::generic_category(), "fork");
        }
        if (pid_ == 0) {
            ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
            execvp(command[0], command);
            std::perror(command[0]);
            _exit(127);
        }
    }

    // Goes on to the next stop, and delivers SIGNAL; false: the process ended.
    bool go_on(bool step, int signal)
    {
        if (started_) {
            ptrace(step ? PTRACE_SINGLESTEP : PTRACE_CONT, pid_, nullptr, signal);
        }
        started_ = true;
        if (waitpid(pid_, &status_, 0) < 0) {
            throw std::system_error(errno, std::generic_category(), "waitpid");
        }
        return WIFSTOPPED(status_);
    }

    int stop_signal() const { return WSTOPSIG(status_); }
    int exit_code() const { return WIFEXITED(status_) ? WEXITSTATUS(status_) : 1; }
    pid_t pid() const { return pid_; }

    user_regs_struct registers() const
    {
        user_regs_struct values{};
        ptrace(PTRACE_GETREGS, pid_, nullptr, &values);
        return values;
    }

    // Whether this stop is an int3, not a step or a sent signal.
    bool at_mark() const
    {
        siginfo_t info{};
        return stop_signal() == SIGTRAP &&
               ptrace(PTRACE_GETSIGINFO, pid_, nullptr, &info) == 0 &&
               info.si_code == SI_KERNEL;
    }

    std::string text(std::uint64_t address) const
    {
        char buffer[64] = "";
        iovec here{buffer, sizeof buffer - 1};
        iovec there{reinterpret_cast<void *>(address), sizeof buffer - 1};
        process_vm_readv(pid_, &here, 1, &there, 1, 0);
        return buffer;
    }

  private:
    pid_t pid_;
    int status_ = 0;
    bool started_ = false;
};

// Keeps the least count of each name.
class Counter
{
  public:
    // A mark with a name begins a count, an empty one ends it.
    void mark(const std::string &name, std::vector<Range> ours)
    {
        if (name.empty()) {
            keep_least();
        }
        name_ = name;
        ours_ = std::move(ours);
        now_ = {};
    }

    bool counting() const { return !name_.empty(); }

    void step(std::uint64_t address)
    {
        now_.all++;
        now_.ours += std::any_of(ours_.begin(), ours_.end(), [&](Range range) {
            return address >= range.begin && address < range.end;
        });
    }

    // Prints NAME ALL OURS, a line for each name.
    void print() const
    {
        for (const auto &[name, least] : calls_) {
            std::printf("%s %lu %lu\n", name.c_str(), least.all, least.ours);
        }
    }

  private:
    struct Call {
        std::string name;
        Instructions least;
    };

    void keep_least()
    {
        auto known = std::find_if(calls_.begin(), calls_.end(), [&](const Call &call) {
            return call.name == name_;
        });

        if (known == calls_.end()) {
            calls_.push_back({name_, now_});
        } else if (now_.all < known->least.all) {
            known->least = now_;
        }
    }

    std::vector<Call> calls_; // in the order of their first marks
    // The call under way; empty: none.
    std::string name_;
    Instructions now_;        // its instructions so far
    std::vector<Range> ours_; // see our_code()
};

int run(char **command)
{
    Traced traced(command);
    Counter counter;
    int deliver = 0;

    while (traced.go_on(counter.counting(), deliver)) {
        deliver = 0;
        if (traced.at_mark()) {
            auto name = traced.registers().rax;
            counter.mark(name ? traced.text(name) : "", our_code(traced.pid()));
        } else if (traced.stop_signal() != SIGTRAP) {
            deliver = traced.stop_signal();
        } else if (counter.counting()) {
            counter.step(traced.registers().rip);
        }
    }
    counter.print();
    return traced.exit_code();
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2) {
        std::fprintf(stderr, "usage: count_instructions PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    try {
        return run(argv + 1);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "count_instructions: %s\n", error.what());
        return 1;
    }
}
