/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * files_fixture.hpp - saves descriptors of the test, and restores them in a process without them.
 */
#ifndef CKPT_FILES_FIXTURE_HPP
#define CKPT_FILES_FIXTURE_HPP

extern "C" {
#include "base/arena.h"
#include "files/files.h"
}

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

inline constexpr int first_number = 200; /* of the descriptors under test */

/* A descriptor that does not belong to the application. */
inline int lower = -1;

inline int is_lower(int fd)
{
    return fd == lower;
}

/* The content of mapped files at the save, by address: stands for the agent's copy. */
inline std::map<std::uint64_t, std::vector<char>> contents;

inline const void *in_this_process(void *, std::uint64_t address, std::uint64_t)
{
    const auto content = contents.find(address);

    return content != contents.end() ? content->second.data()
                                     : reinterpret_cast<const void *>(address);
}

/* In a child: ends it with the line number if the condition is false. */
#define REQUIRE(condition)                                         \
    do {                                                           \
        if (!(condition)) {                                        \
            dprintf(2, "line %d: %s (%s)\n", __LINE__, #condition, \
                    strerror(errno));                              \
            _exit(1);                                              \
        }                                                          \
    } while (0)

class Files : public testing::Test
{
  protected:
    static void SetUpTestSuite()
    {
        close_range(3, ~0u, 0); /* left open by the shell or make */
    }

    void SetUp() override
    {
        char name[] = "/tmp/ckpt-test-XXXXXX";

        ASSERT_EQ(ckpt_arena_open(&arena), 0);
        ASSERT_NE(mkdtemp(name), nullptr);
        directory = name;
        path = directory + "/file";
        std::ofstream(path) << "0123456789";
        ckpt_files_open();
    }

    void TearDown() override
    {
        for (int fd : opened) {
            close(fd);
        }
        unsetenv("CKPT_FILE_LIMIT");
        ckpt_files_open();
        ckpt_arena_close(&arena);
        std::filesystem::remove_all(directory);
    }

    /* Moves a descriptor to an unused number, for the duration of the test. */
    int hold(int fd)
    {
        EXPECT_GE(fd, 0) << strerror(errno);
        const int moved = fcntl(fd, F_DUPFD, first_number);

        EXPECT_GE(moved, 0) << strerror(errno);
        close(fd);
        opened.push_back(moved);
        return moved;
    }

    int save()
    {
        failure.text[0] = '\0';
        ckpt_arena_reset(&arena);
        const int error = ckpt_files_save(&arena, is_lower, &files, &count, &failure);
        read_contents();
        return error;
    }

    void read_contents()
    {
        const ckpt_region *regions = nullptr;
        const std::size_t regions_count = ckpt_files_content_regions(&regions);

        contents.clear();
        for (std::size_t i = 0; i < count; i++) {
            for (std::size_t k = 0; k < regions_count; k++) {
                const ckpt_region &region = regions[k];
                const std::uint64_t start = files[i].payload;

                if (region.protection != 0 && region.start >= start &&
                    region.start < start + files[i].payload_size) {
                    auto &bytes = contents[start];
                    bytes.resize((files[i].payload_size + 4095) & ~std::size_t(4095));
                    std::memcpy(bytes.data() + (region.start - start),
                                reinterpret_cast<const void *>(region.start),
                                region.end - region.start);
                }
            }
        }
    }

    const ckpt_file &file(int fd)
    {
        static const ckpt_file none{};

        for (std::size_t i = 0; i < count; i++) {
            if (files[i].descriptor == fd) {
                return files[i];
            }
        }
        return none;
    }

    int restore(const int *keep = nullptr, std::size_t keep_count = 0)
    {
        const ckpt_saved_files saved{.files = files,
                                     .count = count,
                                     .strings = arena.strings,
                                     .payload = in_this_process,
                                     .written = nullptr,
                                     .argument = nullptr,
                                     .given = nullptr,
                                     .given_count = 0};
        return ckpt_files_restore(&saved, keep, keep_count, &failure);
    }

    /* Restores in a child and runs `check` there. */
    void in_child(
        const std::function<void()> &check,
        const std::function<void()> &before = [] {})
    {
        int status = 0;
        const pid_t child = fork();

        if (child == 0) {
            for (int fd : opened) {
                close(fd);
            }
            before();
            if (restore() != 0) {
                dprintf(2, "%s\n", failure.text);
                _exit(2);
            }
            check();
            _exit(0);
        }
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }

    /* The restore in a child must fail with a message that contains these words. */
    void expect_lost(const std::vector<std::string> &words)
    {
        char *said = static_cast<char *>(
            mmap(nullptr, sizeof failure.text, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0));
        int status = 0;
        const pid_t child = fork();

        if (child == 0) {
            const int error = restore();
            std::memcpy(said, failure.text, sizeof failure.text);
            _exit(error < 0 ? 7 : 0);
        }
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 7 << 8);
        for (const std::string &word : words) {
            EXPECT_NE(std::string(said).find(word), std::string::npos) << said;
        }
        munmap(said, sizeof failure.text);
    }

    void expect_refused(int fd, const std::string &what)
    {
        EXPECT_EQ(save(), -ENOTSUP);
        EXPECT_NE(std::string(failure.text)
                      .find("descriptor " + std::to_string(fd)),
                  std::string::npos)
            << failure.text;
        EXPECT_NE(std::string(failure.text).find(what), std::string::npos)
            << failure.text;
    }

    std::string content()
    {
        std::ifstream stream(path);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    ckpt_arena arena{};
    ckpt_failure failure{};
    ckpt_file *files = nullptr;
    std::size_t count = 0;
    std::vector<int> opened;
    std::string directory;
    std::string path;
};

#endif
