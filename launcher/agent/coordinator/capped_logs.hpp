/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * capped_logs.hpp - global checkpoints that limit the size of message logs. If ranks do not take
 * independent checkpoints although logs grow because of that, all ranks are saved. Afterwards the
 * logs can be dropped, and a failure loses only the work since that checkpoint. No I/O. Part of the
 * coordinator.
 */
#pragma once

#include "agent/control/control.hpp"
#include "agent/coordinator/checkpoint_request.hpp"
#include "protocol/log_cap.hpp"

#include <cstdint>
#include <vector>

namespace ckpt
{

/* Context, for all functions: the thread of the event loop. */
class CappedLogs
{
  public:
    using Time = LogCap::Time;

    /* Whether all ranks should be saved now. state: the present content of the page. last: when the
     * latest global checkpoint ended or was tried, or when the job began. */
    bool is_due(const IndependentState &state, Time now, Time last);
    /* Returns the request for the checkpoint that is due. Requires is_due(). */
    CheckpointRequest begin();
    /* A checkpoint for these requests is committed. Counts it if one is a request of begin(). */
    void committed(const std::vector<CheckpointRequest> &requests, std::uint64_t number);

    /* The part of the status about these checkpoints. */
    const control::Capped &capped() const { return capped_; }

  private:
    LogCap cap_;
    control::Capped capped_;
};

} // namespace ckpt
