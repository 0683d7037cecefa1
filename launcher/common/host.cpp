/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host.cpp - name and addresses of this node.
 */
#include "common/host.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ckpt
{

namespace
{

/* Addresses of the loopback interface come last. */
std::vector<std::string> numeric_addresses()
{
    std::vector<std::string> real, loopback;
    ifaddrs *list = nullptr;

    if (getifaddrs(&list) < 0) {
        return {};
    }
    for (ifaddrs *entry = list; entry != nullptr; entry = entry->ifa_next) {
        char host[NI_MAXHOST];
        if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0) {
            continue;
        }
        int family = entry->ifa_addr->sa_family;
        socklen_t size = family == AF_INET    ? sizeof(sockaddr_in)
                         : family == AF_INET6 ? sizeof(sockaddr_in6)
                                              : 0;
        if (size != 0 && getnameinfo(entry->ifa_addr, size, host, sizeof host,
                                     nullptr, 0, NI_NUMERICHOST) == 0) {
            auto &where =
                (entry->ifa_flags & IFF_LOOPBACK) != 0 ? loopback : real;
            where.push_back(host);
        }
    }
    freeifaddrs(list);
    real.insert(real.end(), loopback.begin(), loopback.end());
    return real;
}

} // namespace

std::string host_name()
{
    char name[256] = {};

    gethostname(name, sizeof name - 1);
    return name;
}

std::vector<std::string> host_addresses()
{
    std::vector<std::string> hosts = numeric_addresses();
    const std::string name = host_name();

    if (!name.empty()) {
        hosts.insert(hosts.begin(), name);
    }
    return hosts;
}

} // namespace ckpt
