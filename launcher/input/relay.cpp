/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * relay.cpp - moves bytes from the launcher to the memory file, and from there to the
 * program. Pauses while a rank saves itself.
 */
#include "config.h"
#include "input/relay.hpp"

#include "common/error.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ckpt::input
{

namespace
{

constexpr std::size_t buffer_size = 64 << 10;
constexpr int source_size = 1 << 20;
constexpr std::uint64_t forget_size = 1 << 20; /* minimum that is released at once */
constexpr int pause_ms = 100;

using Word = std::atomic_ref<std::uint32_t>;

off_t place_of(std::uint64_t position)
{
    return static_cast<off_t>(CKPT_RELAY_DATA + position);
}

bool is_temporary(int error)
{
    return error == EINTR || error == EAGAIN;
}

} // namespace

Relay::Relay(Fd source, Fd sink, Fd page)
    : source_(std::move(source)), sink_(std::move(sink)), file_(std::move(page)),
      buffer_(buffer_size)
{
    void *address = ::mmap(nullptr, CKPT_RELAY_DATA, PROT_READ | PROT_WRITE, MAP_SHARED,
                           file_.get(), 0);
    if (address == MAP_FAILED) {
        fail_errno(errno, "the memory file cannot be mapped");
    }
    page_ = static_cast<ckpt_relay_page *>(address);
    if (page_->magic != CKPT_RELAY_MAGIC) {
        fail("the memory file is not of a relay");
    }
    /* Hydra's proxy ends the job, instead of waiting, when the pipe is full. */
    (void)::fcntl(source_.get(), F_SETPIPE_SZ, source_size);
    const int flags = ::fcntl(sink_.get(), F_GETFL);
    if (flags < 0 || ::fcntl(sink_.get(), F_SETFL, flags | O_NONBLOCK) < 0) {
        fail_errno(errno, "the program's pipe cannot be used");
    }
}

Relay::~Relay()
{
    if (page_ != nullptr) {
        ::munmap(page_, CKPT_RELAY_DATA);
    }
}

bool Relay::wants_input() const
{
    return page_->ended == 0 && page_->taken - page_->given < page_->limit;
}

bool Relay::has_output() const
{
    return page_->given < page_->taken;
}

/* Locks the page against a rank that saves itself; waits if a rank holds it already. */
void Relay::enter()
{
    Word busy(page_->busy), hold(page_->hold);
    for (;;) {
        busy.store(1);
        if (hold.load() == 0) {
            return;
        }
        busy.store(0);
        ::syscall(SYS_futex, &page_->hold, FUTEX_WAIT, 1, nullptr, nullptr, 0);
    }
}

void Relay::leave()
{
    Word(page_->busy).store(0);
}

/* Drops the start of the buffer, which the program has read in an earlier launch. */
void Relay::drop(std::uint64_t size)
{
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(size));
    page_->skip -= size;
}

void Relay::receive()
{
    buffer_.resize(buffer_size);
    const ssize_t result = ::read(source_.get(), buffer_.data(), buffer_.size());
    if (result < 0 && is_temporary(errno)) {
        return;
    }
    if (result < 0 && errno == EIO && ::isatty(source_.get()) == 1) {
        (void)::poll(nullptr, 0, pause_ms); /* it is another job's terminal now */
        return;
    }
    if (result <= 0) {
        page_->ended = 1;
        source_.reset();
        return;
    }
    buffer_.resize(static_cast<std::size_t>(result));
    drop(std::min<std::uint64_t>(page_->skip, buffer_.size()));
    std::size_t done = 0;
    while (done < buffer_.size()) {
        const ssize_t written = ::pwrite(file_.get(), buffer_.data() + done,
                                         buffer_.size() - done, place_of(page_->taken));
        /* Without memory the relay waits, and so does the program. */
        if (written < 0 && errno != EINTR) {
            (void)::poll(nullptr, 0, pause_ms);
        }
        done += written > 0 ? static_cast<std::size_t>(written) : 0;
        page_->taken += written > 0 ? static_cast<std::uint64_t>(written) : 0;
    }
}

/* Returns false if no process reads from the pipe any more. */
bool Relay::give()
{
    buffer_.resize(std::min<std::uint64_t>(buffer_size, page_->taken - page_->given));
    ssize_t size = ::pread(file_.get(), buffer_.data(), buffer_.size(), place_of(page_->given));
    if (size <= 0) {
        fail_errno(size < 0 ? errno : EIO, "the memory file cannot be read");
    }
    size = ::write(sink_.get(), buffer_.data(), static_cast<std::size_t>(size));
    if (size < 0) {
        return is_temporary(errno);
    }
    page_->given += static_cast<std::uint64_t>(size);
    return true;
}

void Relay::forget_read_bytes()
{
    int unread = 0;
    if (::ioctl(sink_.get(), FIONREAD, &unread) != 0) {
        return;
    }
    const std::uint64_t read = page_->given - static_cast<std::uint64_t>(unread);
    if (read >= forgotten_ + forget_size &&
        ::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    place_of(forgotten_),
                    static_cast<off_t>(read - forgotten_)) == 0) {
        forgotten_ = read;
    }
}

void Relay::run()
{
    while (page_->ended == 0 || has_output()) {
        pollfd files[2] = {{sink_.get(), static_cast<short>(has_output() ? POLLOUT : 0), 0},
                           {wants_input() ? source_.get() : -1, POLLIN, 0}};
        if (::poll(files, 2, -1) < 0) {
            continue;
        }
        if ((files[0].revents & POLLERR) != 0) {
            return; /* the program has ended or closed its input */
        }
        enter();
        bool goes_on = true;
        if (files[1].revents != 0) {
            receive();
        }
        if (has_output()) {
            goes_on = give();
            forget_read_bytes();
        }
        leave();
        if (!goes_on) {
            return;
        }
    }
    enter();
    sink_.reset(); /* the program sees the end of the input */
    leave();
}

} // namespace ckpt::input
