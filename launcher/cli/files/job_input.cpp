/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_input.cpp - reads input files again, and keeps input from a pipe or terminal in the
 * job's directory.
 */
#include "cli/files/job_input.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "image/seal/image_key.hpp"
#include "image/store/job_directory.hpp"

#include "ckpt/input.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <span>
#include <utility>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ckpt::cli
{

namespace fs = std::filesystem;

namespace
{

constexpr std::size_t buffer_size = 64 << 10;
/* Limit of bytes that the launcher has not read yet; a faster producer must wait. */
constexpr std::uint64_t most_ahead = 1 << 20;
/* A launcher that buffers without limit (hydra) gets at first as much as fits into a rank's
 * pipe. When ranks read, it gets a part at a time. If no rank reports within longest_start, it
 * gets more anyway. */
constexpr std::uint64_t first_bytes = 32 << 10;
constexpr std::uint64_t bytes_at_once = 16 << 10;
constexpr auto pace = std::chrono::milliseconds(20);
constexpr auto longest_start = std::chrono::seconds(10);
constexpr auto look_again = std::chrono::milliseconds(300);
constexpr auto look_for_room = std::chrono::seconds(1);

bool has_option(const LaunchLine &line, const char *name)
{
    return line.find(name) != nullptr;
}

bool is_nothing(const struct stat &status)
{
    struct stat nothing {
    };
    return S_ISCHR(status.st_mode) && stat("/dev/null", &nothing) == 0 &&
           nothing.st_rdev == status.st_rdev;
}

/* A launcher that ends closes its end of the pipe, but reading the input continues. A handler
 * is used because, unlike SIG_IGN, it is not inherited by children. */
void survive_closed_pipes()
{
    struct sigaction action {
    };
    action.sa_handler = [](int) {};
    action.sa_flags = SA_RESTART;
    (void)sigaction(SIGPIPE, &action, nullptr);
}

} // namespace

KeptInput::KeptInput(const fs::path &directory)
    : whole(directory / "stdin"), part(directory / "stdin.part")
{
}

void KeptInput::remove() const
{
    std::error_code error;
    fs::remove(whole, error);
    fs::remove(part, error);
}

JobInput::JobInput(EventLoop &loop, const fs::path &directory, const LaunchLine &line,
                   bool is_resumed)
    : loop_(loop), kept_(directory), is_slow_(line.launcher == Launcher::hydra),
      pace_(loop, [this] { allow_more(); }), foreground_(loop, [this] { watch(); }),
      room_(loop, [this] { find_room(); })
{
    struct stat status {
    };
    const bool has_input = fstat(STDIN_FILENO, &status) == 0;
    const bool is_terminal = has_input && isatty(STDIN_FILENO) == 1;
    const bool wants_terminal = line.launcher == Launcher::other || has_option(line, "pty");

    is_empty_ = !has_input || is_nothing(status);
    survive_closed_pipes();
    if (image_key()) { /* kept input would be neither encrypted nor authenticated */
        if (has_input && S_ISREG(status.st_mode)) {
            use_file(Fd());
        }
        return;
    }
    if (is_resumed && path_exists(kept_.whole)) {
        use_file(open_file(kept_.whole, O_RDONLY, 0, "the kept standard input"));
        return;
    }
    kept_.remove();
    if (has_input && S_ISREG(status.st_mode)) {
        use_file(Fd());
        link_file();
    } else if (has_input && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) ||
                             (is_terminal && !wants_terminal))) {
        make_job_directory(directory);
        open_stream(is_terminal);
    }
}

JobInput::~JobInput()
{
    end_launch();
}

std::string JobInput::variable() const
{
    if (kind_ != Kind::none) {
        return CKPT_INPUT_AGAIN;
    }
    return is_empty_ ? CKPT_INPUT_NONE : CKPT_INPUT_NEW;
}

/* file: invalid if it is this process's standard input. */
void JobInput::use_file(Fd file)
{
    kind_ = Kind::file;
    file_ = std::move(file);
    if (!file_) {
        start_ = std::max<off_t>(lseek(STDIN_FILENO, 0, SEEK_CUR), 0);
    }
    if (is_slow_) { /* this process feeds the launcher */
        struct stat status {
        };
        if (!file_) {
            file_.reset(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
        }
        if (!file_ || fstat(file_.get(), &status) != 0) {
            fail_errno(errno, "the standard input cannot be read");
        }
        kind_ = Kind::stream;
        has_ended_ = true;
        size_ = static_cast<std::uint64_t>(std::max<off_t>(status.st_size - start_, 0));
    }
}

/* For a later `ckpt restart`. */
void JobInput::link_file() const
{
    struct stat own {
    }, named{};
    std::error_code error;
    const fs::path path = fs::read_symlink("/proc/self/fd/0", error);

    if (!error && start_ == 0 && fstat(STDIN_FILENO, &own) == 0 &&
        stat(path.c_str(), &named) == 0 && own.st_ino == named.st_ino &&
        own.st_dev == named.st_dev) {
        make_job_directory(kept_.whole.parent_path());
        /* If this fails, the user must redirect the file again. */
        fs::create_symlink(path, kept_.whole, error);
    }
}

void JobInput::open_stream(bool is_terminal)
{
    kind_ = Kind::stream;
    is_terminal_ = is_terminal;
    stream_.open(kept_.part);
}

/* ---- A launch ------------------------------------------------------------------------ */

int JobInput::begin_launch(bool has_ended)
{
    const bool is_first = std::exchange(is_first_, false);

    if (kind_ == Kind::none) {
        return STDIN_FILENO;
    }
    if (has_ended) {
        given_ = open_file("/dev/null", O_RDONLY, 0, "no input");
        return given_.get();
    }
    if (kind_ == Kind::file) {
        const int fd = file_ ? file_.get() : STDIN_FILENO;
        if ((!is_first || file_) && lseek(fd, start_, SEEK_SET) < 0) {
            fail_errno(errno, "the standard input cannot be read again");
        }
        return fd;
    }
    CKPT_EXPECT(!sink_); /* the last launch has ended */
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        fail_errno(errno, "no pipe for the standard input");
    }
    given_.reset(ends[0]);
    sink_.reset(ends[1]);
    if (fcntl(sink_.get(), F_SETFL, O_WRONLY | O_NONBLOCK) < 0) {
        fail_errno(errno, "the pipe of the standard input cannot be used");
    }
    fed_ = 0;
    allowed_ = is_slow_ ? first_bytes : UINT64_MAX;
    if (is_slow_) {
        pace_.start(longest_start);
    }
    watch();
    return given_.get();
}

void JobInput::end_launch()
{
    stop_feeding();
    given_.reset();
}

std::string JobInput::lost() const
{
    return kind_ == Kind::none && isatty(STDIN_FILENO) == 1
               ? "what the program has read from the terminal since the checkpoint has to be "
                 "typed again"
               : "";
}

void JobInput::forget()
{
    end_launch();
    kept_.remove();
}

/* ---- A stream ------------------------------------------------------------------------ */

bool JobInput::wants_more() const
{
    return sink_ && !has_ended_ && size_ - fed_ < most_ahead &&
           stream_.in_memory() < InputFile::much_in_memory;
}

/* While this process is in the background, the terminal belongs to another job of the shell. A
 * terminal that is not the controlling one has no foreground job. */
bool JobInput::may_read_terminal() const
{
    const pid_t front = is_terminal_ ? tcgetpgrp(STDIN_FILENO) : -1;
    return front < 0 || front == getpgrp();
}

/* Updates the watched descriptors of the event loop. */
void JobInput::watch()
{
    if (kind_ != Kind::stream) {
        return;
    }
    if (sink_ && has_ended_ && fed_ >= size_) {
        stop_feeding(); /* the launcher sees the end of the input */
        return;
    }
    const bool is_in_front = may_read_terminal();
    const bool reads = wants_more() && is_in_front;
    const bool writes = sink_ && fed_ < std::min(size_, allowed_);

    if (reads != is_reading_) {
        is_reading_ = reads;
        if (reads) {
            loop_.watch(STDIN_FILENO, EPOLLIN, [this](std::uint32_t) { receive(); });
        } else {
            loop_.forget(STDIN_FILENO);
        }
    }
    if (writes != is_writing_) {
        is_writing_ = writes;
        if (writes) {
            loop_.watch(sink_.get(), EPOLLOUT, [this](std::uint32_t) { feed(); });
        } else {
            loop_.forget(sink_.get());
        }
    }
    if (is_terminal_ && wants_more()) {
        foreground_.start(look_again);
    }
}

void JobInput::receive()
{
    CKPT_EXPECT(is_reading_ && !has_ended_);
    std::array<char, buffer_size> bytes;

    if (!may_read_terminal()) {
        watch();
        return;
    }
    const ssize_t size = read(STDIN_FILENO, bytes.data(), bytes.size());
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) {
        return;
    }
    if (size <= 0) {
        finish();
    } else {
        stream_.append(std::span(bytes).first(static_cast<std::size_t>(size)));
        size_ = stream_.size();
    }
    if (stream_.in_memory() > 0 && !std::exchange(lacks_room_, true)) {
        fmt::print(stderr, "ckpt: {} cannot be written: {}; the standard input is kept in memory "
                           "meanwhile, where ckpt restart does not find it\n",
                   kept_.part.string(), stream_.why());
        room_.start(look_for_room);
    }
    watch();
}

/* Tries to move data from memory to the file. */
void JobInput::find_room()
{
    stream_.settle();
    lacks_room_ = stream_.in_memory() > 0;
    if (lacks_room_) {
        room_.start(look_for_room);
    } else {
        fmt::print(stderr, "ckpt: the standard input is in {} again\n", kept_.part.string());
        if (has_ended_) {
            publish();
        }
    }
    watch();
}

void JobInput::finish()
{
    has_ended_ = true;
    if (stream_.in_memory() == 0) {
        publish();
    }
}

/* Renames the kept input, so that it is distinguishable from an incomplete one. */
void JobInput::publish() const
{
    CKPT_EXPECT(has_ended_ && stream_.in_memory() == 0); /* the name says that all is there */
    std::error_code error;
    fs::rename(kept_.part, kept_.whole, error);
    if (error) {
        fmt::print(stderr, "ckpt: {} cannot be renamed: {}\n", kept_.part.string(),
                   error.message());
    }
}

void JobInput::ranks_have_come()
{
    if (is_slow_ && sink_) {
        allow_more();
    }
}

void JobInput::allow_more()
{
    CKPT_EXPECT(is_slow_ && sink_);
    allowed_ = fed_ + bytes_at_once;
    pace_.start(pace);
    watch();
}

void JobInput::feed()
{
    CKPT_EXPECT(sink_ && fed_ < std::min(size_, allowed_));
    std::array<char, buffer_size> bytes;
    const auto size =
        std::min<std::uint64_t>(bytes.size(), std::min(size_, allowed_) - fed_);

    if (stream_.is_open()) {
        stream_.read(std::span(bytes).first(size), fed_);
    } else if (const int error = read_exactly(file_.get(), bytes.data(), size,
                                              fed_ + static_cast<std::uint64_t>(start_))) {
        fail_errno(error, "the standard input cannot be read again");
    }
    const ssize_t written = write(sink_.get(), bytes.data(), size);
    if (written < 0 && errno != EAGAIN && errno != EINTR) {
        stop_feeding(); /* the launcher has closed its input or ended */
        return;
    }
    fed_ += written > 0 ? static_cast<std::uint64_t>(written) : 0;
    CKPT_INVARIANT(fed_ <= size_);
    watch();
}

void JobInput::stop_feeding()
{
    if (std::exchange(is_reading_, false)) {
        loop_.forget(STDIN_FILENO);
    }
    if (std::exchange(is_writing_, false)) {
        loop_.forget(sink_.get());
    }
    foreground_.stop();
    pace_.stop();
    sink_.reset();
}

} // namespace ckpt::cli
