/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal_writer.cpp - records of a file journal, for tests of its readers.
 */
#include "config.h"
#include "tests/journal/journal_writer.hpp"

#include "common/error.hpp"
#include "journal/content_hash.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>

namespace ckpt::test
{

namespace fs = std::filesystem;

namespace
{

constexpr std::int64_t second = 1000000000;

/* CRC-32C, bit by bit, independent of the code under test. */
std::uint32_t checksum_of(const std::string &bytes)
{
    std::uint32_t state = 0xffffffffu;

    for (const char byte : bytes) {
        state ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; bit++) {
            state = (state >> 1) ^ ((state & 1) != 0 ? 0x82f63b78u : 0);
        }
    }
    return ~state;
}

void require(bool is_done, const std::string &what)
{
    if (!is_done) {
        fail_errno(errno, "test: {}", what);
    }
}

std::string whole_record(ckpt_journal_record head, const std::string &path,
                         const std::string &other, const std::string &data)
{
    std::string strings = (path.empty() ? "" : path + '\0') + (other.empty() ? "" : other + '\0');
    std::string bytes(sizeof head, '\0');

    head.magic = CKPT_JOURNAL_MAGIC;
    head.path_size = path.empty() ? 0 : static_cast<std::uint32_t>(path.size() + 1);
    head.other_size = other.empty() ? 0 : static_cast<std::uint32_t>(other.size() + 1);
    head.data_size = data.size();
    head.length = (sizeof head + strings.size() + data.size() + 7) / 8 * 8;
    bytes += strings + data;
    bytes.resize(head.length);
    std::memcpy(bytes.data(), &head, sizeof head);
    head.checksum = checksum_of(bytes.substr(offsetof(ckpt_journal_record, length)));
    std::memcpy(bytes.data(), &head, sizeof head);
    return bytes;
}

void describe(ckpt_journal_record &head, const std::string &path)
{
    struct stat status;

    if (path.empty() || ::lstat(path.c_str(), &status) < 0) {
        return;
    }
    head.device = status.st_dev;
    head.inode = status.st_ino;
    head.size = static_cast<std::uint64_t>(status.st_size);
    head.modified = status.st_mtim.tv_sec * second + status.st_mtim.tv_nsec;
    head.changed = status.st_ctim.tv_sec * second + status.st_ctim.tv_nsec;
    head.mode = status.st_mode;
    head.owner = status.st_uid;
    head.group = status.st_gid;
}

void add_file(const fs::path &path, const std::string &bytes)
{
    std::ofstream(path, std::ios::binary | std::ios::app) << bytes;
}

} // namespace

std::string read_file(const fs::path &path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path &path, const std::string &content)
{
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

SeenTree look_at(const fs::path &directory, bool with_inodes)
{
    SeenTree tree;

    for (const auto &entry : fs::recursive_directory_iterator(directory)) {
        const std::string path = entry.path();
        if (path.find(CKPT_JOURNAL_KEPT_PREFIX) != path.npos) {
            continue;
        }
        struct stat status;
        require(::lstat(path.c_str(), &status) == 0, path);
        Seen &seen = tree[path.substr(directory.string().size() + 1)];
        seen.mode = status.st_mode;
        seen.inode = with_inodes && !S_ISDIR(status.st_mode) ? status.st_ino : 0;
        if (!S_ISDIR(status.st_mode)) {
            seen.modified = status.st_mtim.tv_sec * second + status.st_mtim.tv_nsec;
        }
        if (S_ISREG(status.st_mode)) {
            seen.content = read_file(path);
        } else if (S_ISLNK(status.st_mode)) {
            seen.content = fs::read_symlink(path);
        }
    }
    return tree;
}

std::string difference(const SeenTree &expected, const SeenTree &found)
{
    std::string text;
    auto show = [](const Seen &seen) {
        return fmt::format("mode {:o} inode {} time {} '{}'", seen.mode, seen.inode,
                           seen.modified, seen.content.substr(0, 40));
    };

    for (const auto &[path, seen] : expected) {
        const auto other = found.find(path);
        if (other == found.end()) {
            text += fmt::format("{} is missing\n", path);
        } else if (other->second != seen) {
            text += fmt::format("{}: expected {}, is {}\n", path, show(seen),
                                show(other->second));
        }
    }
    for (const auto &[path, seen] : found) {
        if (!expected.contains(path)) {
            text += fmt::format("{} is there: {}\n", path, show(seen));
        }
    }
    return text;
}

JournalWriter::JournalWriter(fs::path journal, const std::string &host, int process, int rank,
                             std::uint64_t &clock)
    : kept(journal / "kept"), journal_(std::move(journal)), host_(host), process_(process),
      rank_(rank), clock_(&clock)
{
    ckpt_journal_record head = {};

    fs::create_directories(kept);
    head.type = CKPT_JOURNAL_BEGIN;
    head.order = ++*clock_;
    head.value = static_cast<std::uint64_t>(process);
    head.rank = rank;
    log_ = journal_ / fmt::format("{}-{}-{}.log", host, process, head.order);
    add_file(log_, whole_record(head, host, "", ""));
}

void JournalWriter::record(ckpt_journal_type type, const std::string &path,
                           const std::string &other, const std::string &data,
                           std::uint32_t flags, std::uint64_t offset, std::uint64_t value)
{
    ckpt_journal_record head = {};

    describe(head, path);
    head.type = type;
    head.flags = flags;
    head.offset = offset;
    head.value = value;
    head.rank = rank_;
    head.order = ++*clock_;
    add_file(log_, whole_record(head, path, other, data));
}

void JournalWriter::mark(std::uint64_t checkpoint)
{
    record(CKPT_JOURNAL_MARK, "", "", "", 0, 0, checkpoint);
}

void JournalWriter::state(const std::string &path, bool is_written)
{
    record(CKPT_JOURNAL_STATE, path, "", "", is_written ? CKPT_JOURNAL_WRITTEN : 0);
}

void JournalWriter::hashed_state(const std::string &path)
{
    const auto hash = journal::content_hash(path, fs::file_size(path));

    require(hash.has_value(), "hash " + path);
    record(CKPT_JOURNAL_STATE, path, "", "", CKPT_JOURNAL_WRITTEN | CKPT_JOURNAL_HASHED, 0, *hash);
}

std::string JournalWriter::keep(const std::string &path, bool by_copy)
{
    const std::string other = kept / fmt::format("{}-{}-{}", host_, process_, ++kept_count_);

    fs::create_directories(kept);
    if (by_copy) {
        fs::copy_file(path, other);
    } else {
        require(::link(path.c_str(), other.c_str()) == 0, "link " + other);
    }
    return other;
}

void JournalWriter::create(const std::string &path, const std::string &content)
{
    record(CKPT_JOURNAL_ABSENT, path);
    write_file(path, content);
}

void JournalWriter::append(const std::string &path, const std::string &text)
{
    record(CKPT_JOURNAL_SIZE, path);
    add_file(path, text);
}

void JournalWriter::rewrite(const std::string &path, std::uint64_t offset,
                            const std::string &text)
{
    const std::string before = read_file(path);

    record(CKPT_JOURNAL_DATA, path, "",
           before.substr(std::min<std::size_t>(offset, before.size()), text.size()), 0, offset);
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(offset));
    file << text;
}

void JournalWriter::replace_content(const std::string &path, const std::string &content)
{
    record(CKPT_JOURNAL_CONTENT, path, keep(path, true));
    write_file(path, content);
}

void JournalWriter::unlink(const std::string &path, bool by_copy)
{
    if (fs::is_symlink(path)) {
        record(CKPT_JOURNAL_SYMLINK, path, fs::read_symlink(path));
    } else {
        const std::string other = keep(path, by_copy);
        record(CKPT_JOURNAL_FILE, path, other, "", by_copy ? CKPT_JOURNAL_IS_COPY : 0);
    }
    require(::unlink(path.c_str()) == 0, "unlink " + path);
}

/* Renames a file. */
void JournalWriter::rename(const std::string &from, const std::string &to)
{
    record(CKPT_JOURNAL_FILE, from, keep(from, false));
    if (fs::exists(fs::symlink_status(to))) {
        record(CKPT_JOURNAL_FILE, to, keep(to, false));
    } else {
        record(CKPT_JOURNAL_ABSENT, to);
    }
    require(::rename(from.c_str(), to.c_str()) == 0, "rename " + from);
}

void JournalWriter::move_directory(const std::string &from, const std::string &to)
{
    if (fs::exists(to)) {
        record(CKPT_JOURNAL_DIRECTORY, to);
    }
    record(CKPT_JOURNAL_MOVED, from, to);
    require(::rename(from.c_str(), to.c_str()) == 0, "rename " + from);
}

void JournalWriter::exchange(const std::string &one, const std::string &other)
{
    record(CKPT_JOURNAL_MOVED, one, other, "", CKPT_JOURNAL_EXCHANGED);
    require(::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0,
            "exchange " + one);
}

void JournalWriter::make_directory(const std::string &path)
{
    record(CKPT_JOURNAL_ABSENT, path);
    require(::mkdir(path.c_str(), 0755) == 0, "mkdir " + path);
}

void JournalWriter::remove_directory(const std::string &path)
{
    record(CKPT_JOURNAL_DIRECTORY, path);
    require(::rmdir(path.c_str()) == 0, "rmdir " + path);
}

void JournalWriter::change_mode(const std::string &path, unsigned mode)
{
    record(CKPT_JOURNAL_ATTRIBUTES, path);
    require(::chmod(path.c_str(), mode) == 0, "chmod " + path);
}

void JournalWriter::make_symlink(const std::string &target, const std::string &path)
{
    record(CKPT_JOURNAL_ABSENT, path);
    require(::symlink(target.c_str(), path.c_str()) == 0, "symlink " + path);
}

} // namespace ckpt::test
