/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_protection.cpp - synchronous write protection of another process's memory.
 */
#include "config.h"
#include "image/memory/write_protection.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <span>
#include <utility>

namespace ckpt
{

namespace
{

constexpr std::uint64_t page_size = 4096;

/* All events by which memory content can go away. A forked child gets its memory
 * unprotected. */
constexpr std::uint64_t features = UFFD_FEATURE_PAGEFAULT_FLAG_WP |
                                   UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMOVE |
                                   UFFD_FEATURE_EVENT_REMAP;

uffdio_range range_of(const ckpt_range &range)
{
    CKPT_EXPECT(range.start < range.end && (range.start | range.end) % page_size == 0);
    return {range.start, range.end - range.start};
}

} // namespace

unsigned long WriteProtection::descriptor_flags()
{
    return O_CLOEXEC | O_NONBLOCK;
}

WriteProtection::WriteProtection(pid_t pid, Fd descriptor)
    : pid_(pid), descriptor_(std::move(descriptor))
{
    uffdio_api api{};
    api.api = UFFD_API;
    api.features = features;
    if (::ioctl(descriptor_.get(), UFFDIO_API, &api) != 0) {
        fail_errno(errno, "the kernel has no write protection for others");
    }
}

void WriteProtection::watch(const ckpt_range &range) const
{
    uffdio_register registration{};
    registration.range = range_of(range);
    registration.mode = UFFDIO_REGISTER_MODE_WP;
    if (::ioctl(descriptor_.get(), UFFDIO_REGISTER, &registration) != 0) {
        fail_errno(errno, "cannot watch the memory of process {} at {:#x}", pid_,
                   range.start);
    }
}

void WriteProtection::protect(const ckpt_range &range) const
{
    uffdio_writeprotect argument{};
    argument.range = range_of(range);
    argument.mode = UFFDIO_WRITEPROTECT_MODE_WP;
    if (::ioctl(descriptor_.get(), UFFDIO_WRITEPROTECT, &argument) != 0) {
        fail_errno(errno, "cannot write-protect the memory of process {} at {:#x}", pid_,
                   range.start);
    }
}

bool WriteProtection::allow(const ckpt_range &range) const
{
    uffdio_writeprotect argument{};
    argument.range = range_of(range);
    if (::ioctl(descriptor_.get(), UFFDIO_WRITEPROTECT, &argument) == 0) {
        return true;
    }
    if (errno == EAGAIN) {
        return false;
    }
    return allow_pages(range); /* unwatched memory may lie in between */
}

bool WriteProtection::allow_pages(const ckpt_range &range) const
{
    for (std::uint64_t at = range.start; at < range.end; at += page_size) {
        uffdio_writeprotect argument{};
        argument.range = {at, page_size};
        if (::ioctl(descriptor_.get(), UFFDIO_WRITEPROTECT, &argument) != 0 &&
            errno == EAGAIN) {
            return false;
        }
    }
    uffdio_range woken = range_of(range);
    (void)::ioctl(descriptor_.get(), UFFDIO_WAKE, &woken);
    return true;
}

std::vector<WriteProtection::Event> WriteProtection::next() const
{
    std::array<uffd_msg, 32> messages;
    std::vector<Event> events;
    ssize_t got = ::read(descriptor_.get(), messages.data(), sizeof messages);
    std::size_t count = got > 0 ? static_cast<std::size_t>(got) / sizeof(uffd_msg) : 0;

    for (const uffd_msg &message : std::span(messages).first(count)) {
        if (message.event == UFFD_EVENT_PAGEFAULT) {
            std::uint64_t page = message.arg.pagefault.address & ~(page_size - 1);
            events.push_back({Event::write, {page, page + page_size}});
        } else if (message.event == UFFD_EVENT_REMAP) {
            std::uint64_t from = message.arg.remap.from;
            events.push_back({Event::loss, {from, from + message.arg.remap.len}});
        } else if (message.event == UFFD_EVENT_UNMAP ||
                   message.event == UFFD_EVENT_REMOVE) {
            events.push_back(
                {Event::loss, {message.arg.remove.start, message.arg.remove.end}});
        }
    }
    return events;
}

} // namespace ckpt
