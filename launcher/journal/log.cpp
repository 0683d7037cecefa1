/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.cpp - reads one log of the file journal; verifies the checksum of every record.
 */
#include "config.h"
#include "journal/log.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"

#include <isa-l/crc.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>

namespace ckpt::journal
{

namespace fs = std::filesystem;

namespace
{

constexpr std::string_view log_suffix = ".log";
constexpr std::uint64_t longest_path = 1u << 16;
constexpr std::uint64_t alignment = 8;
static_assert(sizeof(ckpt_journal_record) % alignment == 0); /* each record begins aligned */
constexpr std::size_t window_size = 1u << 20;
constexpr std::uint32_t checksum_start = 0xffffffffu;

/* Buffered access to a file that is mostly read sequentially. */
class Window
{
  public:
    Window(const fs::path &path, const Fd &fd, std::uint64_t size)
        : path_(path), fd_(fd), size_(size)
    {
    }

    std::uint64_t size() const { return size_; }

    /* Returns `size` bytes at `offset`, which must be inside the file; valid until the
     * next call. */
    const char *at(std::uint64_t offset, std::size_t size)
    {
        CKPT_EXPECT(offset <= size_ && size <= size_ - offset);
        if (offset < begin_ || offset + size > begin_ + bytes_.size()) {
            fill(offset, size);
        }
        return bytes_.data() + (offset - begin_);
    }

  private:
    void fill(std::uint64_t offset, std::size_t size)
    {
        const std::uint64_t left = size_ - offset;
        bytes_.resize(std::min<std::uint64_t>(std::max(size, window_size), left));
        begin_ = offset;
        const int error = read_exactly(fd_.get(), bytes_.data(), bytes_.size(), offset);
        if (error != 0) {
            fail_errno(error, "cannot read file journal {}", path_.string());
        }
    }

    const fs::path &path_;
    const Fd &fd_;
    const std::uint64_t size_;
    std::uint64_t begin_ = 0;
    std::string bytes_;
};

/* Whether the record fits into the rest of the file, and its parts into the record. */
bool is_plausible(const ckpt_journal_record &head, std::uint64_t room)
{
    if (head.magic != CKPT_JOURNAL_MAGIC || head.length < sizeof head ||
        head.length > room || head.length % alignment != 0 || head.path_size > longest_path ||
        head.other_size > longest_path || head.data_size > head.length) {
        return false;
    }
    const std::uint64_t used = sizeof head + head.path_size + head.other_size + head.data_size;
    return used <= head.length && head.length - used < alignment;
}

std::uint32_t add(std::uint32_t checksum, const char *bytes, std::size_t size)
{
    /* The library does not write to it, although its parameter is not const. */
    auto *data = reinterpret_cast<unsigned char *>(const_cast<char *>(bytes));
    return crc32_iscsi(data, static_cast<int>(size), checksum);
}

bool has_right_checksum(Window &window, const ckpt_journal_record &head, std::uint64_t offset)
{
    std::uint64_t at = offset + offsetof(ckpt_journal_record, length);
    const std::uint64_t end = offset + head.length;
    std::uint32_t checksum = checksum_start;

    while (at < end) {
        const std::size_t part = std::min<std::uint64_t>(window_size, end - at);
        checksum = add(checksum, window.at(at, part), part);
        at += part;
    }
    return ~checksum == head.checksum;
}

/* Returns one string of a record; nothing unless it has exactly one NUL, at its end. */
std::optional<std::string> text_of(const char *bytes, std::uint32_t size)
{
    if (size == 0) {
        return std::string();
    }
    if (std::memchr(bytes, '\0', size) != bytes + size - 1) {
        return std::nullopt;
    }
    return std::string(bytes, size - 1);
}

bool needs_path(const Record &record)
{
    return record.is_change() || record.type() == CKPT_JOURNAL_STATE;
}

/* Returns the record at `offset`; nothing if it is incomplete or damaged. */
std::optional<Record> record_at(Window &window, std::uint64_t offset, Depth depth)
{
    CKPT_EXPECT(offset <= window.size());
    Record record;
    ckpt_journal_record &head = record.head;

    if (window.size() - offset < sizeof head) {
        return std::nullopt;
    }
    std::memcpy(&head, window.at(offset, sizeof head), sizeof head);
    if (!is_plausible(head, window.size() - offset)) {
        return std::nullopt;
    }
    if ((depth == Depth::all || head.data_size == 0) &&
        !has_right_checksum(window, head, offset)) {
        return std::nullopt;
    }
    const std::size_t strings = head.path_size + head.other_size;
    const char *text = window.at(offset + sizeof head, strings);
    auto path = text_of(text, head.path_size);
    auto other = text_of(text + head.path_size, head.other_size);
    record.offset = offset;
    if (!path || !other || (needs_path(record) && !path->starts_with('/'))) {
        return std::nullopt;
    }
    record.path = std::move(*path);
    record.other = std::move(*other);
    return record;
}

/* Returns where the next complete record starts after a damaged one; the size of the
 * file if none follows. */
std::uint64_t next_whole(Window &window, std::uint64_t offset)
{
    CKPT_EXPECT(offset <= window.size());
    const std::uint32_t magic = CKPT_JOURNAL_MAGIC;

    while (window.size() - offset >= sizeof(ckpt_journal_record)) {
        const std::size_t part = std::min<std::uint64_t>(window_size, window.size() - offset);
        const char *bytes = window.at(offset, part);
        const auto *found = static_cast<const char *>(::memmem(bytes, part, &magic, sizeof magic));
        if (found == nullptr) {
            offset += part - (sizeof magic - 1);
            continue;
        }
        offset += static_cast<std::uint64_t>(found - bytes);
        if (record_at(window, offset, Depth::all)) {
            return offset;
        }
        offset++;
    }
    return window.size();
}

/* Takes host and process from the name "HOST-PID-ORDER.log", in case BEGIN is
 * missing. */
void take_name(Log &log)
{
    const std::string stem = log.path.stem().string();
    const std::size_t order = stem.rfind('-');
    const std::size_t process = order == stem.npos ? order : stem.rfind('-', order - 1);

    if (process == stem.npos || process == 0) {
        return;
    }
    log.host = stem.substr(0, process);
    std::from_chars(stem.data() + process + 1, stem.data() + order, log.process);
    std::from_chars(stem.data() + order + 1, stem.data() + stem.size(), log.begin);
}

void take_begin(Log &log, const Record &record)
{
    log.host = record.path;
    log.process = static_cast<std::int64_t>(record.head.value);
    log.rank = record.head.rank;
    log.begin = record.head.order;
}

void read_records(Window &window, Log &log, std::uint64_t offset, Depth depth)
{
    while (offset < window.size()) {
        auto record = record_at(window, offset, depth);
        if (!record) {
            const std::uint64_t next = next_whole(window, offset + 1);
            if (next >= window.size()) {
                return;
            }
            log.damaged.push_back(offset);
            offset = next;
            continue;
        }
        offset = log.size = record->end();
        if (record->type() == CKPT_JOURNAL_BEGIN) {
            take_begin(log, *record);
        } else {
            log.records.push_back(std::move(*record));
        }
    }
}

} // namespace

bool is_log_name(const std::string &name)
{
    return name.size() > log_suffix.size() && name.ends_with(log_suffix) &&
           name.front() != '.';
}

Log read_log(const fs::path &path, std::uint64_t from, Depth depth)
{
    const Fd fd = open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0, "file journal");
    struct stat status;
    Log log;

    if (::fstat(fd.get(), &status) < 0) {
        fail_errno(errno, "cannot read file journal {}", path.string());
    }
    if (!S_ISREG(status.st_mode)) {
        fail("file journal {} is not a regular file", path.string());
    }
    log.path = path;
    take_name(log);
    Window window(log.path, fd, static_cast<std::uint64_t>(status.st_size));
    if (from > 0) {
        const auto begin = record_at(window, 0, Depth::all);
        if (begin && begin->type() == CKPT_JOURNAL_BEGIN) {
            take_begin(log, *begin);
        }
        log.size = std::min(from, window.size());
    }
    read_records(window, log, from, depth);
    CKPT_INVARIANT(log.size <= window.size()); /* is_plausible() refuses longer records */
    return log;
}

} // namespace ckpt::journal
