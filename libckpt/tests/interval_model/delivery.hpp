/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * delivery.hpp - diffs on their way to homes, and pages that are asked for.
 */
#pragma once

#include "system.hpp"

namespace model
{

/* The next batch from `writer` reaches `home`; false if there is none. */
bool deliver(System &system, int writer, int home);

/* One batch of any channel, if there is one. */
void deliver_any(System &system);

/* All that is on its way. */
void deliver_all(System &system);

/* The home holds a request for `page` until it has version `needed`. */
void deliver_until(System &system, int page, const Vector &needed);

} // namespace model
