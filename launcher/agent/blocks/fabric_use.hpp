/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fabric_use.hpp - decides whether this process reads checkpoints of other nodes over a fabric: by
 * the user's choice, by the available providers and by earlier failures.
 *
 * Thread-safe; normal context.
 */
#pragma once

#include "fabric/endpoint.hpp"

#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace ckpt
{

class FabricUse
{
  public:
    explicit FabricUse(fabric::Choice choice)
        : choice_(std::move(choice)) {}

    const fabric::Choice &choice() const { return choice_; }

    /* Opens an endpoint for reading from a host. local: this node's address on the connection to
     * it. Returns null if TCP has to be used: fabrics are off, there is none, or it has failed
     * before. The first time, the log says why. */
    std::unique_ptr<fabric::Endpoint> open(const std::string &host, const std::string &local);

    /* Makes this process read that host over TCP from now on. Logs that once for each host. */
    void give_up(const std::string &host, const std::string &why);

    /* Logs once that the fabric has worked. */
    void tell_use();

  private:
    const fabric::Choice choice_;
    std::mutex mutex_;               /* protects all members below */
    bool is_there_ = true;           /* whether there is a fabric, as far as known */
    std::set<std::string> given_up_; /* hosts that are read over TCP */
    std::string provider_;           /* of the latest endpoint */
    bool is_told_ = false;
};

} // namespace ckpt
