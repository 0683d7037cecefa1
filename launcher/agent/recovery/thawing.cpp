/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thawing.cpp - starts ckpt-restart for a frozen copy, and watches both.
 */
#include "agent/recovery/thawing.hpp"

#include "agent/recovery/programs.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/pidfd.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ckpt
{

namespace
{

Fd open_copy(const KeptCopy &copy, int rank)
{
    Fd process = open_pidfd(copy.process->pid());

    if (!process || !copy.process->is_alive()) { /* or that id is another process's by now */
        fail("the copy of rank {} has ended", rank);
    }
    return process;
}

std::vector<std::string> command_for(pid_t copy, std::uint64_t snapshot,
                                     const Thawing::Order &order)
{
    std::vector<std::string> command = {own_program("ckpt-restart"), "--thaw", std::to_string(copy),
                                        "--snapshot", fmt::format("{:#x}", snapshot), "--name",
                                        order.checkpoint};

    CKPT_EXPECT(!order.is_to_stand || !order.is_replayed);
    if (order.is_to_stand) {
        command.emplace_back("--stand");
    } else if (order.is_replayed) {
        command.emplace_back("--replay");
    }
    return command;
}

} // namespace

std::optional<Streams> streams_of(int pidfd)
{
    Streams streams;

    for (std::size_t i = 0; i < streams.size(); i++) {
        streams[i] = Fd(static_cast<int>(syscall(SYS_pidfd_getfd, pidfd, i, 0)));
        if (!streams[i] && errno != EBADF) { /* not just closed */
            return std::nullopt;
        }
    }
    return streams;
}

Thawing::Thawing(EventLoop &loop, Order order, Hooks hooks)
    : loop_(loop), rank_(order.rank), pid_(order.copy.process->pid()), hooks_(std::move(hooks)),
      copy_(std::move(order.copy)), process_(open_copy(copy_, rank_)),
      program_(command_for(pid_, copy_.snapshot, order), order.environment,
               {order.streams[0].get(), order.streams[1].get(), order.streams[2].get(),
                copy_.process->connection().get(), order.connection.get()})
{
    loop_.watch(program_.descriptor(), EPOLLIN, [this](std::uint32_t) { program_ended(); });
    loop_.watch(process_.get(), EPOLLIN, [this](std::uint32_t) { copy_ended(); });
}

Thawing::~Thawing()
{
    if (program_.descriptor() >= 0) {
        loop_.forget(program_.descriptor());
        program_.signal(SIGKILL);
    }
    if (process_) {
        loop_.forget(process_.get());
    }
}

void Thawing::kill() const
{
    if (process_) {
        send_signal(process_, SIGKILL);
    }
}

void Thawing::program_ended()
{
    const int descriptor = program_.descriptor();
    const auto status = program_.take_status();

    if (!status) {
        return; /* it was stopped, and has not ended */
    }
    loop_.forget(descriptor);
    if (*status != 0) {
        hooks_.failed(WIFSIGNALED(*status)
                          ? fmt::format("ckpt-restart for rank {} was ended by signal {}", rank_,
                                        WTERMSIG(*status))
                          : fmt::format("ckpt-restart for rank {} ended with code {}", rank_,
                                        WEXITSTATUS(*status)));
    } else {
        hooks_.lives();
    }
}

void Thawing::copy_ended()
{
    loop_.forget(process_.get());
    process_.reset();
    hooks_.failed(fmt::format("the copy of rank {} has ended", rank_));
}

} // namespace ckpt
