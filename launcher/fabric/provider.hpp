/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * provider.hpp - finds a provider of libfabric that can do what fabric/endpoint.hpp needs.
 */
#pragma once

#include "fabric/choice.hpp"

#include <rdma/fabric.h>

#include <memory>
#include <string>

namespace ckpt::fabric
{

struct InfoDeleter {
    void operator()(fi_info *info) const { fi_freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, InfoDeleter>;

/* The best one, as libfabric orders them, at the local address if it knows that. Throws
 * Failure if there is none. */
Info find_provider(const Choice &choice, const std::string &local);

} // namespace ckpt::fabric
