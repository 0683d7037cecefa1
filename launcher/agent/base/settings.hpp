/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings.hpp - an agent's options. Each has a CKPT_* variable, which comes
 * from the first rank's environment (docs/protocol.md, section 2).
 */
#pragma once

#include "agent/base/peer_identity.hpp"
#include "common/switch.hpp"
#include "fabric/choice.hpp"
#include "image/codec/codec.hpp"
#include "image/memory/page_pool.hpp"
#include "image/model/snapshot_method.hpp"
#include "protocol/checkpoint_interval.hpp"
#include "redundancy/scheme.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

namespace ckpt
{

struct Settings {
    std::string launch_namespace;
    std::filesystem::path directory; /* of the checkpoints; absolute */
    std::filesystem::path slow_directory; /* target of copies; empty: none */
    std::chrono::nanoseconds copy_interval{0}; /* shortest time between two copies */
    redundancy::Scheme redundancy; /* of pieces in each node's own directory */
    std::filesystem::path domains; /* file with the failure domains of nodes; empty: none */
    fabric::Choice fabric; /* for reading pieces of other nodes */
    std::filesystem::path run_directory;
    std::string name; /* of the job; empty: derived from program and mpirun */
    std::string host; /* name of this node */
    std::string restart_job; /* set by `ckpt restart`: the name to keep */
    std::uint64_t restart_number = 0;
    std::filesystem::path supervisor; /* SupervisorFile of `ckpt run`; empty: none */
    std::string owner_token; /* of the command that started the job (image/store/job_owner.hpp) */
    std::uint64_t incarnation = 0; /* of the job: number of launches that `ckpt run` has made */
    CheckpointInterval interval = CheckpointInterval::parse("0");
    std::chrono::nanoseconds timeout = std::chrono::minutes(30);
    std::string protocol = "sns"; /* see protocol/cut_choice.hpp, as for `stagger` */
    std::string stagger = "auto";
    unsigned sweep_dimensions = 0; /* of the mesh of nodes; 0: a hypercube */
    Codec codec;
    SnapshotMethod snapshot = SnapshotMethod::stop;
    std::size_t pool = 0; /* bytes, for cll; 0: PagePool chooses */
    std::size_t granule = default_granule;
    Switch share_pages = Switch::off;
    Switch direct_io = Switch::off;
    std::uint64_t write_limit = 0; /* of this node, bytes per second; 0: none */
    unsigned increments = 0; /* increments on top of one full piece */
    unsigned keep = 2;  /* committed checkpoints */
    int node_count = 0; /* of the job; 0: found out by the agent */
    std::string metrics; /* MetricsFile's pattern; empty: no file */

    PeerIdentity identity() const { return {launch_namespace, host, incarnation}; }
};

} // namespace ckpt
