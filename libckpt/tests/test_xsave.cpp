/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_xsave.cpp - which processors have the same layout of registers in memory: invented ones, and
 * this one with its kernel.
 */
extern "C" {
#include "sys/thread_pointer.h"
#include "process/xsave.h"
#include "task/threads.h"
}

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

namespace
{

struct Component {
    unsigned number;
    std::uint32_t offset;
    std::uint32_t size;
};

ckpt_xsave layout_of(const std::vector<Component> &components, std::uint32_t dynamic = 0)
{
    ckpt_xsave xsave{};

    for (const Component &component : components) {
        xsave.offset[component.number] = component.offset;
        xsave.size[component.number] = component.size;
    }
    xsave.dynamic = dynamic;
    return xsave;
}

constexpr std::uint32_t tiles = 1u << 18;

/* Layouts of real processors. */
const ckpt_xsave sse_only = layout_of({});
const ckpt_xsave avx = layout_of({{2, 576, 256}});
const ckpt_xsave skylake = layout_of(
    {{2, 576, 256}, {5, 1088, 64}, {6, 1152, 512}, {7, 1664, 1024}, {9, 2688, 8}});
const ckpt_xsave zen4 = layout_of(
    {{2, 576, 256}, {5, 832, 64}, {6, 896, 512}, {7, 1408, 1024}, {9, 2432, 8}});
const ckpt_xsave sapphire_rapids = layout_of({{2, 576, 256},
                                              {5, 1088, 64},
                                              {6, 1152, 512},
                                              {7, 1664, 1024},
                                              {9, 2688, 8},
                                              {17, 2752, 64},
                                              {18, 2816, 8192}},
                                             tiles);

std::string refusal(const ckpt_xsave &recorded, const ckpt_xsave &here)
{
    ckpt_failure failure{};
    const int error = ckpt_xsave_check(&recorded, &here, &failure);

    EXPECT_EQ(error, failure.text[0] == '\0' ? 0 : -ENOTSUP);
    return failure.text;
}

TEST(Xsave, FramesEndWithTheLastComponentThatNeedsNoPermission)
{
    EXPECT_EQ(ckpt_xsave_frame_size(&sse_only), 576u);
    EXPECT_EQ(ckpt_xsave_frame_size(&avx), 832u);
    EXPECT_EQ(ckpt_xsave_frame_size(&skylake), 2696u);
    EXPECT_EQ(ckpt_xsave_frame_size(&zen4), 2440u);
    EXPECT_EQ(ckpt_xsave_frame_size(&sapphire_rapids), 2816u);
}

TEST(Xsave, AProcessorWithMoreOfTheSameWillDo)
{
    for (const ckpt_xsave *here : {&avx, &skylake, &zen4, &sapphire_rapids}) {
        EXPECT_EQ(refusal(sse_only, *here), "");
        EXPECT_EQ(refusal(avx, *here), "");
        EXPECT_EQ(refusal(*here, *here), "");
    }
    EXPECT_EQ(refusal(skylake, sapphire_rapids), "");
}

TEST(Xsave, AComponentElsewhereIsNamed)
{
    EXPECT_NE(refusal(skylake, zen4).find("avx512-mask-state was 64 bytes at 1088, here it "
                                          "is 64 at 832"),
              std::string::npos);
    EXPECT_NE(refusal(zen4, skylake).find("avx512-mask-state"), std::string::npos);

    ckpt_xsave changed = skylake;
    changed.offset[9] = 2432;
    EXPECT_NE(refusal(skylake, changed).find("pkru-state was 8 bytes at 2688"),
              std::string::npos);
    changed = skylake;
    changed.size[7] = 2048;
    EXPECT_NE(refusal(skylake, changed).find("avx512-zmm16-state"), std::string::npos);
    changed = skylake;
    changed.size[22] = changed.offset[22] = 4096;
    EXPECT_NE(refusal(changed, skylake).find("state-component-22 was 4096 bytes at 4096"),
              std::string::npos);
}

TEST(Xsave, AComponentThatIsNotThereIsNamed)
{
    EXPECT_NE(refusal(avx, sse_only).find("avx-state"), std::string::npos);
    EXPECT_NE(refusal(sapphire_rapids, skylake).find("amx-config-state"), std::string::npos);
}

TEST(Xsave, WhatWasFreeMayNotNeedAPermission)
{
    ckpt_xsave free_tiles = sapphire_rapids;

    free_tiles.dynamic = 0;
    EXPECT_NE(refusal(free_tiles, sapphire_rapids).find("amx-tile-state only with a permission"),
              std::string::npos);
}

std::vector<unsigned> asked;

TEST(Xsave, PermissionsAreAskedForAgain)
{
    ckpt_failure failure{};
    ckpt_xsave with_tiles = sapphire_rapids;
    const auto give = [](unsigned component) {
        asked.push_back(component);
        return 0l;
    };
    const auto refuse = [](unsigned) { return static_cast<long>(-EPERM); };

    EXPECT_EQ(ckpt_xsave_permit(&sapphire_rapids, refuse, &failure), 0); /* it had no permission */
    with_tiles.permitted = tiles;
    EXPECT_EQ(ckpt_xsave_permit(&with_tiles, give, &failure), 0);
    EXPECT_EQ(asked, std::vector<unsigned>{18});
    EXPECT_EQ(ckpt_xsave_permit(&with_tiles, refuse, &failure), -EPERM);
    EXPECT_NE(std::strstr(failure.text, "amx-tile-state"), nullptr) << failure.text;
}

TEST(Xsave, AThreadThatHasUsedTilesIsNamed)
{
    ckpt_failure failure{};
    ckpt_xsave with_tiles = sapphire_rapids;

    with_tiles.permitted = tiles;
    EXPECT_EQ(ckpt_xsave_check_frame(&with_tiles, 2816, "worker", &failure), 0);
    EXPECT_EQ(ckpt_xsave_check_frame(&with_tiles, 0, "worker", &failure), 0);
    EXPECT_EQ(ckpt_xsave_check_frame(&with_tiles, 2816 + 8192, "worker", &failure), -ENOTSUP);
    EXPECT_STREQ(failure.text, "thread worker has used amx-tile-state, which cannot be saved");
    EXPECT_EQ(ckpt_xsave_check_frame(&skylake, 2704, "worker", &failure), -ENOTSUP);
    EXPECT_NE(std::strstr(failure.text, "2704 bytes"), nullptr) << failure.text;
}

std::atomic<std::uint32_t> size_in_frame;

void note_frame(int, siginfo_t *, void *context)
{
    size_in_frame = ckpt_xsave_size_in(context);
}

TEST(Xsave, ThisKernelWritesFramesOfTheSizeThatTheProcessorTells)
{
    ckpt_xsave here;
    struct sigaction action = {};

    ckpt_xsave_read(&here);
    EXPECT_EQ(refusal(here, here), "");
    EXPECT_EQ(here.permitted & ~here.dynamic, 0u);
    action.sa_sigaction = note_frame;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGUSR1, &action, nullptr);
    raise(SIGUSR1);
    EXPECT_EQ(size_in_frame, ckpt_xsave_frame_size(&here));
}

TEST(Xsave, ThreadsThatStandStillAreLookedAt)
{
    std::atomic<bool> stop{false};
    std::thread thread([&] {
        while (!stop) {
            std::this_thread::yield();
        }
    });
    static std::atomic<int> notified;
    ckpt_failure failure{};
    ckpt_xsave here;

    ckpt_xsave_read(&here);
    ckpt_thread_pointer_open();
    ASSERT_EQ(ckpt_threads_open(
                  63, [](int) { notified++; }, nullptr),
              0);
    ASSERT_EQ(ckpt_threads_freeze(10000, &failure), 0) << failure.text;
    EXPECT_EQ(ckpt_threads_check_registers(&here, &failure), 0) << failure.text;
    ckpt_xsave smaller = sse_only; /* as if it had used more */
    EXPECT_EQ(ckpt_threads_check_registers(&smaller, &failure),
              size_in_frame > 576 ? -ENOTSUP : 0);
    ckpt_threads_thaw();
    stop = true;
    thread.join();

    /* The leader itself, which may use more. */
    ASSERT_EQ(ckpt_threads_freeze(10000, &failure), 0) << failure.text;
    smaller.permitted = tiles;
    EXPECT_EQ(ckpt_threads_check_registers(&smaller, &failure),
              size_in_frame > 576 ? -ENOTSUP : 0);
    here.permitted = tiles;
    EXPECT_EQ(ckpt_threads_check_registers(&here, &failure), 0) << failure.text;
    sigset_t waiting;
    sigpending(&waiting);
    EXPECT_EQ(sigismember(&waiting, 63), 0);
    ckpt_threads_thaw();
    EXPECT_EQ(notified, 0);
}

} // namespace
