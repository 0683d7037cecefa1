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
#include "image/model/snapshot_method.hpp"
#include "protocol/checkpoint_interval.hpp"
#include "redundancy/scheme.hpp"
#include "settings/values.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

namespace ckpt
{

/* The values of an agent. Their defaults are in settings/table.py. */
struct Settings {
    /* values: those of "ckptd". Throws Error naming the variable of an invalid value. */
    explicit Settings(const settings::Values &values);

    std::string launch_namespace;
    std::filesystem::path directory;        /* of the checkpoints; absolute */
    std::filesystem::path slow_directory;   /* target of copies; empty: none */
    std::chrono::nanoseconds copy_interval; /* shortest time between two copies */
    redundancy::Scheme redundancy;          /* of pieces in each node's own directory */
    /* file with the failure domains of nodes; empty: none */
    std::filesystem::path domains;
    fabric::Choice fabric; /* for reading pieces of other nodes */
    std::filesystem::path run_directory;
    std::string name;        /* of the job; empty: derived from program and mpirun */
    std::string host;        /* name of this node */
    std::string restart_job; /* set by `ckpt restart`: the name to keep */
    std::uint64_t restart_number;
    std::filesystem::path supervisor; /* SupervisorFile of `ckpt run`; empty: none */
    /* of the command that started the job (image/store/job_owner.hpp) */
    std::string owner_token;
    std::uint64_t incarnation; /* of the job: number of launches that `ckpt run` has made */
    CheckpointInterval interval;
    std::chrono::nanoseconds timeout;
    std::string protocol; /* see protocol/cut_choice.hpp, as for `stagger` */
    std::string stagger;
    unsigned sweep_dimensions; /* of the mesh of nodes; 0: a hypercube */
    Codec codec;
    unsigned increments; /* increments on top of one full piece */
    SnapshotMethod snapshot;
    bool keeps_copies;         /* frozen copies of ranks, to recover in place */
    bool keeps_only_with_room; /* at a checkpoint for which memory is short they are not kept */
    bool stands_by;            /* some of these begin MPI in the next world */
    std::size_t pool;          /* bytes, for cll; 0: PagePool chooses */
    std::size_t granule;
    Switch share_pages;
    Switch direct_io;
    std::uint64_t write_limit; /* of this node, bytes per second; 0: none */
    unsigned keep;             /* committed checkpoints */
    int node_count;            /* of the job; 0: found out by the agent */
    std::string metrics;       /* MetricsFile's pattern; empty: no file */

    /* Ranks with independent checkpoints recover one at a time, each from its own copy. */
    bool keeps_copies_of_all() const;
    /* `ckpt run` has made the launcher go on when a rank ends. */
    bool launcher_goes_on() const;

    PeerIdentity identity() const { return {launch_namespace, host, incarnation}; }
};

} // namespace ckpt
