/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * background.hpp - threads whose work can wait.
 */
#pragma once

namespace ckpt
{

/* From now on this thread, and those that it starts, gets processors and disks when
 * nobody else wants them. */
void step_back();

} // namespace ckpt
