/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * intervals.hpp - the end of an interval, and the notices to other processes.
 */
#pragma once

#include "system.hpp"

namespace model
{

/* The memory of `page` for `process`, which has stored to it in this
 * interval. */
Page &current_page(System &system, Process &process, int page);

/*
 * Ends the interval of `process`: logs a diff of each page that it has stored
 * to, and a write notice. Publishes the diffs, except in a replay.
 */
void end_interval(System &system, Process &process);

/*
 * Advances the time of `process` to `time`, and tells it which pages were
 * stored to in the intervals that it has not seen before. In a replay this
 * comes from the logs of the writers; a missing log entry is a Violation.
 */
void advance(System &system, Process &process, const Vector &time);

/* Stores `words` to a page of `process`, and to its twin if it has one. */
void store_words(Process &process, int page, Page &to, const Words &words);

} // namespace model
