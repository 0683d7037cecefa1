/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world_message.hpp - messages between ckpt-world and its client, and their frames.
 *
 * A frame is a length (32 bits, little endian) and a JSON object in CBOR. Both programs are of
 * the same installation, so the first frame has the version of ckpt, and frames have none.
 */
#pragma once

#include "world/world.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <sys/types.h>

namespace ckpt::world
{

/* From the client: registers a world. A world can be registered while others run. */
struct Register {
    World world;
    bool has_pmi = false; /* its ranks use MPICH, which needs PMI-1 instead of PMIx */
};
/* From the client: the process of a rank on this node. The server stays as long as it lives. */
struct Process {
    std::string name;
    int rank = 0;
    pid_t pid = 0;
};
/* From the client: forgets a world whose ranks have left it. */
struct Forget {
    std::string name;
};

/* One of the fences of a world: the ranks that take part in it wait for each other. */
struct FenceId {
    std::string name;         /* of the world */
    std::vector<int> ranks;   /* in ascending order; empty: all of the world */
    std::uint64_t number = 0; /* of earlier fences of the same ranks in this world */

    auto operator<=>(const FenceId &) const = default;
};
/* From the server: all ranks of a fence that are on this node have come, but some are on others. */
struct FencePart {
    FenceId id;
    std::string data; /* of these ranks, for all */
};
/* From the client: the answer to FencePart. */
struct FenceResult {
    FenceId id;
    bool is_complete = false; /* all have come; false: they never will */
    std::string data;         /* of all nodes */
};

/* From the server, once, before everything else. */
struct Started {
    std::string version; /* of ckpt */
    std::string library; /* the PMIx library, with its version */
};
/* From the server, before Registered, for each rank on this node if it needs one: a descriptor that
 * its process has to inherit. It is passed with the message. */
struct Endpoint {
    std::string name;
    int rank = 0;
};
/* From the server: the answer to Register. */
struct Registered {
    std::string name;
    /* The variables ("NAME=VALUE") of each rank on this node, by rank. With an endpoint, PMI_FD has
     * to be added (pmi_space.hpp). */
    std::map<int, std::vector<std::string>> environments;
};
/* From the server: the answer to Forget. From then on clients of the world, which have ended, can
 * disturb no others. */
struct Forgotten {
    std::string name;
};
/* From the server: a request has failed. name: of the world, "" if that is not the cause. */
struct Refused {
    std::string name;
    std::string why;
};
/* From the server: what a rank on this node has done. */
struct RankEvent {
    enum class Kind {
        connected, /* in MPI_Init */
        finalized, /* in MPI_Finalize */
        aborted,   /* MPI_Abort: `status` is its code, `text` the library's message */
        lost,      /* its process has ended after `connected`, without `finalized` */
        closed,    /* libpmix has noticed that; the server keeps it for itself */
    };
    Kind kind = Kind::connected;
    std::string name;
    int rank = 0;
    int status = 0;
    std::string text;
};

using Message = std::variant<Register, Process, Forget, FencePart, FenceResult, Started, Endpoint,
                             Registered, Forgotten, Refused, RankEvent>;

/* Longest frame: a world of 100,000 ranks fits. */
constexpr std::size_t longest_frame = std::size_t{64} << 20;
/* Most data of a fence, from all nodes. */
constexpr std::size_t longest_fence = longest_frame - (std::size_t{4} << 20);

/* Returns the frame of a message. */
std::string to_frame(const Message &message);

/* Takes frames out of a stream. */
class FrameReader
{
  public:
    /* Adds received bytes. */
    void add(std::string_view bytes) { bytes_.append(bytes); }
    /* Returns the next message; nothing if it is not complete. Throws Error for a frame that is
     * too long or has no valid message. */
    std::optional<Message> next();

  private:
    std::string bytes_;
};

} // namespace ckpt::world
