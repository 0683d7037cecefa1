/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * intervals.hpp - the end of an interval, and what others hear of it.
 */
#pragma once

#include "system.hpp"

namespace model
{

/* Where `process` sees `page`, which it has stored to in this interval. */
Page &current_page(System &system, Process &process, int page);

/*
 * Ends the interval of `process`: logs a diff of each page that it has stored
 * to, and a write notice; publishes the diffs, unless they are those of a
 * replay.
 */
void end_interval(System &system, Process &process);

/*
 * Brings the time of `process` to `time`, and tells it which pages were stored
 * to in the intervals that it has not seen before. In a replay these are taken
 * from the logs of the writers; a Violation if one is missing.
 */
void advance(System &system, Process &process, const Vector &time);

/* Stores `words` to a page of `process`, and to its twin if it has one. */
void store_words(Process &process, int page, Page &to, const Words &words);

} // namespace model
