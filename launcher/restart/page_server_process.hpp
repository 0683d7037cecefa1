/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_server_process.hpp - the process in which the page server of this process runs, and its
 * guardian.
 *
 * Both are orphans in a session of their own: neither the program nor the launcher finds a child.
 * If the page server fails or dies, the guardian says so and ends the program, which would
 * otherwise wait forever for a page. If the guardian dies, the page server goes on.
 */
#pragma once

#include "common/fd.hpp"
#include "image/nodefile/node_file_reader.hpp"
#include "restart/missing_pages.hpp"

#include <set>

namespace ckpt::restart
{

/* Names of the processes, for ps and for tests. */
inline constexpr const char *page_server_name = "ckpt-pages";
inline constexpr const char *guardian_name = "ckpt-guardian";

/* Returns the open descriptors of this process above the standard ones. To be called at the start
 * of the program: they are the launcher's. Throws Error. */
std::set<int> inherited_descriptors();

/* The image that the page server reads. The children have copies of both objects. */
struct PageSource {
    const NodeFileReader &reader;
    int rank;
};

/*
 * Starts both. faults: a userfaultfd of this process (FaultDescriptor::make), which stays open
 * here. inherited: the page server closes these. Returns this process's end of the connection with
 * the page server (libckpt/memory/lazy_pages.h). Throws Error. There must be no other thread.
 */
Fd start_page_server(const PageSource &source, const MissingPages &missing, const Fd &faults,
                     const std::set<int> &inherited);

} // namespace ckpt::restart
