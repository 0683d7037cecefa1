/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * removal.hpp - removes records and kept files that are not needed any more.
 */
#pragma once

#include "journal/plan.hpp"

namespace ckpt::journal
{

/* Removes the file that a record has kept, if its name is that of a kept file; in another
 * file system also the directory, if it is empty then. Throws Error. */
void remove_kept(const Journal &journal, const Record &record);

/* Removes what a roll back has consumed. Can be repeated, with a plan made again. No process
 * of the job may be alive. Throws Error. */
void remove_consumed(const Journal &journal, const Plan &plan);

} // namespace ckpt::journal
