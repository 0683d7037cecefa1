/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * provider.cpp - queries libfabric for providers, and selects one.
 */
#include "fabric/provider.hpp"

#include "fabric/endpoint.hpp"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace ckpt::fabric
{

namespace
{

/* endpoint.cpp handles each of these modes. */
constexpr int modes_of_memory = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
                                FI_MR_PROV_KEY | FI_MR_ENDPOINT;

Info hints_for(const Choice &choice)
{
    Info hints(fi_allocinfo());

    if (!hints) {
        throw Failure("no memory for libfabric");
    }
    hints->caps = FI_RMA | FI_READ | FI_REMOTE_READ;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = modes_of_memory;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    if (!choice.is_auto()) {
        hints->fabric_attr->prov_name = ::strdup(choice.name().c_str());
    }
    return hints;
}

/* A process that can send to this one must not be able to guess the location of lent
 * memory. So either this process chooses a random key, or the memory is at an address
 * that others do not know. */
bool is_hard_to_guess(const fi_domain_attr &domain)
{
    return (domain.mr_mode & FI_MR_PROV_KEY) != 0
               ? (domain.mr_mode & FI_MR_VIRT_ADDR) != 0
               : domain.mr_key_size >= sizeof(std::uint32_t);
}

/* node: a local address, or null. */
Info best_at(const char *node, const fi_info &hints, const Choice &choice)
{
    fi_info *list = nullptr;

    if (fi_getinfo(FI_VERSION(1, 17), node, nullptr, node != nullptr ? FI_SOURCE : 0, &hints,
                   &list) != 0) {
        return nullptr;
    }
    const Info all(list);
    for (const fi_info *info = list; info != nullptr; info = info->next) {
        if (choice.accepts(info->fabric_attr->prov_name) &&
            is_hard_to_guess(*info->domain_attr)) {
            return Info(fi_dupinfo(info));
        }
    }
    return nullptr;
}

} // namespace

Info find_provider(const Choice &choice, const std::string &local)
{
    const Info hints = hints_for(choice);
    Info best = local.empty() ? nullptr : best_at(local.c_str(), *hints, choice);

    if (!best) {
        best = best_at(nullptr, *hints, choice);
    }
    if (!best) {
        throw Failure(choice.is_auto()
                          ? "there is no network that reads memory of other nodes"
                          : fmt::format("libfabric has no provider '{}' that can read memory "
                                        "of other nodes",
                                        choice.name()),
                      ENODEV);
    }
    return best;
}

} // namespace ckpt::fabric
