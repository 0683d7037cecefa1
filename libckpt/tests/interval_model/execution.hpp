/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * execution.hpp - processes execute their programs, as long as nobody fails.
 */
#pragma once

#include "system.hpp"

#include <functional>

namespace model
{

/* Does the next operation of `rank`; false if it has none or has to wait. */
bool step(System &system, int rank);

/*
 * A read, write or update. The memory is where `page` finds it; what is read
 * changes the state of the process, on which everything it stores depends.
 */
void access(Process &process, const Operation &operation,
            const std::function<Page &(int page)> &page);

} // namespace model
