/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * execution.hpp - processes execute their programs, while none fails.
 */
#pragma once

#include "system.hpp"

#include <functional>

namespace model
{

/* Executes the next operation of `rank`; false if it has none or has to
 * wait. */
bool step(System &system, int rank);

/*
 * A read, write or update. `page` returns the memory. A value that is read
 * changes the state of the process, on which everything it stores depends.
 */
void access(Process &process, const Operation &operation,
            const std::function<Page &(int page)> &page);

} // namespace model
