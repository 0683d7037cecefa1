/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * removal.hpp - removes records and kept files that are no longer needed.
 */
#pragma once

#include "journal/plan.hpp"

namespace ckpt::journal
{

/* Removes the file that a record has kept, if its name is that of a kept file. In another
 * file system also removes the directory, if it is empty then. Throws Error. */
void remove_kept(const Journal &journal, const Record &record);

/* Removes the records and kept files that a rollback has consumed. Can be repeated with a
 * new plan. No process of the job may be alive. Throws Error. */
void remove_consumed(const Journal &journal, const Plan &plan);

} // namespace ckpt::journal
