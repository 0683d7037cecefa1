/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nonblocking_cut.hpp - handlers of a cut during which ranks run. The completion of a cut has them
 * as well (protocol/cut/lost_agent.cpp).
 */
#pragma once

#include "protocol/cut/cut_state.hpp"

namespace ckpt
{

/* The answer to CUT. */
void on_cut(CutState &state, const CutEvent &event);
void on_complete(CutState &state, const CutEvent &event);
/* The answer to CLOSE. */
void on_logged(CutState &state, const CutEvent &event);
void on_tick_in_log(CutState &state, const CutEvent &event);
/* The cut is left open: the next one is to complete it. */
void on_lost_in_cut(CutState &state, const CutEvent &event);
/* The completion of a cut is over. */
void settled(CutState &state, CutState::Time now);

} // namespace ckpt
