/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_server.cpp - one thread: threads that wait first, then the rest.
 *
 * The kernel queues what a process does to its memory as events, and refuses to fill pages
 * (`changing`) from the moment at which the process begins until the event is read. So a page
 * never comes to a place that the list of missing pages does not know.
 */
#include "config.h"
#include "restart/page_server.hpp"

#include "common/bytes.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"

extern "C" {
#include "memory/lazy_pages.h"
}

#include <fmt/format.h>

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

namespace ckpt::restart
{

namespace
{

namespace fs = std::filesystem;
using Result = FaultDescriptor::Result;
using Event = FaultDescriptor::Event;

constexpr std::size_t page_size = 4096;
/* The kernel does not tell when a process has given up a change of its memory. */
constexpr int retry_ms = 1;

/* Finds the mappings that report missing pages in the list of a thread. Returns false if it has no
 * list: the thread has ended. */
bool find_registered(const fs::path &list, std::vector<ckpt_range> &found)
{
    std::ifstream maps(list);
    ckpt_range mapping = {0, 0};
    for (std::string line; std::getline(maps, line);) {
        unsigned long start = 0, end = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx ", &start, &end) == 2) {
            mapping = {start, end};
        } else if (line.starts_with("VmFlags:") && line.find(" um") != line.npos) {
            CKPT_INVARIANT(mapping.start < mapping.end);
            found.push_back(mapping);
        }
    }
    return mapping.end != 0;
}

/* Returns the mappings of the process that report missing pages; none if it has ended. The first
 * thread may have ended before the others. */
std::vector<ckpt_range> registered_memory(pid_t pid)
{
    std::vector<ckpt_range> found;
    std::error_code error;
    for (const auto &thread : fs::directory_iterator(fmt::format("/proc/{}/task", pid), error)) {
        if (find_registered(thread.path() / "smaps", found)) {
            break;
        }
    }
    return found;
}

} // namespace

PageServer::PageServer(Process process, FaultDescriptor faults, MissingPages missing,
                       std::size_t block, Read read)
    : process_(std::move(process)), buffer_(block), read_(std::move(read))
{
    CKPT_EXPECT(process_.end && process_.connection && read_);
    spaces_.push_back({std::move(faults), std::move(missing)});
    spaces_.back().is_first = true;
}

void PageServer::hear(char message)
{
    switch (message) {
    case CKPT_LAZY_PAGES_REGISTERED:
        may_begin_ = true;
        break;
    case CKPT_LAZY_PAGES_RUNNING:
        goes_ahead_ = goes_ahead_ || !process_.on_demand;
        break;
    case CKPT_LAZY_PAGES_AWAITED:
        goes_ahead_ = true;
        break;
    default:
        fail("the restarted process sends an unknown message {} to its page server",
             static_cast<int>(message));
    }
}

/* The program may have closed the connection with all its descriptors; its pages still come. */
void PageServer::listen()
{
    char messages[16];
    const ssize_t got =
        process_.connection
            ? ::recv(process_.connection.get(), messages, sizeof(messages), MSG_DONTWAIT)
            : -1;
    for (ssize_t i = 0; i < got; i++) {
        hear(messages[i]);
    }
    if (got == 0) {
        process_.connection.reset();
        goes_ahead_ = true;
        if (!may_begin_) { /* the restart program has failed */
            spaces_.clear();
        }
    }
}

void PageServer::wait(bool has_work)
{
    std::vector<pollfd> files = {{process_.end.get(), POLLIN, 0},
                                 {process_.connection.get(), POLLIN, 0}};
    for (const Space &space : spaces_) {
        files.push_back({space.faults.descriptor(), POLLIN, 0});
    }
    const int timeout_ms = has_work ? 0 : std::exchange(is_changing_, false) ? retry_ms
                                                                             : -1;
    if (::poll(files.data(), files.size(), timeout_ms) < 0 && errno != EINTR) {
        fail_errno(errno, "the page server cannot wait");
    }
    if (files[0].revents != 0) { /* its children may live on */
        process_.end.reset();
        spaces_.remove_if([](const Space &space) { return space.is_first; });
    }
}

void PageServer::take_events(Space &space)
{
    std::vector<Event> events;
    do {
        events = space.faults.next();
        for (Event &event : events) {
            switch (event.kind) {
            case Event::touched:
                space.touched.push_back(event.range.start);
                break;
            case Event::removed:
                space.missing.remove(event.range);
                break;
            case Event::moved:
                space.missing.move(event.range.start, event.to,
                                   event.range.end - event.range.start);
                break;
            case Event::forked:
                born_.push_back({FaultDescriptor(std::move(event.child)), space.missing});
                break;
            }
        }
    } while (!events.empty());
}

/* Fills consecutive pages that are all zero, or all have content; those that are unfit one by one.
 */
Result PageServer::put(Space &space, std::uint64_t address, std::span<const std::byte> bytes)
{
    const bool zero = is_all_zero(bytes);
    std::size_t step = bytes.size();
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t size = std::min(step, bytes.size() - at);
        std::size_t filled = 0;
        const Result result = zero ? space.faults.zero(address + at, size, &filled)
                                   : space.faults.copy(address + at, bytes.subspan(at, size),
                                                       &filled);
        CKPT_INVARIANT(filled <= size && filled % page_size == 0);
        if (result == Result::unfit && size == page_size) { /* not wanted any more */
            filled = page_size;
            space.faults.wake({address + at, address + at + page_size});
        }
        if (filled > 0) {
            space.missing.remove({address + at, address + at + filled});
            at += filled;
        } else if (result == Result::unfit) {
            step = page_size;
        } else if (result != Result::done) {
            return result;
        }
    }
    return Result::done;
}

/* Returns false if it has to be tried again, after the next events. */
bool PageServer::fill(Space &space, const MissingPiece &piece)
{
    CKPT_EXPECT(piece.size > 0 && piece.size <= buffer_.size());
    const std::span<std::byte> bytes = std::span(buffer_).first(piece.size);
    std::ranges::fill(bytes, std::byte());
    read_(piece.saved, bytes);
    for (std::size_t at = 0; at < bytes.size();) {
        const bool zero = is_all_zero(bytes.subspan(at, page_size));
        std::size_t end = at + page_size;
        while (end < bytes.size() && is_all_zero(bytes.subspan(end, page_size)) == zero) {
            end += page_size;
        }
        const Result result = put(space, piece.address + at, bytes.subspan(at, end - at));
        space.is_over = space.is_over || result == Result::ended;
        if (result != Result::done) {
            is_changing_ = result == Result::changing;
            return !is_changing_;
        }
        at = end;
    }
    space.ahead = piece.end();
    return true;
}

/* Gives a page to the threads that wait for it; false: after the next events. */
bool PageServer::answer(Space &space, std::uint64_t page)
{
    static constexpr std::byte zeros[page_size] = {};
    if (const auto piece = space.missing.at(page)) {
        if (!fill(space, *piece)) {
            return false;
        }
    } else { /* never had content, or the program has discarded it */
        const Result result = put(space, page, zeros);
        if (result == Result::changing) {
            is_changing_ = true;
            return false;
        }
        space.is_over = space.is_over || result == Result::ended;
    }
    space.faults.wake({page, page + page_size});
    return true;
}

void PageServer::serve(Space &space)
{
    while (!space.touched.empty() && answer(space, space.touched.front())) {
        space.touched.pop_front();
    }
}

/* The memory of a child is unregistered when its descriptor is closed. The process itself has one
 * more, so each of its mappings is unregistered; some may move meanwhile. Returns whether the space
 * needs nothing any more. */
bool PageServer::end_if_complete(Space &space)
{
    if (space.is_over || !space.missing.empty() || !may_begin_) {
        return space.is_over;
    }
    if (!space.is_first) {
        space.is_over = true;
        return true;
    }
    const std::vector<ckpt_range> registered = registered_memory(process_.pid);
    for (const ckpt_range &range : registered) {
        space.faults.unregister(range);
    }
    space.is_over = registered.empty();
    is_changing_ = !space.is_over; /* look again */
    if (space.is_over && process_.connection) {
        const char complete = CKPT_LAZY_PAGES_COMPLETE;
        (void)::send(process_.connection.get(), &complete, 1, MSG_NOSIGNAL);
    }
    return space.is_over;
}

void PageServer::run()
{
    bool has_work = false;
    while (!spaces_.empty()) {
        wait(has_work && !is_changing_);
        listen();
        has_work = false;
        for (Space &space : spaces_) {
            take_events(space);
            serve(space);
            if (goes_ahead_ && may_begin_ && space.touched.empty() && !is_changing_) {
                if (const auto piece = space.missing.next(space.ahead)) {
                    (void)fill(space, *piece);
                }
            }
            has_work = has_work || (goes_ahead_ && may_begin_ && !space.missing.empty()) ||
                       !space.touched.empty();
        }
        spaces_.remove_if([this](Space &space) { return end_if_complete(space); });
        spaces_.splice(spaces_.end(), born_);
        CKPT_INVARIANT(born_.empty());
    }
}

} // namespace ckpt::restart
