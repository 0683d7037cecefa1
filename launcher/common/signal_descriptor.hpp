/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal_descriptor.hpp - receives signals through a descriptor.
 */
#pragma once

#include "common/fd.hpp"

#include <initializer_list>
#include <optional>

#include <signal.h>
#include <sys/signalfd.h>

namespace ckpt
{

class SignalDescriptor
{
  public:
    /* Blocks the signals as long as this object exists. A SIGHUP that nohup has set to be
     * ignored stays ignored. Throws Error. */
    explicit SignalDescriptor(std::initializer_list<int> signals);
    ~SignalDescriptor();
    SignalDescriptor(const SignalDescriptor &) = delete;
    SignalDescriptor &operator=(const SignalDescriptor &) = delete;

    int descriptor() const { return descriptor_.get(); }
    /* Returns the next pending signal. */
    std::optional<signalfd_siginfo> next() const;
    /* Returns the previous signal mask, for child processes. */
    const sigset_t &mask_before() const { return before_; }

  private:
    sigset_t before_;
    Fd descriptor_;
};

} // namespace ckpt
