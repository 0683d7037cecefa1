/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_rank.cpp - a process that speaks the rank side of docs/protocol.md with real memory, for
 * tests of the agent.
 *
 *   fake_rank RANK COUNT NAMESPACE CKPTD COORDINATOR MEBIBYTES REFUSAL
 *
 * If COORDINATOR is "", the rank's own agent coordinates. REFUSAL, if not "", is the reason why the
 * rank cannot be saved. The rank "enters collectives" all the time, at a speed that differs from
 * rank to rank. It reads its connection only when the signal comes or when it holds. A line on
 * stdin makes it call MPI_Finalize; the end of stdin ends it. It prints "address TEXT", "captured",
 * "resumed TEXT" and "agent lost".
 *
 * With FAKE_PAGE, a file, the rank enters no collectives and shares the file as the page of ranks
 * with independent checkpoints. Then these lines on stdin are orders, too. After each, the rank
 * prints "obeyed ORDER".
 *
 *   keep             takes an independent checkpoint; prints "kept STEPS PID"
 *   begin, end       delimit a call that cannot be replayed
 *   lose             loses a log
 *   want             counts one more request for an independent checkpoint of this rank
 *   replay, present  set and clear this rank's replaying flag
 */
#include "config.h"
#include "agent/control/control.hpp"
#include "common/files/run_directory.hpp"
#include "protocol/rank_message.hpp"
#include "tests/common/child_process.hpp"
#include "tests/common/descriptor_message.hpp"
#include "tests/agent/fake_rank.hpp"
#include "tests/common/rank_page_file.hpp"

#include "ckpt/independent.h"
#include "ckpt/wire.h"

extern "C" {
#include "process/frozen_copy.h"
}

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

namespace ckpt::test
{

namespace
{

constexpr int checkpoint_signal = 63;

void require(bool condition, const char *what)
{
    if (!condition) {
        std::perror(what);
        std::exit(1);
    }
}

[[noreturn]] void unknown(const char *what, const std::string &which)
{
    std::fprintf(stderr, "fake_rank: unknown %s: %s\n", what, which.c_str());
    std::exit(2);
}

class FakeRank
{
  public:
    explicit FakeRank(char *argv[]);
    int run();

  private:
    void attach();
    void start_agent();
    bool try_connect();
    bool hello();
    void send(std::uint32_t type, const ckpt_message_body &body, bool holds,
              const std::string &text = "");
    void report(std::uint32_t type, ckpt_place place);
    void refuse(const std::string &why);
    bool receive(ckpt_message &message);
    void read_messages();
    void handle(const ckpt_message &message);
    void drain();
    void note_state();
    void save();
    void freeze(const ckpt_message &order);
    void watch(const ckpt_message &order);
    void answer(ckpt_message_type type, const ckpt_message_body &body, int descriptor);
    void share_page(const char *file);
    void keep();
    void order(const std::string &line);
    void describe();
    void step();
    bool read_stdin();

    const int rank_, count_;
    const std::string namespace_, ckptd_;
    std::string coordinator_;
    const std::string refusal_;
    std::filesystem::path base_; /* prefix of names in the run directory */
    int socket_ = -1;
    int signals_ = -1;
    int page_fd_ = -1;
    ckpt_rank_page *page_ = nullptr;
    ckpt_peer *peers_ = nullptr;
    ckpt_independent_page *independent_ = nullptr;
    int independent_fd_ = -1;
    std::uint64_t agent_ = 0; /* its pid */
    std::uint64_t steps_ = 0;
    std::span<std::byte> memory_;
    Description description_;
    std::optional<std::uint64_t> snapshot_;
    std::uint64_t epoch_ = 0;
    bool armed_ = false;
    bool holds_ = false;
};

FakeRank::FakeRank(char *argv[])
    : rank_(std::atoi(argv[1])), count_(std::atoi(argv[2])),
      namespace_(argv[3]), ckptd_(argv[4]), coordinator_(argv[5]),
      refusal_(argv[7]),
      base_(run_directory() / control::namespace_hash(namespace_))
{
    sigset_t mask;

    sigemptyset(&mask);
    sigaddset(&mask, checkpoint_signal);
    sigprocmask(SIG_BLOCK, &mask, nullptr);
    signals_ = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    page_fd_ = make_rank_page(rank_, count_, page_).release();
    page_->signal.busy = 1; /* it polls for the blocked signal */
    page_->clock_count = 1;
    page_->clock[0].id = fake_clock_id;
    peers_ = ckpt_page_peers(page_);
    peers_[(rank_ + 1) % count_].sent = fake_messages(rank_);
    int before = (rank_ + count_ - 1) % count_;
    peers_[before].received = fake_messages(before) - 1;
    if (const char *file = std::getenv("FAKE_PAGE")) {
        peers_[before].received = fake_messages(before);
        share_page(file);
    }
    memory_ = description_.map(std::strtoul(argv[6], nullptr, 10) * mebibyte);
    fill_random(memory_, static_cast<std::uint64_t>(rank_));
}

/* The first rank of the job makes the file. */
void FakeRank::share_page(const char *file)
{
    const std::size_t size = CKPT_INDEPENDENT_SIZE(static_cast<std::size_t>(count_));

    independent_fd_ = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    require(independent_fd_ >= 0 && ftruncate(independent_fd_, static_cast<off_t>(size)) == 0,
            file);
    independent_ = static_cast<ckpt_independent_page *>(
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, independent_fd_, 0));
    independent_->magic = CKPT_INDEPENDENT_MAGIC;
    independent_->version = CKPT_INDEPENDENT_VERSION;
    independent_->rank_count = static_cast<std::uint32_t>(count_);
}

/* ---- The agent -------------------------------------------------------------- */

bool FakeRank::try_connect()
{
    sockaddr_un address{};

    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, (base_.string() + ".sock").c_str());
    socket_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (connect(socket_, reinterpret_cast<sockaddr *>(&address),
                sizeof address) == 0) {
        return true;
    }
    close(socket_);
    socket_ = -1;
    return false;
}

void FakeRank::start_agent()
{
    int ready[2];
    pid_t pid;
    char byte;
    posix_spawn_file_actions_t actions;
    std::string name = namespace_;
    char command[] = "ckptd", option[] = "--namespace";
    char *arguments[] = {command, option, name.data(), nullptr};

    require(pipe2(ready, O_CLOEXEC) == 0, "pipe");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ready[1], 3);
    int error = posix_spawn(&pid, ckptd_.c_str(), &actions, nullptr, arguments,
                            environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ready[1]);
    require(error == 0 && read(ready[0], &byte, 1) == 1, "ckptd");
    close(ready[0]);
}

void FakeRank::attach()
{
    std::filesystem::create_directories(base_.parent_path());
    chmod(base_.parent_path().c_str(), 0700);
    Fd lock(open((base_.string() + ".lock").c_str(),
                 O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    require(flock(lock.get(), LOCK_EX) == 0, "flock");
    /* A dying agent may still accept the connection. */
    do {
        if (!try_connect()) {
            start_agent();
            require(try_connect(), "connect");
        }
    } while (!hello());
    unsetenv("CKPT_FAULT"); /* a fault is for the first agent only */
}

/* Returns false if the agent died before it answered. */
bool FakeRank::hello()
{
    ckpt_message message = make_message(CKPT_MSG_HELLO, 0);

    message.as.hello.rank = static_cast<std::uint64_t>(rank_);
    message.as.hello.rank_count = static_cast<std::uint64_t>(count_);
    message.as.hello.pid = static_cast<std::uint64_t>(getpid());
    message.as.hello.thread = static_cast<std::uint64_t>(gettid());
    message.as.hello.signal = checkpoint_signal;
    if (!send_with_descriptor(socket_, message, page_fd_) ||
        recv(socket_, &message, sizeof message, 0) != sizeof message) {
        close(socket_);
        return false;
    }
    if (message.type != CKPT_MSG_WELCOME) {
        unknown("answer", std::to_string(message.type));
    }
    agent_ = message.as.welcome.pid;
    prctl(PR_SET_PTRACER, agent_);
    std::printf("address %s\n", message.text);
    if (coordinator_.empty()) {
        coordinator_ = message.text;
    }
    send(CKPT_MSG_JOIN, {}, false, coordinator_);
    if (independent_ != nullptr) {
        message = make_message(CKPT_MSG_SHARED, 0, {.shared = {CKPT_SHARED_PAGE}});
        (void)send_with_descriptor(socket_, message, independent_fd_);
    }
    return true;
}

void FakeRank::send(std::uint32_t type, const ckpt_message_body &body, bool holds,
                    const std::string &text)
{
    ckpt_message message = make_message(type, epoch_, body, text);

    if (type == CKPT_MSG_REFUSED) {
        message.as.refused.identity = CKPT_REFUSAL_UNSAVABLE_OBJECT;
    }
    (void)!::send(socket_, &message, sizeof message, MSG_NOSIGNAL);
    holds_ = holds;
}

/* Holds, and reports its place by REPORT or STOPPED. */
void FakeRank::report(std::uint32_t type, ckpt_place place)
{
    ckpt_message_body body{};

    body.report.place = place;
    body.report.holds = 1;
    if (type == CKPT_MSG_REPORT && independent_ != nullptr) {
        body.report.needs = CKPT_NEEDS_WINDOWS;
    }
    send(type, body, true);
}

void FakeRank::refuse(const std::string &why)
{
    send(CKPT_MSG_REFUSED, {}, true, why);
}

bool FakeRank::receive(ckpt_message &message)
{
    ssize_t size = recv(socket_, &message, sizeof message, MSG_DONTWAIT);

    if (size < 0) {
        return false;
    }
    if (size == 0) {
        std::printf("agent lost\n");
        close(socket_);
        armed_ = holds_ = false;
        attach();
        return false;
    }
    return true;
}

void FakeRank::read_messages()
{
    ckpt_message message;

    while (receive(message)) {
        handle(message);
    }
}

/* ---- A checkpoint ------------------------------------------------------------- */

void FakeRank::handle(const ckpt_message &message)
{
    switch (message.type) {
    case CKPT_MSG_REQUEST:
        epoch_ = message.epoch;
        armed_ = true;
        if (!refusal_.empty()) {
            refuse(refusal_);
        } else {
            report(CKPT_MSG_REPORT, CKPT_PLACE_FREE);
        }
        break;
    case CKPT_MSG_RUN:
        holds_ = false;
        break;
    case CKPT_MSG_WHERE: /* comes to who is slow; never inside a call: silent */
    case CKPT_MSG_HELD:  /* the coordinating agent was lost; it does not wait */
    case CKPT_MSG_ANSWER:
        break;
    case CKPT_MSG_STOP:
        report(CKPT_MSG_STOPPED, CKPT_PLACE_FREE);
        break;
    case CKPT_MSG_DRAIN:
        drain();
        break;
    case CKPT_MSG_SAVE:
        save();
        break;
    case CKPT_MSG_FREEZE:
        freeze(message);
        break;
    case CKPT_MSG_WATCH:
        watch(message);
        break;
    case CKPT_MSG_RESUME:
        armed_ = holds_ = false;
        std::printf(message.as.end.outcome == CKPT_CAPTURED ? "captured%s\n" : "resumed %s\n",
                    message.text);
        break;
    default:
        unknown("message", std::to_string(message.type));
    }
}

void FakeRank::drain()
{
    int before = (rank_ + count_ - 1) % count_;

    for (int peer = 0; peer < count_; peer++) {
        std::uint64_t right = peer == before ? fake_messages(before) : 0;
        if (peers_[peer].expected != right) {
            refuse("wrong counts to expect");
            return;
        }
        peers_[peer].received = right;
    }
    send(CKPT_MSG_DRAINED, {}, true);
}

/* Writes the present state at both ends of its memory. */
void FakeRank::note_state()
{
    int before = (rank_ + count_ - 1) % count_;
    FakeRankState state = {static_cast<std::uint64_t>(rank_),
                           page_->clock[0].left, peers_[before].received, steps_};

    std::memcpy(memory_.data(), &state, sizeof state);
    std::memcpy(&memory_.back() + 1 - sizeof state, &state, sizeof state);
}

void FakeRank::describe()
{
    note_state();
    if (!snapshot_) {
        description_.snapshot.rank = rank_;
        description_.snapshot.rank_count = count_;
        snapshot_ = description_.finish();
    }
}

void FakeRank::save()
{
    ckpt_message_body body{};

    describe();
    body.ready.snapshot = *snapshot_;
    send(CKPT_MSG_READY, body, true);
}

void FakeRank::freeze(const ckpt_message &order)
{
    ckpt_failure failure = {};
    ckpt_frozen_copy copy = {0, -1};

    require(ckpt_frozen_copy_make(&copy, static_cast<int>(order.as.freeze.pid),
                                  &failure) == 0,
            failure.text);
    answer(CKPT_MSG_FROZEN, {.frozen = {static_cast<std::uint64_t>(copy.pid)}},
           copy.connection);
}

void FakeRank::keep()
{
    ckpt_failure failure = {};
    ckpt_frozen_copy copy = {0, -1};
    ckpt_independent_rank &own = independent_->rank[rank_];

    describe();
    own.kept++;
    own.kept_interval = own.interval;
    own.kept_uncovered = own.uncovered;
    own.kept_wanted = own.wanted;
    require(ckpt_frozen_copy_make(&copy, static_cast<int>(agent_), &failure) == 0,
            failure.text);
    const ckpt_message message = make_message(
        CKPT_MSG_COW_SNAPSHOT, 0,
        {.cow_snapshot = {static_cast<std::uint64_t>(copy.pid), *snapshot_, own.kept,
                          own.interval}});
    require(send_with_descriptor(socket_, message, copy.connection), "COW_SNAPSHOT");
    close(copy.connection);
    std::printf("kept %lu %d\n", static_cast<unsigned long>(steps_), copy.pid);
}

void FakeRank::order(const std::string &line)
{
    ckpt_independent_rank *own = independent_ == nullptr ? nullptr : &independent_->rank[rank_];

    if (own == nullptr || line == "finalize") {
        send(CKPT_MSG_FINALIZED, {}, false);
    } else if (line == "keep") {
        keep();
    } else if (line == "begin") {
        own->uncovered++;
    } else if (line == "end") {
        own->uncovered_done++;
    } else if (line == "lose") {
        own->lost = 1;
    } else if (line == "want") {
        own->wanted++;
    } else if (line == "replay" || line == "present") {
        own->replaying = line == "replay" ? 1 : 0;
    } else {
        unknown("order", line);
    }
}

void FakeRank::watch(const ckpt_message &order)
{
    long fd = syscall(SYS_userfaultfd, order.as.watch.flags);

    require(fd >= 0, "userfaultfd");
    answer(CKPT_MSG_WATCHED, {.watched = {CKPT_WATCHED_OPEN, 0}}, static_cast<int>(fd));
    send(CKPT_MSG_WATCHED, {.watched = {CKPT_WATCHED_CLOSED, 0}}, true);
}

/* Sends a descriptor with the message, and closes its own copy. */
void FakeRank::answer(ckpt_message_type type, const ckpt_message_body &body, int descriptor)
{
    (void)send_with_descriptor(socket_, make_message(type, epoch_, body), descriptor);
    close(descriptor);
}

/* Enters and leaves some collectives, as far as the gate allows. */
void FakeRank::step()
{
    ckpt_clock &clock = page_->clock[0];

    if (independent_ != nullptr && !holds_) {
        steps_++;
        independent_->rank[rank_].interval = steps_;
        note_state();
        return;
    }
    for (int i = 0; i <= rank_ && !holds_; i++) {
        if (armed_ && clock.left >= clock.target) {
            report(CKPT_MSG_REPORT, CKPT_PLACE_GATE);
            return;
        }
        clock.entered++;
        clock.left++;
        clock.settled = clock.left;
    }
    if (!holds_) {
        note_state();
    }
}

/* Returns false at the end of the program. */
bool FakeRank::read_stdin()
{
    char bytes[64];
    ssize_t size = read(STDIN_FILENO, bytes, sizeof bytes);

    if (size > 0) {
        const std::string line(bytes, static_cast<std::size_t>(size) - 1); /* one at a time */
        order(line);
        std::printf("obeyed %s\n", line.c_str());
    }
    return size > 0;
}

int FakeRank::run()
{
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    attach();
    for (;;) {
        short wanted = holds_ ? POLLIN : 0;
        pollfd ready[] = {{socket_, wanted, 0},
                          {signals_, POLLIN, 0},
                          {STDIN_FILENO, POLLIN, 0}};
        poll(ready, 3, 1);
        if (ready[2].revents != 0 && !read_stdin()) {
            return 0;
        }
        signalfd_siginfo signal;
        bool signalled = false;
        while (read(signals_, &signal, sizeof signal) > 0) {
            signalled = true;
        }
        if (ready[0].revents != 0 || signalled) {
            read_messages();
        }
        step();
        if (!holds_ && armed_) {
            read_messages(); /* as at the end of every MPI call */
        }
    }
}

} // namespace

} // namespace ckpt::test

int main(int argc, char *argv[])
{
    if (argc != 8) {
        std::fprintf(stderr, "fake_rank: wrong number of arguments\n");
        return 1;
    }
    return ckpt::test::FakeRank(argv).run();
}
