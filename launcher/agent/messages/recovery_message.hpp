/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recovery_message.hpp - what the agents of a job on several nodes say to each other when all ranks
 * go back in place (docs/recovery.md), and about the worlds in which the ranks go on.
 */
#pragma once

#include "world/world_message.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace ckpt
{

/* From the coordinator to all other nodes. Each order begins a round. */
struct RecoveryOrder {
    enum class Step {
        ask,     /* `rank` has died: can this node go back to checkpoint `number`? */
        end,     /* end the processes of all ranks, or have them become shells */
        thaw,    /* the copies of checkpoint `number` live, in `world` */
        done,    /* the ranks of all nodes live */
        give_up, /* for the reason `why`: the job does not go back in place */
    };
    Step step = Step::ask;
    std::uint64_t round = 0;
    int rank = 0;
    std::uint64_t number = 0;
    std::string checkpoint{}; /* its name, for messages */
    std::string world{};
    std::string why{};

    bool operator==(const RecoveryOrder &) const = default;
};

/* To the coordinator, from another node. */
struct RecoveryReport {
    enum class Step {
        died,     /* `rank` of this node, in no round. why: the reason not to go back; or "" */
        returned, /* `rank` is there again, in no round: its process had executed a program */
        able,     /* the answer to `ask`. why: "" if it can */
        ended,    /* all processes have ended, and the next world is registered */
        alive,    /* all ranks of this node live */
        aborted,  /* in no round: `rank` of this node has called MPI_Abort with `code` */
        failed,   /* for the reason `why`. is_final: another attempt would fail, too */
    };
    Step step = Step::died;
    std::uint64_t round = 0; /* of the order that it answers */
    int rank = 0;
    int shells = 0; /* ended: processes that the launcher still has on this node */
    int code = 0;
    bool is_final = false;
    std::string why{};

    bool operator==(const RecoveryReport &) const = default;
};

/* From the coordinator: the ranks may enter this world next. */
struct NextWorldOrder {
    std::string name;
    std::vector<world::WorldNode> nodes;

    bool operator==(const NextWorldOrder &) const = default;
};

/* Fence parts go to the coordinator, and results come from it. */
using RecoveryMessage = std::variant<RecoveryOrder, RecoveryReport, NextWorldOrder,
                                     world::FencePart, world::FenceResult>;

nlohmann::json recovery_frame(const RecoveryMessage &message);
/* Whether a frame of this type is a RecoveryMessage. */
bool is_of_recovery(const std::string &type);
/* Throws Error or nlohmann::json::exception for an invalid frame. */
RecoveryMessage recovery_message_from(const nlohmann::json &frame);

} // namespace ckpt
