/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * protocol.hpp - the protocols for a consistent cut (Plank 1993, sections 2.4 to 2.6), and their
 * names.
 */
#pragma once

#include <map>
#include <string>

namespace ckpt
{

enum class Protocol {
    sync_and_stop,
    chandy_lamport,
    network_sweep
};

/* By the names of `ckpt run --protocol`, which files use as well. */
inline const std::map<std::string, Protocol, std::less<>> protocol_names{
    {"sns", Protocol::sync_and_stop},
    {"cl", Protocol::chandy_lamport},
    {"ns", Protocol::network_sweep},
};
const char *protocol_name(Protocol protocol);

} // namespace ckpt
