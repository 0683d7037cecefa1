/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal_descriptor.cpp - a signalfd and its signal mask.
 */
#include "common/signal_descriptor.hpp"

#include "common/error.hpp"

#include <cerrno>

#include <unistd.h>

namespace ckpt
{

namespace
{

/* A signalfd also delivers signals that are set to be ignored. */
bool is_left_ignored(int signal)
{
    struct sigaction action {
    };

    return signal == SIGHUP && sigaction(signal, nullptr, &action) == 0 &&
           action.sa_handler == SIG_IGN;
}

} // namespace

SignalDescriptor::SignalDescriptor(std::initializer_list<int> signals)
{
    sigset_t set;

    sigemptyset(&set);
    for (int signal : signals) {
        if (!is_left_ignored(signal)) {
            sigaddset(&set, signal);
        }
    }
    sigprocmask(SIG_BLOCK, &set, &before_);
    descriptor_.reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!descriptor_) {
        const int error = errno;
        sigprocmask(SIG_SETMASK, &before_, nullptr);
        fail_errno(error, "no descriptor for signals");
    }
}

SignalDescriptor::~SignalDescriptor()
{
    sigprocmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<signalfd_siginfo> SignalDescriptor::next() const
{
    signalfd_siginfo info{};

    if (read(descriptor_.get(), &info, sizeof info) != sizeof info) {
        return std::nullopt;
    }
    return info;
}

} // namespace ckpt
