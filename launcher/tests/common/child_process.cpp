/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * child_process.cpp - a process for image tests to save.
 */
#include "config.h"
#include "tests/common/child_process.hpp"

#include "common/files/temporary_name.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

namespace ckpt::test
{

namespace
{

constexpr std::size_t home_size = 256u << 10;

void require(bool condition, const char *what)
{
    if (!condition) {
        std::perror(what);
        std::abort();
    }
}

} // namespace

void fill_random(std::span<std::byte> bytes, std::uint64_t seed)
{
    std::mt19937_64 generator(seed);
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
        std::uint64_t word = generator();
        std::memcpy(&bytes[i], &word,
                    std::min(sizeof(word), bytes.size() - i));
    }
}

void fill_text(std::span<std::byte> bytes, std::uint64_t seed)
{
    for (std::size_t i = 0; i < bytes.size(); i++) {
        bytes[i] = static_cast<std::byte>(1 + (seed + i / 64) % 250);
    }
}

Description::Description()
{
    home_ = reinterpret_cast<std::uintptr_t>(map(home_size).data());
    next_ = home_;
}

std::span<std::byte> Description::map(std::size_t size, int protection,
                                      std::uint32_t kind, int extra_flags)
{
    int sharing =
        kind == CKPT_REGION_SHARED ? MAP_SHARED : MAP_PRIVATE | MAP_NORESERVE;
    void *memory = ::mmap(nullptr, size, protection,
                          sharing | MAP_ANONYMOUS | extra_flags, -1, 0);
    require(memory != MAP_FAILED, "mmap");
    auto start = reinterpret_cast<std::uintptr_t>(memory);
    ckpt_region region = {};
    region.start = start;
    region.end = start + size;
    region.protection = static_cast<std::uint32_t>(protection);
    region.kind = kind;
    regions_.push_back(region);
    return {static_cast<std::byte *>(memory), size};
}

std::span<std::byte> Description::map_pages(std::size_t count, std::uint32_t kind)
{
    std::span<std::byte> memory = map(count * page, PROT_READ | PROT_WRITE, kind);
    ckpt_region region = regions_.back();
    regions_.pop_back();
    for (std::size_t i = 0; i < count; i++) {
        region.end = region.start + page;
        regions_.push_back(region);
        region.start = region.end;
    }
    return memory;
}

std::span<std::byte> Description::map_file(const std::string &path,
                                           std::size_t size,
                                           std::size_t offset, bool shared)
{
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status;
    require(fd >= 0 && ::fstat(fd, &status) == 0, path.c_str());
    void *memory =
        ::mmap(nullptr, size, shared ? PROT_READ : PROT_READ | PROT_WRITE,
               shared ? MAP_SHARED : MAP_PRIVATE, fd,
               static_cast<off_t>(offset));
    require(memory != MAP_FAILED, "mmap");
    ::close(fd);
    ckpt_region region = {};
    region.start = reinterpret_cast<std::uintptr_t>(memory);
    region.end = region.start + size;
    region.file_offset = offset;
    region.device = status.st_dev;
    region.inode = status.st_ino;
    region.protection = PROT_READ;
    region.kind = shared ? CKPT_REGION_FILE_SHARED : CKPT_REGION_FILE;
    region.path = add_string(path);
    regions_.push_back(region);
    return {static_cast<std::byte *>(memory), size};
}

ckpt_string_t Description::add_string(const std::string &text)
{
    auto index = static_cast<ckpt_string_t>(strings_.size());
    strings_ += text;
    strings_ += '\0';
    return index;
}

std::uint64_t Description::place(const void *data, std::size_t size)
{
    require(next_ + size <= home_ + home_size, "home of the description");
    std::uint64_t address = next_;
    if (size != 0) { /* data may be null then */
        std::memcpy(reinterpret_cast<void *>(address), data, size);
    }
    next_ += (size + 15) / 16 * 16;
    return address;
}

/* With many regions, the list has its own memory. */
std::uint64_t Description::place_regions()
{
    const std::size_t bytes = (regions_.size() + 1) * sizeof(ckpt_region);
    std::span<std::byte> memory;
    if (bytes > home_size / 2) {
        memory = map((bytes + page - 1) / page * page);
    }
    std::ranges::sort(regions_, {}, &ckpt_region::start);
    if (memory.empty()) {
        return place(regions_.data(), regions_.size() * sizeof(ckpt_region));
    }
    std::memcpy(memory.data(), regions_.data(), regions_.size() * sizeof(ckpt_region));
    return reinterpret_cast<std::uintptr_t>(memory.data());
}

std::uint64_t Description::finish()
{
    snapshot.regions = place_regions();
    snapshot.magic = CKPT_SNAPSHOT_MAGIC;
    snapshot.version = CKPT_SNAPSHOT_VERSION;
    snapshot.resume_entry = home_;
    snapshot.working_directory = add_string("/tmp");
    snapshot.executable = add_string("/proc/self/exe");
    if (snapshot.rank_count == 0) {
        snapshot.rank_count = 1;
    }
    snapshot.pid = ::getpid();
    snapshot.region_count = static_cast<std::uint32_t>(regions_.size());
    snapshot.thread_count = static_cast<std::uint32_t>(threads.size());
    snapshot.threads =
        place(threads.data(), threads.size() * sizeof(ckpt_thread));
    snapshot.file_count = static_cast<std::uint32_t>(files.size());
    snapshot.files = place(files.data(), files.size() * sizeof(ckpt_file));
    snapshot.strings_size = strings_.size();
    snapshot.strings = place(strings_.data(), strings_.size());
    snapshot.summary_size = summary.size() + 1;
    snapshot.summary = place(summary.c_str(), summary.size() + 1);
    return place(&snapshot, sizeof(snapshot));
}

ChildProcess::ChildProcess(const std::function<void(Description &)> &prepare)
{
    int report[2];
    int lifeline[2];
    require(::pipe2(report, O_CLOEXEC) == 0, "pipe");
    require(::pipe2(lifeline, O_CLOEXEC) == 0, "pipe");
    pid_ = ::fork();
    require(pid_ >= 0, "fork");
    if (pid_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::close(lifeline[1]);
        Description description;
        prepare(description);
        std::uint64_t address = description.finish();
        require(::write(report[1], &address, sizeof(address)) ==
                    sizeof(address),
                "write");
        char byte;
        while (::read(lifeline[0], &byte, 1) > 0) {
        }
        ::_exit(0);
    }
    ::close(report[1]);
    ::close(lifeline[0]);
    lifeline_ = Fd(lifeline[1]);
    Fd reader(report[0]);
    require(::read(reader.get(), &snapshot_, sizeof(snapshot_)) ==
                sizeof(snapshot_),
            "child died");
}

ChildProcess::~ChildProcess()
{
    if (pid_ > 0) {
        kill();
    }
}

void ChildProcess::kill()
{
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

std::uint64_t ChildProcess::resident() const
{
    std::ifstream file(fmt::format("/proc/{}/statm", pid_));
    std::uint64_t total = 0;
    std::uint64_t pages = 0;
    file >> total >> pages;
    require(file.good(), "statm");
    return pages * page;
}

ScratchDirectory::ScratchDirectory()
{
    const char *parent = std::getenv("TMPDIR");
    path_ = std::string(parent != nullptr ? parent : "/tmp") +
            "/ckpt-test-XXXXXX";
    require(::mkdtemp(path_.data()) != nullptr, "mkdtemp");
}

ScratchDirectory::~ScratchDirectory()
{
    std::error_code error;
    std::filesystem::remove_all(path_, error);
}

std::vector<std::string> names_in(const std::filesystem::path &directory)
{
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(directory)) {
        const std::string name = entry.path().filename();
        const std::string whole(without_temporary_suffix(name));
        names.push_back(whole == name ? name : whole + ".tmp");
    }
    std::ranges::sort(names);
    return names;
}

std::string error_of(const std::function<void()> &action)
{
    try {
        action();
    } catch (const Error &error) {
        return error.what();
    }
    return {};
}

int run_in_child(const std::function<void()> &action)
{
    pid_t pid = ::fork();
    require(pid >= 0, "fork");
    if (pid == 0) {
        action();
        ::_exit(0);
    }
    int status = 0;
    require(::waitpid(pid, &status, 0) == pid, "waitpid");
    return status;
}

} // namespace ckpt::test
