/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault_descriptor.cpp - requests of userfaultfd(2) for missing pages.
 */
#include "config.h"
#include "restart/fault_descriptor.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace ckpt::restart
{

namespace
{

constexpr std::uint64_t page_size = 4096;

/* All ways by which missing pages come to other addresses, or are no longer wanted. */
constexpr std::uint64_t features = UFFD_FEATURE_EVENT_FORK | UFFD_FEATURE_EVENT_REMAP |
                                   UFFD_FEATURE_EVENT_REMOVE | UFFD_FEATURE_EVENT_UNMAP;

/* Interprets the end of UFFDIO_COPY or UFFDIO_ZEROPAGE. error: errno, or 0. count: what the kernel
 * has put there: bytes, or -errno. */
FaultDescriptor::Result result_of(int error, std::int64_t count, std::size_t *filled)
{
    CKPT_EXPECT(filled != nullptr);
    *filled = count > 0 ? static_cast<std::size_t>(count) : 0;
    switch (error) {
    case 0:
        return FaultDescriptor::Result::done;
    case EAGAIN:
        return FaultDescriptor::Result::changing;
    case EEXIST:
    case ENOENT:
        return FaultDescriptor::Result::unfit;
    case ESRCH:
        return FaultDescriptor::Result::ended;
    default:
        fail_errno(error, "a page cannot be filled");
    }
}

FaultDescriptor::Event event_of(const uffd_msg &message)
{
    using Event = FaultDescriptor::Event;
    switch (message.event) {
    case UFFD_EVENT_PAGEFAULT: {
        const std::uint64_t page = message.arg.pagefault.address & ~(page_size - 1);
        return {.kind = Event::touched, .range = {page, page + page_size}};
    }
    case UFFD_EVENT_FORK:
        return {.kind = Event::forked, .child = Fd(static_cast<int>(message.arg.fork.ufd))};
    case UFFD_EVENT_REMAP: {
        const auto &remap = message.arg.remap;
        return {.kind = Event::moved,
                .range = {remap.from, remap.from + remap.len},
                .to = remap.to};
    }
    case UFFD_EVENT_REMOVE:
    case UFFD_EVENT_UNMAP:
        return {.kind = Event::removed,
                .range = {message.arg.remove.start, message.arg.remove.end}};
    default:
        fail("the kernel reports an unknown event {} of missing pages", message.event);
    }
}

} // namespace

Fd FaultDescriptor::make(std::string *why)
{
    Fd made(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK)));
    if (!made) {
        *why = std::string("this host allows no userfaultfd to this user: ") +
               std::strerror(errno);
        return made;
    }
    uffdio_api api{};
    api.api = UFFD_API;
    api.features = features;
    if (::ioctl(made.get(), UFFDIO_API, &api) != 0) {
        *why = std::string("this host does not report the children of a process to this user: ") +
               std::strerror(errno);
        made.reset();
    }
    return made;
}

std::vector<FaultDescriptor::Event> FaultDescriptor::next() const
{
    std::array<uffd_msg, 32> messages;
    const ssize_t got = ::read(descriptor_.get(), messages.data(), sizeof(messages));
    if (got < 0 && errno != EAGAIN && errno != EINTR) {
        fail_errno(errno, "missing pages are not reported");
    }
    std::vector<Event> events;
    const std::size_t count = got > 0 ? static_cast<std::size_t>(got) / sizeof(uffd_msg) : 0;
    CKPT_INVARIANT(got <= 0 || static_cast<std::size_t>(got) % sizeof(uffd_msg) == 0);
    for (const uffd_msg &message : std::span(messages).first(count)) {
        events.push_back(event_of(message));
    }
    return events;
}

FaultDescriptor::Result FaultDescriptor::copy(std::uint64_t address,
                                              std::span<const std::byte> bytes,
                                              std::size_t *filled) const
{
    CKPT_EXPECT(!bytes.empty() && (address | bytes.size()) % page_size == 0);
    uffdio_copy argument{};
    argument.dst = address;
    argument.src = reinterpret_cast<std::uint64_t>(bytes.data());
    argument.len = bytes.size();
    const int error = ::ioctl(descriptor_.get(), UFFDIO_COPY, &argument) == 0 ? 0 : errno;
    return result_of(error, argument.copy, filled);
}

FaultDescriptor::Result FaultDescriptor::zero(std::uint64_t address, std::size_t size,
                                              std::size_t *filled) const
{
    CKPT_EXPECT(size > 0 && (address | size) % page_size == 0);
    uffdio_zeropage argument{};
    argument.range = {address, size};
    const int error = ::ioctl(descriptor_.get(), UFFDIO_ZEROPAGE, &argument) == 0 ? 0 : errno;
    return result_of(error, argument.zeropage, filled);
}

void FaultDescriptor::wake(const ckpt_range &range) const
{
    CKPT_EXPECT(range.start < range.end);
    uffdio_range woken = {range.start, range.end - range.start};
    (void)::ioctl(descriptor_.get(), UFFDIO_WAKE, &woken);
}

void FaultDescriptor::unregister(const ckpt_range &range) const
{
    CKPT_EXPECT(range.start < range.end);
    uffdio_range gone = {range.start, range.end - range.start};
    (void)::ioctl(descriptor_.get(), UFFDIO_UNREGISTER, &gone);
}

} // namespace ckpt::restart
