/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * delivery.hpp - diffs in flight to homes, and page requests.
 */
#pragma once

#include "system.hpp"

namespace model
{

/* Delivers the next batch from `writer` to `home`; false if there is none. */
bool deliver(System &system, int writer, int home);

/* Delivers one batch of any channel, if there is one. */
void deliver_any(System &system);

/* Delivers all batches in flight. */
void deliver_all(System &system);

/* The home holds a request for `page` until it has version `needed`. */
void deliver_until(System &system, int page, const Vector &needed);

} // namespace model
