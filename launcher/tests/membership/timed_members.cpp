/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timed_members.cpp - the members of a job in this process, over loopback, in simulated time.
 */
#include "tests/membership/timed_members.hpp"

#include "common/error.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace ckpt::test
{

using namespace membership;

namespace
{

constexpr std::chrono::milliseconds step(5); /* much less than a heartbeat */

/* An alarm that rings when the user of this class says that its time has come. */
class SetAlarm : public Alarm
{
  public:
    explicit SetAlarm(const Time &clock)
        : clock_(clock), bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
    {
        if (!bell_) {
            fail_errno(errno, "no eventfd");
        }
    }

    Time now() const override { return clock_; }
    int fd() const override { return bell_.get(); }
    void set(Time when) override
    {
        when_ = when;
        quiet();
        look();
    }
    void quiet() override
    {
        eventfd_t count;

        (void)eventfd_read(bell_.get(), &count); /* the counter may be zero */
    }
    void look()
    {
        if (when_ <= clock_ && eventfd_write(bell_.get(), 1) < 0) {
            fail_errno(errno, "cannot ring");
        }
    }

  private:
    const Time &clock_;
    Fd bell_;
    Time when_ = Time::max();
};

bool is_ready(int fd, int longest_ms)
{
    pollfd wait{fd, POLLIN, 0};

    return poll(&wait, 1, longest_ms) > 0;
}

} // namespace

struct TimedMembers::Member {
    EventLoop loop; /* outlives the objects that it watches */
    int socket = -1;
    SetAlarm *alarm = nullptr; /* the service's alarm */
    std::unique_ptr<Service> service;
    Life life = first_life;
    bool frozen = false;

    bool runs() const { return service != nullptr && !frozen; }
    bool is_due() const
    {
        return runs() && (is_ready(socket, 0) || is_ready(alarm->fd(), 0));
    }
};

TimedMembers::TimedMembers(std::size_t members, Options options, const char *address)
    : options_(options), began_(std::chrono::hours(1)), now_(began_),
      probed_(*Endpoint::parse(address, probe_.port()))
{
    cpu_set_t here;
    std::vector<UdpSocket> sockets;

    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    if (sched_getaffinity(0, sizeof processors_, &processors_) < 0 ||
        sched_setaffinity(0, sizeof here, &here) < 0) {
        fail_errno(errno, "cannot stay on one processor");
    }
    table_.key = MessageKey::make();
    for (MemberId member = 0; member < members; member++) {
        sockets.emplace_back(0);
        table_.members.push_back(
            {"node" + std::to_string(member), {address}, sockets.back().port()});
        members_.push_back(std::make_unique<Member>());
    }
    for (MemberId member = 0; member < members; member++) {
        start(member, std::move(sockets[member]));
    }
}

TimedMembers::~TimedMembers()
{
    sched_setaffinity(0, sizeof processors_, &processors_);
}

void TimedMembers::start(MemberId member, UdpSocket socket)
{
    Member &started = *members_[member];
    auto alarm = std::make_unique<SetAlarm>(now_);
    Table table = table_;

    table.self = member;
    table.life = started.life;
    started.socket = socket.fd();
    started.alarm = alarm.get();
    started.service =
        std::make_unique<Service>(started.loop, std::move(socket), table, options_,
                                  handlers(member), std::move(alarm));
}

Service::Handlers TimedMembers::handlers(MemberId member)
{
    const auto tell = [this, member](Told told) {
        told.member = member;
        told.when = now();
        told_.push_back(told);
    };
    Service::Handlers handlers;

    handlers.view = [tell](const action::Install &install) {
        Told told;
        told.number = install.view.number;
        told.size = install.view.members.size();
        told.departed = install.departed.size();
        if (!install.departed.empty()) {
            told.who = install.departed[0].member;
            told.reason = install.departed[0].reason;
        } else if (!install.replaced.empty()) {
            told.who = install.replaced[0];
        }
        tell(told);
    };
    handlers.excluded = [tell](const action::Excluded &excluded) {
        Told told;
        told.kind = Told::excluded;
        told.number = excluded.number;
        tell(told);
    };
    handlers.lost_majority = [tell] {
        Told told;
        told.kind = Told::lost_majority;
        tell(told);
    };
    return handlers;
}

void TimedMembers::freeze(MemberId member)
{
    members_[member]->frozen = true;
}

void TimedMembers::thaw(MemberId member)
{
    members_[member]->frozen = false;
    members_[member]->alarm->look();
}

void TimedMembers::kill(MemberId member)
{
    members_[member]->service.reset();
}

void TimedMembers::replace(MemberId member)
{
    members_[member]->life++;
    start(member, UdpSocket(table_.members[member].port));
}

TimedMembers::Duration TimedMembers::now() const
{
    return std::chrono::duration_cast<Duration>(now_ - began_);
}

/* Waits until all sent datagrams have arrived, and the kernel's answers to them: the kernel queues
 * loopback datagrams for each processor. */
void TimedMembers::await_delivery()
{
    std::array<std::byte, 8> bytes{};

    for (int i = 0; i < 2; i++) {
        if (!probe_.send(bytes, probed_) || !is_ready(probe_.fd(), 30000) ||
            !probe_.receive(bytes)) {
            fail("a datagram over loopback is lost");
        }
    }
}

void TimedMembers::settle()
{
    bool changed = true;

    while (changed) {
        changed = false;
        await_delivery();
        for (const auto &member : members_) {
            if (member->is_due()) {
                member->loop.turn({});
                changed = true;
            }
        }
    }
}

void TimedMembers::pass(Duration duration)
{
    now_ += duration;
    for (const auto &member : members_) {
        if (member->runs()) {
            member->alarm->look();
        }
    }
}

std::optional<Told> TimedMembers::await(const std::function<bool(const Told &)> &fits,
                                        Duration longest)
{
    const Duration end = now() + longest;

    for (;;) {
        settle();
        for (; read_ < told_.size(); read_++) {
            if (fits(told_[read_])) {
                return told_[read_++];
            }
        }
        if (now() >= end) {
            return std::nullopt;
        }
        pass(step);
    }
}

} // namespace ckpt::test
