/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fabric_use.hpp - whether this process reads checkpoints of other nodes over a fabric:
 * what the user wants, what there is, and where it has failed.
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
    explicit FabricUse(fabric::Choice choice) : choice_(std::move(choice)) {}

    const fabric::Choice &choice() const { return choice_; }

    /* To read from a host that is reached from the local address. Null: over TCP, as it is
     * off, there is none, or it has failed before; the first time the log says why. */
    std::unique_ptr<fabric::Endpoint> open(const std::string &host, const std::string &local);

    /* The host is read over TCP from now on, for as long as this process lives. Logs that,
     * once for each. */
    void give_up(const std::string &host, const std::string &why);

    /* It has worked: logged once. */
    void tell_use();

  private:
    const fabric::Choice choice_;
    std::mutex mutex_; /* of all that follows */
    bool is_there_ = true; /* as far as is known */
    std::set<std::string> given_up_; /* hosts */
    std::string provider_; /* of the last endpoint */
    bool is_told_ = false;
};

} // namespace ckpt
