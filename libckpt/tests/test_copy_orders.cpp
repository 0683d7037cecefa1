/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_copy_orders.cpp - a copy of this process gets orders, descriptors, and comes to life.
 */
extern "C" {
#include "base/arena.h"
#include "ckpt/copy_orders.h"
#include "memory/regions.h"
#include "memory/undescribed.h"
#include "process/copy_standby.h"
#include "process/frozen_copy.h"
}

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace
{

constexpr std::size_t page = 4096;
constexpr int high = 321; /* number of a descriptor in the program */
constexpr int above = 400;

/* What the copy says when it lives. */
struct Report {
    int pid;
    int stood;
    int has_undescribed; /* memory that the program has not described */
    int shared;          /* value in described memory that the program shares with the copy */
    char excluded;       /* byte of memory that the program has excluded */
    char own;            /* byte of its private memory */
    char from_high;      /* byte read from descriptor `high` */
    int high_flags;
    int others; /* descriptors up to `above` besides `high` and the agent's */
    char setting[32];
    char checkpoint[32];
    char score[16];
    int clock_works;
};

struct {
    char *undescribed;
    char *excluded;
    char *own;
    int *shared;
    int forbidden; /* may_live() refuses */
    int hangs;     /* a copy that stands does not come to its orders */
} program;

int may_live(ckpt_failure *failure)
{
    return program.forbidden == 0
               ? 0
               : ckpt_refuse(failure, CKPT_REFUSAL_NEEDS_STOP, -EBUSY, "not now");
}

bool is_mapped(void *address)
{
    unsigned char resident = 0;
    return mincore(address, page, &resident) == 0;
}

__attribute__((noreturn)) void live(ckpt_resume_info *info, int agent)
{
    Report report = {};
    timespec now = {};
    while (agent < 0 && program.hangs != 0) {
        pause();
    }
    report.stood = agent < 0 ? 1 : 0;
    agent = agent < 0 ? ckpt_copy_stand_by(info) : agent;
    report.pid = getpid();
    report.has_undescribed = is_mapped(program.undescribed) ? 1 : 0;
    *program.shared += 1; /* the program must not see it */
    report.shared = *program.shared;
    report.excluded = *program.excluded;
    report.own = *program.own;
    (void)!read(high, &report.from_high, 1);
    report.high_flags = fcntl(high, F_GETFD);
    for (int fd = 0; fd < above; fd++) {
        report.others += fd != high && fd != agent && fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    }
    std::string(*reinterpret_cast<char **>(info->environment))
        .copy(report.setting, sizeof report.setting - 1);
    std::string(info->checkpoint).copy(report.checkpoint, sizeof report.checkpoint - 1);
    report.clock_works = clock_gettime(CLOCK_MONOTONIC, &now) == 0 && now.tv_sec > 0 ? 1 : 0;
    int score = open("/proc/self/oom_score_adj", O_RDONLY);
    (void)!read(score, report.score, sizeof report.score - 1);
    (void)!send(agent, &report, sizeof report, 0);
    _exit(0);
}

constexpr ckpt_frozen_copy_calls calls = {may_live, may_live, live};

/* An answer with its text. */
struct Answer {
    ckpt_copy_order order;
    char text[400];
};

class CopyOrders : public testing::Test
{
  protected:
    static void SetUpTestSuite()
    {
        ckpt_regions_open();
        ckpt_frozen_copy_calls_set(&calls);
    }

    void SetUp() override
    {
        program.undescribed = map(MAP_PRIVATE, 'u');
        program.excluded = map(MAP_PRIVATE, 'e');
        program.own = map(MAP_PRIVATE, 'o');
        program.shared = reinterpret_cast<int *>(map(MAP_SHARED, 0));
        program.forbidden = 0;
        program.hangs = 0;
        ASSERT_EQ(ckpt_arena_open(&arena), 0);
        describe();
        ckpt_failure failure = {};
        ASSERT_EQ(ckpt_frozen_copy_make(&copy, getpid(), &failure), 0) << failure.text;
    }

    void TearDown() override
    {
        close(copy.connection);
        ckpt_arena_close(&arena);
        munmap(program.undescribed, page);
        munmap(program.excluded, page);
        munmap(program.own, page);
        munmap(program.shared, page);
    }

    static char *map(int sharing, char value)
    {
        void *memory =
            mmap(nullptr, page, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
        EXPECT_NE(memory, MAP_FAILED);
        std::memset(memory, value, page);
        return static_cast<char *>(memory);
    }

    /* Describes this process; the memory that is shared is described as private, like the page
     * that a rank shares with its agent. */
    void describe()
    {
        const ckpt_range vdso = ckpt_regions_vdso();
        const auto undescribed = reinterpret_cast<std::uint64_t>(program.undescribed);
        const ckpt_range left_out = {undescribed, undescribed + page};
        ckpt_region *regions = nullptr;
        std::size_t count = 0;
        ckpt_failure failure = {};
        char text[64];
        std::snprintf(text, sizeof text, "%lx-%lx",
                      reinterpret_cast<std::uint64_t>(program.excluded),
                      reinterpret_cast<std::uint64_t>(program.excluded) + page);
        snapshot = {};
        snapshot.magic = CKPT_SNAPSHOT_MAGIC;
        snapshot.version = CKPT_SNAPSHOT_VERSION;
        snapshot.layout.vdso_start = vdso.start;
        snapshot.layout.vdso_end = vdso.end;
        snapshot.excluded = ckpt_arena_string(&arena, text);
        ASSERT_EQ(ckpt_regions_scan(&arena, &left_out, 1, &regions, &count, &failure), 0)
            << failure.text;
        for (std::size_t i = 0; i < count; i++) {
            if (regions[i].start == reinterpret_cast<std::uint64_t>(program.shared)) {
                regions[i].kind = CKPT_REGION_ANONYMOUS;
            }
        }
        snapshot.regions = reinterpret_cast<std::uint64_t>(regions);
        snapshot.region_count = static_cast<std::uint32_t>(count);
        snapshot.strings = reinterpret_cast<std::uint64_t>(arena.strings);
        snapshot.strings_size = arena.strings_used;
    }

    void send_packet(const ckpt_copy_order &order, const std::string &tail,
                     const std::vector<int> &passed) const
    {
        std::string packet(reinterpret_cast<const char *>(&order), sizeof order);
        packet += tail;
        iovec part = {packet.data(), packet.size()};
        msghdr message = {};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        std::vector<char> space(CMSG_SPACE(passed.size() * sizeof(int)));
        if (!passed.empty()) {
            message.msg_control = space.data();
            message.msg_controllen = space.size();
            cmsghdr *header = CMSG_FIRSTHDR(&message);
            *header = {CMSG_LEN(passed.size() * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
            std::memcpy(CMSG_DATA(header), passed.data(), passed.size() * sizeof(int));
        }
        ASSERT_EQ(sendmsg(copy.connection, &message, 0), static_cast<ssize_t>(packet.size()));
    }

    /* Gives an order, and returns the answer. */
    Answer order(std::uint32_t type, std::uint64_t value, const std::string &tail = {},
                 const std::vector<int> &passed = {}) const
    {
        static std::uint64_t serial;
        Answer answer = {};
        send_packet({CKPT_COPY_ORDER_MAGIC, CKPT_COPY_ORDER_VERSION, type,
                     static_cast<std::uint32_t>(passed.size()), ++serial, value},
                    tail, passed);
        EXPECT_GE(recv(copy.connection, &answer, sizeof answer, 0),
                  static_cast<ssize_t>(sizeof answer.order));
        EXPECT_EQ(answer.order.serial, serial);
        return answer;
    }

    Answer prepare() const
    {
        return order(CKPT_COPY_PREPARE, reinterpret_cast<std::uint64_t>(&snapshot));
    }

    Answer pass(int fd, int number, std::uint32_t flags = FD_CLOEXEC) const
    {
        const ckpt_copy_descriptor wanted = {number, flags};
        return order(CKPT_COPY_DESCRIPTORS, above,
                     std::string(reinterpret_cast<const char *>(&wanted), sizeof wanted), {fd});
    }

    Answer thaw(int agent) const
    {
        const int environment = memfd_create("environment", 0);
        const int directory = open("/", O_PATH | O_DIRECTORY);
        EXPECT_EQ(write(environment, "NAME=value\0OTHER=x", 19), 19);
        const Answer answer = order(CKPT_COPY_THAW, 1, std::string("job/7\0", 6),
                                    {environment, agent, directory});
        close(environment);
        close(directory);
        return answer;
    }

    Answer stand() const
    {
        const int environment = memfd_create("environment", 0);
        const int directory = open("/", O_PATH | O_DIRECTORY);
        EXPECT_EQ(write(environment, "NAME=value\0OTHER=x", 19), 19);
        const Answer answer = order(CKPT_COPY_STAND, 0, std::string("job/7\0", 6),
                                    {environment, directory});
        close(environment);
        close(directory);
        return answer;
    }

    Answer go(int agent) const
    {
        const int directory = open("/", O_PATH | O_DIRECTORY);
        const Answer answer = order(CKPT_COPY_GO, 1, {}, {agent, directory});
        close(directory);
        return answer;
    }

    /* Waits for STANDING; returns whether it came, and not the end of the copy. */
    bool comes_to_stand() const
    {
        ckpt_copy_order said = {};
        return recv(copy.connection, &said, sizeof said, 0) == sizeof said &&
               said.type == CKPT_COPY_STANDING;
    }

    /* Whether the copy's process ends. Another process is its parent. */
    static bool ends(int pidfd)
    {
        pollfd process = {pidfd, POLLIN, 0};
        return poll(&process, 1, 60'000) == 1;
    }

    ckpt_snapshot snapshot = {};
    ckpt_arena arena = {};
    ckpt_frozen_copy copy = {0, -1};
};

} // namespace

TEST_F(CopyOrders, ACopyThatGetsAllLives)
{
    std::array<int, 2> pipe_ends{};
    std::array<int, 2> agent{};
    Report report = {};
    ASSERT_EQ(pipe(pipe_ends.data()), 0);
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, agent.data()), 0);
    ASSERT_EQ(write(pipe_ends[1], "p", 1), 1);
    *program.own = 'c'; /* only this process changes it */

    ASSERT_EQ(prepare().order.type, CKPT_COPY_DONE);
    ASSERT_EQ(pass(pipe_ends[0], high).order.type, CKPT_COPY_DONE);
    const Answer answer = thaw(agent[1]);
    ASSERT_EQ(answer.order.type, CKPT_COPY_DONE) << answer.text;
    ASSERT_EQ(recv(agent[0], &report, sizeof report, 0), static_cast<ssize_t>(sizeof report));
    EXPECT_EQ(report.pid, copy.pid);
    EXPECT_EQ(report.has_undescribed, 0);
    EXPECT_EQ(report.shared, 1);
    EXPECT_EQ(*program.shared, 0);
    EXPECT_EQ(report.excluded, 0);
    EXPECT_EQ(report.own, 'o');
    EXPECT_EQ(report.from_high, 'p');
    EXPECT_EQ(report.high_flags, FD_CLOEXEC);
    EXPECT_EQ(report.others, 0);
    EXPECT_STREQ(report.setting, "NAME=value");
    EXPECT_STREQ(report.checkpoint, "job/7");
    EXPECT_EQ(report.clock_works, 1);
    EXPECT_STRNE(report.score, "1000\n");
    for (int fd : {pipe_ends[0], pipe_ends[1], agent[0], agent[1]}) {
        close(fd);
    }
}

TEST_F(CopyOrders, ACopyThatStandsLivesAtGo)
{
    std::array<int, 2> pipe_ends{};
    std::array<int, 2> agent{};
    Report report = {};
    const int null = open("/dev/null", O_RDWR);
    ASSERT_EQ(pipe(pipe_ends.data()), 0);
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, agent.data()), 0);
    ASSERT_EQ(write(pipe_ends[1], "p", 1), 1);

    ASSERT_EQ(prepare().order.type, CKPT_COPY_DONE);
    ASSERT_EQ(pass(null, high).order.type, CKPT_COPY_DONE); /* holds the number */
    Answer answer = stand();
    ASSERT_EQ(answer.order.type, CKPT_COPY_DONE) << answer.text;
    ASSERT_TRUE(comes_to_stand());
    ASSERT_EQ(pass(pipe_ends[0], high, 0).order.type, CKPT_COPY_DONE);
    answer = go(agent[1]);
    ASSERT_EQ(answer.order.type, CKPT_COPY_DONE) << answer.text;
    ASSERT_EQ(recv(agent[0], &report, sizeof report, 0), static_cast<ssize_t>(sizeof report));
    EXPECT_EQ(report.pid, copy.pid);
    EXPECT_EQ(report.stood, 1);
    EXPECT_EQ(report.has_undescribed, 0);
    EXPECT_EQ(report.own, 'o');
    EXPECT_EQ(report.from_high, 'p');
    EXPECT_EQ(report.high_flags, 0);
    EXPECT_EQ(report.others, 0);
    EXPECT_STREQ(report.setting, "NAME=value");
    EXPECT_STREQ(report.checkpoint, "job/7");
    EXPECT_STRNE(report.score, "1000\n");
    for (int fd : {null, pipe_ends[0], pipe_ends[1], agent[0], agent[1]}) {
        close(fd);
    }
}

TEST_F(CopyOrders, ACopyThatStandsEndsWhenItIsAskedAgain)
{
    const int process = static_cast<int>(syscall(SYS_pidfd_open, copy.pid, 0));
    ASSERT_EQ(prepare().order.type, CKPT_COPY_DONE);
    ASSERT_EQ(stand().order.type, CKPT_COPY_DONE);
    ASSERT_TRUE(comes_to_stand());
    EXPECT_EQ(prepare().order.type, CKPT_COPY_REFUSED);
    EXPECT_TRUE(ends(process));
    close(process);
}

/* It may be in a call of MPI that waits for a rank that does not come. */
TEST_F(CopyOrders, ACopyThatIsToStandEndsWithItsConnection)
{
    for (const int hangs : {0, 1}) {
        ckpt_failure failure = {};
        close(copy.connection);
        program.hangs = hangs;
        ASSERT_EQ(ckpt_frozen_copy_make(&copy, getpid(), &failure), 0) << failure.text;
        const int process = static_cast<int>(syscall(SYS_pidfd_open, copy.pid, 0));
        ASSERT_EQ(prepare().order.type, CKPT_COPY_DONE);
        ASSERT_EQ(stand().order.type, CKPT_COPY_DONE);
        ASSERT_TRUE(hangs != 0 || comes_to_stand());
        shutdown(copy.connection, SHUT_RDWR);
        EXPECT_TRUE(ends(process));
        close(process);
    }
}

TEST_F(CopyOrders, OnlyACopyThatStandsObeysGo)
{
    std::array<int, 2> agent{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, agent.data()), 0);
    ASSERT_EQ(prepare().order.type, CKPT_COPY_DONE);
    EXPECT_EQ(go(agent[1]).order.type, CKPT_COPY_REFUSED);
    close(agent[0]);
    close(agent[1]);
}

TEST_F(CopyOrders, ManyDescriptorsGetTheirNumbers)
{
    std::array<int, 2> agent{};
    Report report = {};
    std::string wanted;
    std::vector<int> passed;
    const int null = open("/dev/null", O_RDONLY);
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, agent.data()), 0);
    for (int i = 0; i < CKPT_COPY_DESCRIPTORS_MOST; i++) { /* falling: each is in another's way */
        const ckpt_copy_descriptor one = {CKPT_COPY_DESCRIPTORS_MOST - 1 - i, 0};
        wanted.append(reinterpret_cast<const char *>(&one), sizeof one);
        passed.push_back(null);
    }
    ASSERT_EQ(prepare().order.type, CKPT_COPY_DONE);
    Answer answer = order(CKPT_COPY_DESCRIPTORS, above, wanted, passed);
    ASSERT_EQ(answer.order.type, CKPT_COPY_DONE) << answer.text;
    answer = thaw(agent[1]);
    ASSERT_EQ(answer.order.type, CKPT_COPY_DONE) << answer.text;
    ASSERT_EQ(recv(agent[0], &report, sizeof report, 0), static_cast<ssize_t>(sizeof report));
    EXPECT_EQ(report.others, CKPT_COPY_DESCRIPTORS_MOST);
    EXPECT_LT(report.high_flags, 0);
    for (int fd : {null, agent[0], agent[1]}) {
        close(fd);
    }
}

TEST_F(CopyOrders, ACopyThatRefusesIsAsBefore)
{
    std::array<int, 2> agent{};
    Report report = {};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, agent.data()), 0);
    const std::vector<Answer> answers = {
        order(99, 0), thaw(agent[1]), order(CKPT_COPY_PREPARE, 0), pass(0, high), prepare(),
        order(CKPT_COPY_DESCRIPTORS, above, "too short"), prepare(), pass(0, above), prepare(),
        order(CKPT_COPY_THAW, 1, "no end")};
    for (const Answer &answer : answers) {
        EXPECT_TRUE(answer.order.type == CKPT_COPY_REFUSED ? answer.order.value != 0
                                                           : answer.order.type == CKPT_COPY_DONE);
    }
    EXPECT_EQ(std::count_if(answers.begin(), answers.end(),
                            [](const Answer &a) { return a.order.type == CKPT_COPY_REFUSED; }),
              7);
    ASSERT_EQ(prepare().order.type, CKPT_COPY_DONE);
    ASSERT_EQ(thaw(agent[1]).order.type, CKPT_COPY_DONE);
    ASSERT_EQ(recv(agent[0], &report, sizeof report, 0), static_cast<ssize_t>(sizeof report));
    EXPECT_EQ(report.others, 0);
    close(agent[0]);
    close(agent[1]);
}

/* As the vDSO, which moves after the list of mappings is made. */
TEST_F(CopyOrders, MemoryThatCameAfterTheListStays)
{
    constexpr std::size_t list_size = 1u << 20;
    char *pages = static_cast<char *>(mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(pages, MAP_FAILED);
    ASSERT_EQ(munmap(pages + page, page), 0);
    const pid_t child = fork();
    if (child == 0) { /* its memory goes */
        ckpt_failure failure = {};
        char *list = static_cast<char *>(mmap(nullptr, list_size, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        const auto start = reinterpret_cast<std::uint64_t>(list);
        int code = ckpt_mappings_list(list, list_size, &failure) == 0 ? 0 : 1;
        code |= mmap(pages + page, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                     0) == pages + page
                    ? 0
                    : 2;
        code |= ckpt_undescribed_remove(&snapshot, list, {start, start + list_size}, &failure) == 0
                    ? 0
                    : 4;
        code |= is_mapped(pages) || is_mapped(pages + 2 * page) ? 8 : 0;
        code |= is_mapped(pages + page) ? 0 : 16;
        _exit(code);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << WEXITSTATUS(status);
    munmap(pages, page);
    munmap(pages + 2 * page, page);
}

TEST_F(CopyOrders, TheProgramMayForbidIt)
{
    close(copy.connection);
    ckpt_failure failure = {};
    std::array<int, 2> agent{};
    program.forbidden = 1;
    ASSERT_EQ(ckpt_frozen_copy_make(&copy, getpid(), &failure), 0);
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, agent.data()), 0);
    ASSERT_EQ(prepare().order.type, CKPT_COPY_DONE);
    const Answer answer = thaw(agent[1]);
    EXPECT_EQ(answer.order.type, CKPT_COPY_REFUSED);
    EXPECT_EQ(answer.order.value, CKPT_REFUSAL_NEEDS_STOP);
    EXPECT_STREQ(answer.text, "not now");
    close(agent[1]); /* the copy has closed its own */
    char byte = 0;
    EXPECT_EQ(recv(agent[0], &byte, 1, 0), 0);
    close(agent[0]);
}

TEST_F(CopyOrders, ACopyWithoutSomePagesDoesNotLive)
{
    const ckpt_range range = {reinterpret_cast<std::uint64_t>(program.own),
                              reinterpret_cast<std::uint64_t>(program.own) + page};
    ASSERT_EQ(prepare().order.type, CKPT_COPY_DONE);
    ASSERT_EQ(send(copy.connection, &range, sizeof range, 0),
              static_cast<ssize_t>(sizeof range));
    EXPECT_EQ(prepare().order.type, CKPT_COPY_RELEASED);
    EXPECT_EQ(pass(0, high).order.type, CKPT_COPY_RELEASED);
}
