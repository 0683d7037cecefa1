/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * provider.hpp - finds a libfabric provider that supports the functions of
 * fabric/endpoint.hpp.
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

/* Returns the best provider in libfabric's order, at the local address if the provider
 * knows it. Throws Failure if there is none. */
Info find_provider(const Choice &choice, const std::string &local);

} // namespace ckpt::fabric
