/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * membership_processes.cpp - the members of a job as processes of this machine.
 */
#include "tests/membership/membership_processes.hpp"

#include "common/error.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>

namespace ckpt::test
{

using namespace membership;

std::int64_t monotonic_now()
{
    return std::chrono::nanoseconds(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

namespace
{

/* The main loop of a member process. */
[[noreturn]] void be_member(UdpSocket socket, const Table &table,
                            const Protocol::Options &options, int events)
{
    EventLoop loop;
    const auto tell = [&](MemberEvent event) {
        event.member = table.self;
        event.when = monotonic_now();
        if (write(events, &event, sizeof event) != sizeof event) {
            _exit(1);
        }
    };
    Service::Handlers handlers;

    handlers.view = [&](const action::Install &install) {
        MemberEvent event;
        event.number = install.view.number;
        event.size = static_cast<std::uint32_t>(install.view.members.size());
        event.departed = static_cast<std::uint32_t>(install.departed.size());
        if (!install.departed.empty()) {
            event.who = install.departed[0].member;
            event.reason = install.departed[0].reason;
        } else if (!install.replaced.empty()) {
            event.who = install.replaced[0];
        }
        tell(event);
    };
    handlers.excluded = [&](const action::Excluded &excluded) {
        MemberEvent event;
        event.kind = MemberEvent::excluded;
        event.number = excluded.number;
        tell(event);
    };
    handlers.lost_majority = [&] {
        MemberEvent event;
        event.kind = MemberEvent::lost_majority;
        tell(event);
    };
    handlers.link = [&](const action::LinkChanged &link) {
        MemberEvent event;
        event.kind = MemberEvent::link;
        event.who = link.other;
        tell(event);
    };
    Service service(loop, std::move(socket), table, options, handlers);
    for (;;) {
        loop.turn(EventLoop::Time::clock::now() + std::chrono::hours(1));
    }
}

} // namespace

MemberProcesses::MemberProcesses(std::size_t members, Options options,
                                 const char *address)
    : options_(options), lives_(members, first_life), pids_(members, -1)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0) {
        fail_errno(errno, "no pipe");
    }
    events_.reset(ends[0]);
    events_end_.reset(ends[1]);
    table_.key = MessageKey::make();
    for (MemberId member = 0; member < members; member++) {
        sockets_.emplace_back(UdpSocket(0));
        table_.members.push_back(
            {"node" + std::to_string(member), {address}, sockets_.back()->port()});
    }
    for (MemberId member = 0; member < members; member++) {
        start(member);
    }
}

MemberProcesses::~MemberProcesses()
{
    for (MemberId member = 0; member < pids_.size(); member++) {
        kill(member);
    }
}

/* Only the member may have its socket open, otherwise the kernel would queue datagrams for a dead
 * member. */
void MemberProcesses::start(MemberId member)
{
    const pid_t parent = getpid();
    const pid_t pid = fork();

    if (pid < 0) {
        fail_errno(errno, "no process");
    }
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(1);
        }
        Table table = table_;
        table.self = member;
        table.life = lives_[member];
        UdpSocket socket = std::move(*sockets_[member]);
        sockets_.clear();
        try {
            be_member(std::move(socket), table, options_, events_end_.get());
        } catch (const std::exception &error) {
            std::fprintf(stderr, "member %u: %s\n", member, error.what());
        }
        _exit(1);
    }
    pids_[member] = pid;
    sockets_[member].reset();
}

void MemberProcesses::signal(MemberId member, int number)
{
    ::kill(pids_[member], number);
}

void MemberProcesses::kill(MemberId member)
{
    if (pids_[member] > 0) {
        ::kill(pids_[member], SIGKILL);
        waitpid(pids_[member], nullptr, 0);
        pids_[member] = -1;
    }
}

void MemberProcesses::replace(MemberId member)
{
    sockets_[member].emplace(table_.members[member].port);
    lives_[member]++;
    start(member);
}

std::optional<MemberEvent> MemberProcesses::next(std::chrono::milliseconds longest)
{
    pollfd wait{events_.get(), POLLIN, 0};
    MemberEvent event;

    if (poll(&wait, 1, static_cast<int>(longest.count())) <= 0 ||
        read(events_.get(), &event, sizeof event) != sizeof event) {
        return std::nullopt;
    }
    return event;
}

std::optional<MemberEvent>
MemberProcesses::await(const std::function<bool(const MemberEvent &)> &fits,
                       std::chrono::milliseconds longest)
{
    using namespace std::chrono;
    const auto end = steady_clock::now() + longest;

    for (;;) {
        const auto left = ceil<milliseconds>(end - steady_clock::now());
        auto event = left.count() > 0 ? next(left) : std::nullopt;
        if (!event || fits(*event)) {
            return event;
        }
    }
}

bool MemberProcesses::await_all(std::uint64_t view)
{
    std::set<MemberId> missing;

    for (MemberId member = 0; member < pids_.size(); member++) {
        if (pids_[member] > 0) {
            missing.insert(member);
        }
    }
    return await([&](const MemberEvent &event) {
               if (event.kind == MemberEvent::view && event.number >= view) {
                   missing.erase(event.member);
               }
               return missing.empty();
           })
        .has_value();
}

} // namespace ckpt::test
