/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shells.cpp - the agent's connections to shells.
 */
#include "agent/ranks/shells.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <spdlog/spdlog.h>

#include <sys/epoll.h>

#include <utility>

namespace ckpt
{

Shells::~Shells()
{
    while (!shells_.empty()) {
        forget(shells_.begin()->first);
    }
}

void Shells::add(std::unique_ptr<RankSession> session)
{
    const int rank = session->rank();

    CKPT_EXPECT(rank >= 0 && session->process_descriptor() >= 0);
    forget(rank);
    loop_.watch(session->descriptor(), EPOLLIN, [this, rank](std::uint32_t) { look(rank); });
    loop_.watch(session->process_descriptor(), EPOLLIN, [this, rank](std::uint32_t) {
        forget(rank);
        ended_(rank);
    });
    shells_.emplace(rank, std::move(session));
}

/* Without its connection a shell looks for another agent, so this one has no further use of it. A
 * shell that answers REFUSED may still have something of the rank. */
void Shells::look(int rank)
{
    RankSession &shell = *shells_.at(rank);
    ckpt_message message;

    try {
        while (true) {
            switch (shell.receive(message)) {
            case RankSession::Received::nothing:
                return;
            case RankSession::Received::message:
                if (message.type == CKPT_MSG_REFUSED) {
                    spdlog::warn("{}", message.text);
                    shell.kill();
                }
                break;
            case RankSession::Received::end:
                loop_.forget(shell.descriptor()); /* its process is about to end */
                return;
            }
        }
    } catch (const Error &problem) {
        spdlog::warn("the shell of rank {} is ended: {}", rank, problem.what());
        loop_.forget(shell.descriptor());
        shell.kill();
    }
}

void Shells::forget(int rank)
{
    const auto found = shells_.find(rank);

    if (found != shells_.end()) {
        loop_.forget(found->second->descriptor());
        loop_.forget(found->second->process_descriptor());
        shells_.erase(found);
    }
}

void Shells::follow(int rank, pid_t successor)
{
    const auto found = shells_.find(rank);

    if (found != shells_.end()) {
        (void)found->second->become_shell(successor);
    }
}

void Shells::end(int rank, int code)
{
    const auto found = shells_.find(rank);

    CKPT_EXPECT(code >= 0 && code <= 255);
    if (found == shells_.end()) {
        return;
    }
    if (!found->second->send(CKPT_MSG_END_SHELL, 0,
                             {.end_shell = {.code = static_cast<std::uint64_t>(code)}})) {
        found->second->kill();
    }
    forget(rank);
}

void Shells::kill()
{
    while (!shells_.empty()) {
        shells_.begin()->second->kill();
        forget(shells_.begin()->first);
    }
}

} // namespace ckpt
