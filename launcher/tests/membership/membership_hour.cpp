/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * membership_hour.cpp - counts false alarms of the membership on an overloaded machine, and
 * measures how soon it then notices members that freeze or die. Not a test.
 *
 * Usage: membership_hour [SECONDS [MEMBERS [BUSY]]]      (3600 s, 6 members, 8 busy)
 *
 * The members are processes of this machine, beside BUSY others that only compute. The exit code is
 * 1 if there was a false alarm.
 */
#include "tests/membership/membership_processes.hpp"

#include <fmt/format.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <vector>

using namespace ckpt;
using namespace ckpt::test;
using namespace std::chrono_literals;

namespace
{

/* Processes that keep all processors busy while this object lives. */
class BusyProcesses
{
  public:
    explicit BusyProcesses(int count)
    {
        for (int i = 0; i < count; i++) {
            const pid_t pid = fork();
            if (pid == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                volatile unsigned long work = 0;
                for (;;) {
                    work = work + 1;
                }
            }
            pids_.push_back(pid);
        }
    }
    ~BusyProcesses()
    {
        for (pid_t pid : pids_) {
            ::kill(pid, SIGKILL);
            waitpid(pid, nullptr, 0);
        }
    }

  private:
    std::vector<pid_t> pids_;
};

const char *kind_name(MemberEvent::Kind kind)
{
    switch (kind) {
    case MemberEvent::view:
        return "a new view";
    case MemberEvent::excluded:
        return "is out";
    case MemberEvent::lost_majority:
        return "has no majority";
    case MemberEvent::link:
        break;
    }
    return "a link is dead, or back";
}

/* Counts the reports of members while all are well. */
int count_alarms(MemberProcesses &job, std::chrono::seconds duration)
{
    const auto end = std::chrono::steady_clock::now() + duration;
    int alarms = 0;

    while (std::chrono::steady_clock::now() < end) {
        auto event = job.next(100ms);
        if (event) {
            fmt::print("  member {}: {} ({})\n", event->member, kind_name(event->kind),
                       event->number);
            alarms++;
        }
    }
    return alarms;
}

/* Returns the time in milliseconds until some member has a view without `victim`. */
double time_to_notice(MemberProcesses &job, membership::MemberId victim, bool freeze)
{
    const auto before = monotonic_now();

    if (freeze) {
        job.signal(victim, SIGSTOP);
    } else {
        job.kill(victim);
    }
    auto event = job.await([&](const MemberEvent &one) {
        return one.kind == MemberEvent::view && one.departed > 0 && one.who == victim;
    });
    return event ? static_cast<double>(event->when - before) / 1e6 : -1;
}

long milliseconds(std::chrono::nanoseconds duration)
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

long argument(int count, char **arguments, int which, long otherwise)
{
    return count > which ? std::strtol(arguments[which], nullptr, 10) : otherwise;
}

} // namespace

int main(int argc, char **argv)
{
    const std::chrono::seconds duration(argument(argc, argv, 1, 3600));
    const auto members = static_cast<std::size_t>(argument(argc, argv, 2, 6));
    const int busy_count = static_cast<int>(argument(argc, argv, 3, 8));
    const MemberProcesses::Options options;

    BusyProcesses busy(busy_count);
    MemberProcesses job(members, options);
    if (!job.await_all(1)) {
        fmt::print("the members did not begin\n");
        return 1;
    }
    const int alarms = count_alarms(job, duration);
    fmt::print("{} s, {} members, {} busy processes on {} processors: {} false alarms\n",
               duration.count(), members, busy_count, sysconf(_SC_NPROCESSORS_ONLN),
               alarms);
    membership::MemberId victim = 1;
    for (; victim + 3 < members; victim++) { /* three remain, for one more failure */
        fmt::print("member {} frozen: out after {:.0f} ms (3 H are {} ms)\n", victim,
                   time_to_notice(job, victim, true),
                   milliseconds(3 * options.heartbeat));
    }
    fmt::print("member {} killed and not replaced: out after {:.0f} ms ({} allowed)\n",
               victim, time_to_notice(job, victim, false),
               milliseconds(options.replacement));
    return alarms == 0 ? 0 : 1;
}
