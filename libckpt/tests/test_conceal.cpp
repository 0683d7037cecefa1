/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_conceal.cpp - a program with concealed outputs sees the same as without concealment, and
 * other processes see no change.
 *
 * The same program runs in two copies of a tree, in one of them concealed. Each call must return
 * the same in both, and the visible tree must stay as it was.
 */
extern "C" {
#include "ckpt/journal.h"
#include "journal/journal.h"
}

#include <gtest/gtest.h>

#include <dirent.h>
#include <linux/close_range.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace
{

/* Writes a line about a result to descriptor 1. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say(const char *format, ...)
{
    char line[8192];
    va_list arguments;

    va_start(arguments, format);
    const int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (::write(2, line, static_cast<std::size_t>(size)) != size) {
        _exit(3);
    }
}

void say_result(const char *what, long result)
{
    say("%s: %ld %s\n", what, result < 0 ? -1 : result, result < 0 ? strerrorname_np(errno) : "");
}

std::string content_of(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    std::error_code error;
    if (fs::is_directory(path, error)) {
        return "a directory";
    }
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> names_in(const std::string &path)
{
    std::vector<std::string> names;
    DIR *directory = opendir(path.c_str());

    if (directory == nullptr) {
        return {std::string("cannot be read: ") + strerrorname_np(errno)};
    }
    while (const dirent *entry = readdir(directory)) {
        names.push_back(entry->d_name);
    }
    closedir(directory);
    std::ranges::sort(names);
    return names;
}

/* Writes all that is visible below the directory. */
void say_tree(const std::string &path)
{
    for (const std::string &name : names_in(path)) {
        const std::string below = path + "/" + name;
        struct stat status;
        if (name == "." || name == "..") {
            continue;
        }
        if (lstat(below.c_str(), &status) != 0) {
            say("%s: %s\n", below.c_str(), strerrorname_np(errno));
            continue;
        }
        /* Not the number of links: the journal keeps files by links. */
        say("%s: mode %o\n", below.c_str(), status.st_mode);
        if (S_ISDIR(status.st_mode)) {
            say_tree(below);
        } else if (S_ISLNK(status.st_mode)) {
            char target[PATH_MAX];
            const ssize_t size = readlink(below.c_str(), target, sizeof target);
            say("  -> %.*s\n", static_cast<int>(size), target);
        } else if (S_ISREG(status.st_mode)) {
            say("  %s\n", content_of(below).c_str());
        }
    }
}

void put(const std::string &path, const char *mode, const std::string &text)
{
    FILE *file = std::fopen(path.c_str(), mode);

    if (file == nullptr) {
        say("fopen %s %s: %s\n", path.c_str(), mode, strerrorname_np(errno));
        return;
    }
    say("fputs: %d\n", std::fputs(text.c_str(), file) >= 0);
    say("fclose: %d\n", std::fclose(file));
}

class Conceal : public testing::Test
{
  protected:
    void SetUp() override
    {
        char pattern[] = "/tmp/ckpt-conceal-XXXXXX";
        top_ = fs::canonical(mkdtemp(pattern));
        journal_ = top_ / "job" / "journal";
        fs::create_directories(journal_ / "kept");
        std::ofstream(journal_ / CKPT_JOURNAL_CONCEALED).flush();
        for (const char *name : {"plain", "concealed"}) {
            make_tree(top_ / name);
        }
    }

    void TearDown() override { fs::remove_all(top_); }

    static void make_tree(const fs::path &tree)
    {
        fs::create_directories(tree / "d" / "deep");
        fs::create_directories(tree / "empty");
        std::ofstream(tree / "old") << "old content\n";
        std::ofstream(tree / "log") << "line 0\n";
        std::ofstream(tree / "d" / "inner") << "inner\n";
        std::ofstream(tree / "d" / "deep" / "est") << "deepest\n";
        fs::create_symlink("old", tree / "link");
        fs::create_symlink("d", tree / "way");
        fs::create_symlink("nowhere", tree / "dangling");
        fs::create_hard_link(tree / "old", tree / "second");
    }

    /* Returns the program's output in that tree. */
    std::string run_in(const fs::path &tree, bool is_concealed,
                       const std::function<void()> &program)
    {
        const fs::path said = top_ / "said";
        const pid_t child = fork();

        if (child == 0) {
            ckpt_failure failure{};
            alarm(120);
            const int fd = open(said.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
            if (dup2(fd, 2) != 2 || chdir(tree.c_str()) != 0) {
                _exit(4);
            }
            if (is_concealed &&
                (ckpt_journal_prepare(&failure) != 0 ||
                 ckpt_journal_open(journal_.c_str(), 0, nullptr, &failure) != 0)) {
                say("%s\n", failure.text);
                _exit(2);
            }
            program();
            _exit(0);
        }
        int status = 0;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        std::string text = content_of(said);
        EXPECT_EQ(status, 0) << text;
        /* Paths differ only in the name of the tree. */
        for (std::size_t at; (at = text.find(tree.string())) != std::string::npos;) {
            text.replace(at, tree.string().size(), "TREE");
        }
        return text;
    }

    /* Runs the program twice and compares the outputs. */
    void compare(const std::function<void()> &program)
    {
        const std::string before = run_in(top_ / "concealed", false, [] { say_tree("."); });
        const std::string right = run_in(top_ / "plain", false, program);
        const std::string found = run_in(top_ / "concealed", true, program);
        EXPECT_EQ(found, right);
        EXPECT_EQ(run_in(top_ / "concealed", false, [] { say_tree("."); }), before);
    }

    fs::path top_, journal_;
};

} // namespace

TEST_F(Conceal, FilesAreMadeAndChanged)
{
    compare([] {
        put("new", "w", "new\n");
        put("new", "a", "more\n");
        put("old", "a", "more\n");
        put("log", "w", "another\n");
        put("d/inner", "r+", "I");
        put("way/by-link", "w", "x");
        put("link", "a", "by the link");
        put("dangling", "w", "made by a link");
        put("missing/new", "w", "x");
        say_result("truncate", truncate("d/deep/est", 3));
        say_result("chmod", chmod("second", 0600));
        say_result("access", access("new", R_OK));
        say_tree(".");
    });
}

TEST_F(Conceal, NamesChange)
{
    compare([] {
        say_result("unlink", unlink("old"));
        say_result("unlink again", unlink("old"));
        say_result("open", open("old", O_RDONLY));
        say_result("rename", rename("log", "log.1"));
        put("log", "w", "new log\n");
        say_result("rename over", rename("log.1", "d/inner"));
        say_result("link", link("d/inner", "inner2"));
        say_result("link to nothing", link("log.1", "x"));
        say_result("symlink", symlink("log", "to-log"));
        say_result("symlink again", symlink("log", "to-log"));
        say_result("unlink link", unlink("way"));
        say_result("rmdir", rmdir("empty"));
        say_result("rmdir full", rmdir("d"));
        say_result("unlink directory", unlink("d"));
        say_result("rmdir file", rmdir("log"));
        say_tree(".");
    });
}

TEST_F(Conceal, DirectoriesAreMade)
{
    compare([] {
        say_result("mkdir", mkdir("new", 0755));
        say_result("mkdir again", mkdir("new", 0755));
        say_result("mkdir below", mkdir("new/below/", 0700));
        say_result("mkdir in old", mkdir("d/other", 0700));
        put("new/below/file", "w", "x");
        say_result("chdir", chdir("new/below"));
        char path[PATH_MAX];
        say("%s\n", getcwd(path, sizeof path));
        put("file2", "w", "y");
        put("../file3", "w", "z");
        put("../../old", "a", "!");
        say("%s\n", content_of("../../d/inner").c_str());
        say_tree("../..");
        say_result("chdir", chdir("../.."));
        say_result("rename directory", rename("new", "d/moved"));
        say_result("rmdir full", rmdir("d/moved"));
        say_result("rmdir deep", rmdir("d/deep"));
        say_result("unlink deepest", unlink("d/deep/est"));
        say_result("rmdir deep", rmdir("d/deep"));
        say_result("rename onto", rename("d/moved", "d/deep"));
        say_result("stat", access("d/deep/est", F_OK));
        say_tree(".");
        say("%s\n", realpath("d/deep/below/file", path));
    });
}

TEST_F(Conceal, DirectoryIsReadAgainAfterRewinding)
{
    compare([] {
        for (int i = 0; i < 2000; i++) {
            put("d/file" + std::to_string(i), "w", "x");
        }
        DIR *directory = opendir("d");
        for (int round = 0; round < 2; round++) {
            long count = 0;
            while (readdir(directory) != nullptr) {
                count++;
            }
            say("%ld names\n", count);
            rewinddir(directory);
        }
        closedir(directory);
    });
}

/* A listing goes on when a call that could close its descriptor does not. */
TEST_F(Conceal, ListingOutlivesCallsThatCloseNothing)
{
    compare([] {
        for (int i = 0; i < 2000; i++) {
            put("d/file" + std::to_string(i), "w", "x");
        }
        DIR *directory = opendir("d");
        const int fd = dirfd(directory);
        std::vector<std::string> names;
        long count = 0;
        while (const dirent *entry = readdir(directory)) {
            names.push_back(entry->d_name);
            if (++count % 400 == 0) {
                say_result("dup2", dup2(fd, fd) == fd);
                say_result("dup2", dup2(-1, fd));
                say_result("dup3", dup3(fd, fd, 0));
                say_result("close_range", close_range(fd, fd, CLOSE_RANGE_CLOEXEC));
                say_result("close_range", close_range(fd, fd - 1, 0));
            }
        }
        std::ranges::sort(names);
        const bool repeats = std::ranges::adjacent_find(names) != names.end();
        say("%ld names, %s\n", count, repeats ? "some twice" : "each once");
        closedir(directory);
    });
}

TEST_F(Conceal, DescriptorsOfDirectories)
{
    compare([] {
        say_result("mkdir", mkdir("new", 0755));
        const int made = open("new", O_RDONLY | O_DIRECTORY), old = open("d", O_RDONLY);
        int fd = openat(made, "file", O_WRONLY | O_CREAT, 0600);
        say_result("write", write(fd, "text", 4));
        say_result("close", close(fd));
        fd = openat(old, "inner", O_WRONLY | O_APPEND);
        say_result("write", write(fd, "text", 4));
        char link[64], path[PATH_MAX] = "";
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        const ssize_t size = readlink(link, path, sizeof path);
        say("%.*s\n", static_cast<int>(size), path);
        say_result("close", close(fd));
        say_result("mkdirat", mkdirat(made, "sub", 0700));
        say_result("renameat", renameat(made, "file", old, "file"));
        say_result("unlinkat", unlinkat(made, "file", 0));
        say_result("unlinkat", unlinkat(made, "sub", AT_REMOVEDIR));
        say_result("linkat", linkat(old, "file", made, "other", 0));
        say_result("fchmodat", fchmodat(old, "file", 0644, 0));
        say_result("faccessat", faccessat(made, "other", R_OK, 0));
        say_tree(".");
    });
}

TEST_F(Conceal, ProgramOfAConcealedFileRuns)
{
    compare([] {
        put("script", "w", "#!/bin/sh\nexit 7\n");
        say_result("chmod", chmod("script", 0755));
        const pid_t child = fork();
        if (child == 0) {
            execl("./script", "./script", nullptr);
            _exit(1);
        }
        int status = 0;
        say_result("wait", waitpid(child, &status, 0) == child);
        say("ended with %d\n", status);
    });
}

TEST_F(Conceal, FileWithoutAName)
{
    compare([] {
        const int fd = open(".", O_TMPFILE | O_RDWR, 0600);
        say_result("write", write(fd, "text", 4));
        say_result("linkat", linkat(AT_FDCWD,
                                    ("/proc/self/fd/" + std::to_string(fd)).c_str(),
                                    AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
        say_result("exchange", renameat2(AT_FDCWD, "named", AT_FDCWD, "old",
                                         RENAME_EXCHANGE));
        say_result("no replacing", renameat2(AT_FDCWD, "named", AT_FDCWD, "old",
                                             RENAME_NOREPLACE));
        say_tree(".");
    });
}

namespace
{

/* A visible directory's mode changes at once. */
bool is_visible_directory(const std::string &name)
{
    struct stat status, link;

    return stat(name.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
           !(name.starts_with("n") && lstat(name.c_str(), &link) == 0 && S_ISDIR(link.st_mode));
}

/* One random operation on names of a small set, so that operations collide. */
void act(std::mt19937 &random)
{
    static const char *const names[] = {"old", "log", "new", "d/inner", "d/new", "link",
                                        "n1", "n1/a", "n1/n2", "n1/n2/b", "way/inner",
                                        "empty/x", "empty", "d/deep", "d/deep/est",
                                        "dangling", "second", "n1/n2/../a", "./d//deep/x",
                                        "n3", "n3/a"};
    auto name = [&] { return std::string(names[random() % std::size(names)]); };
    const std::string one = name(), two = name();
    const unsigned what = random() % 15;

    say("%u %s %s: ", what, one.c_str(), two.c_str());
    switch (what) {
    case 0:
        put(one, "w", "written " + two);
        break;
    case 1:
        put(one, "a", "appended " + two);
        break;
    case 2:
        put(one, "r+", "over");
        break;
    case 3:
        say_result("unlink", unlink(one.c_str()));
        break;
    case 4:
        say_result("mkdir", mkdir(one.c_str(), 0755));
        break;
    case 5:
        say_result("rmdir", rmdir(one.c_str()));
        break;
    case 6:
        say_result("rename", rename(one.c_str(), two.c_str()));
        break;
    case 7:
        say_result("link", link(one.c_str(), two.c_str()));
        break;
    case 8:
        say_result("symlink", symlink(("./" + one).c_str(), two.c_str()));
        break;
    case 9:
        if (is_visible_directory(one)) {
            break;
        }
        say_result("chmod", chmod(one.c_str(), random() % 2 ? 0600 : 0755));
        break;
    case 10:
        say_result("truncate", truncate(one.c_str(), static_cast<off_t>(random() % 20)));
        break;
    case 11:
        say("%s\n", content_of(one).c_str());
        break;
    case 12:
        say_result("exclusive", open(one.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0640) < 0
                                    ? -1
                                    : 0);
        break;
    case 13:
        say_result("exchange", renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, two.c_str(),
                                         RENAME_EXCHANGE));
        break;
    default:
        for (const std::string &found : names_in(one)) {
            say("%s ", found.c_str());
        }
        say("\n");
    }
}

} // namespace

TEST_F(Conceal, RandomPrograms)
{
    for (unsigned seed = 0; seed < 150 && !HasFailure(); seed++) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        TearDown();
        SetUp();
        compare([seed] {
            std::mt19937 random(seed);
            for (int i = 0; i < 60; i++) {
                act(random);
            }
            say_tree(".");
        });
    }
}

TEST_F(Conceal, OutputIsHeld)
{
    const fs::path stream = top_ / "stream";
    (void)run_in(top_ / "concealed", false, [&] {
        ckpt_failure failure{};
        const int fd = open(stream.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (dup2(fd, 1) != 1 || ckpt_journal_prepare(&failure) != 0) {
            _exit(2);
        }
        ckpt_journal_hold_output("");
        if (ckpt_journal_open(journal_.c_str(), 0, nullptr, &failure) != 0) {
            _exit(2);
        }
        std::printf("a line\n");
        std::fflush(stdout);
        say_result("write", syscall(SYS_write, 1, 16L, 5));
        _exit(write(1, "another\n", 8) == 8 ? 0 : 5);
    });
    EXPECT_EQ(content_of(stream), "");
    std::string logs;
    for (const auto &file : fs::directory_iterator(journal_)) {
        if (file.path().extension() == ".log") {
            logs += content_of(file.path());
        }
    }
    EXPECT_NE(logs.find("a line\n"), std::string::npos);
    EXPECT_NE(logs.find("another\n"), std::string::npos);
}
