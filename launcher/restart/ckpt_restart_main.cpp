/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ckpt_restart_main.cpp - the restart program: mpirun starts one per rank, and each becomes
 * the rank that the checkpoint holds.
 *
 *     ckpt-restart CHECKPOINT_DIR
 *     ckpt-restart --thaw PID --snapshot ADDRESS --name JOB/NUMBER [--stand | --replay]
 *
 * The second form is started by an agent, and brings a frozen copy of a rank to life.
 */
#include "config.h"

#include "common/error.hpp"
#include "common/refusal.hpp"
#include "common/memory.hpp"
#include "common/parallel.hpp"
#include "image/seal/image_key.hpp"
#include "image/store/manifest.hpp"
#include "image/store/piece_chain.hpp"
#include "restart/fault_descriptor.hpp"
#include "restart/lazy_regions.hpp"
#include "restart/node_rendezvous.hpp"
#include "restart/page_server_process.hpp"
#include "restart/place.hpp"
#include "restart/process.hpp"
#include "restart/thaw.hpp"

extern "C" {
#include "process/started.h"
}

#include <sys/personality.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <optional>
#include <set>
#include <string>

namespace
{

using ckpt::fail;
using ckpt::Fd;
using ckpt::Manifest;
using ckpt::NodeFileReader;
using ckpt::restart::FaultDescriptor;
using ckpt::restart::Laziness;
using ckpt::restart::Place;
using ckpt::restart::Process;

/* Counts how often this program has executed itself again; unset at first. */
constexpr const char *layout_variable = "CKPT_RESTART_LAYOUT";
constexpr int most_layouts = 10;

std::uint64_t now()
{
    timespec time{};
    ::clock_gettime(CLOCK_REALTIME, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_nsec);
}

/* Executes this program again, to get other random addresses. Returns after too many
 * attempts. */
void choose_other_addresses(char **arguments)
{
    const char *value = std::getenv(layout_variable);
    int count = value == nullptr ? 0 : std::atoi(value);
    if (count >= most_layouts) {
        return;
    }
    ::setenv(layout_variable, std::to_string(count + 1).c_str(), 1);
    int persona = ::personality(0xffffffff);
    if (persona >= 0) {
        ::personality(static_cast<unsigned long>(persona) &
                      ~static_cast<unsigned long>(ADDR_NO_RANDOMIZE));
    }
    ::execv("/proc/self/exe", arguments);
}

/* The saved memory contains the user's preloaded libraries. In this program they could start
 * threads, which it must not have. */
void execute_without_preloaded(char **arguments)
{
    const char *libraries = std::getenv("LD_PRELOAD");
    if (libraries != nullptr && *libraries != '\0') {
        ::unsetenv("LD_PRELOAD");
        ::execv("/proc/self/exe", arguments);
        fail("cannot execute itself without LD_PRELOAD: {}", std::strerror(errno));
    }
}

void require_rank_count(const Manifest &manifest, const Place &place)
{
    if (place.size >= 0 && place.size != manifest.rank_count) {
        ckpt::refuse(CKPT_REFUSAL_OTHER_PLACEMENT,
                     "the checkpoint has {} ranks, but {} were started", manifest.rank_count,
                     place.size);
    }
    if (place.rank >= manifest.rank_count) {
        ckpt::refuse(CKPT_REFUSAL_OTHER_PLACEMENT,
                     "the checkpoint has {} ranks, but rank {} was asked for",
                     manifest.rank_count, place.rank);
    }
}

/* All ranks must use the checkpoint that the command has chosen. Another authentic checkpoint
 * may have taken its place meanwhile. */
void require_checkpoint(const Manifest &manifest)
{
    const char *salt = std::getenv("CKPT_RESTART_SALT");
    if (ckpt::image_key() && salt != nullptr && manifest.pieces.front().salt != salt) {
        ckpt::refuse(CKPT_REFUSAL_UNUSABLE_CHECKPOINT,
                     "checkpoint {}/{} is not the requested one", manifest.job, manifest.number);
    }
}

/* The ranks of a node read at the same time, and share its CPUs. */
unsigned reading_threads(const Place &place)
{
    unsigned sharing = static_cast<unsigned>(std::max(place.local_size, 1));
    return std::max(ckpt::online_cpus() / sharing, 1u);
}

Process open_process(const ckpt::RankImage &image, char **arguments)
{
    try {
        return Process(image);
    } catch (const ckpt::Error &error) {
        if (error.code() == EAGAIN) {
            choose_other_addresses(arguments);
        }
        throw;
    }
}

/* A program started without a launcher is the only rank, even if a launcher around this command
 * has set variables in the environment. */
Place place_of(const Manifest &manifest, const Place &in_launch)
{
    const bool alone =
        manifest.launch.launcher.empty() && manifest.rank_count == 1;
    return alone ? Place{} : in_launch;
}

/* Says why all memory of this rank comes before the program runs. Throws Error if the user does not
 * want that. */
void forgo_laziness(Laziness wanted, const Place &place, const std::string &why)
{
    if (wanted == Laziness::always) {
        ckpt::refuse(CKPT_REFUSAL_OTHER_KERNEL, "no lazy restart: {}", why);
    }
    fmt::print(stderr, "ckpt-restart: rank {}: not lazy: {}\n", place.rank, why);
}

/* Lets a page server provide the large regions of the process, if the user wants that and the host
 * allows it. Returns these regions. */
std::set<std::size_t> begin_lazily(Process &process, const NodeFileReader &reader,
                                   const Place &place, const std::set<int> &inherited)
{
    const Laziness wanted = ckpt::restart::laziness_of_environment();
    const ckpt::RankImage &image = reader.rank(place.rank);
    if (wanted == Laziness::no) {
        return {};
    }
    std::string why = ckpt::restart::obstacle_to_laziness(image);
    const Fd faults = why.empty() ? FaultDescriptor::make(&why) : Fd();
    if (!faults) {
        forgo_laziness(wanted, place, why);
        return {};
    }
    auto regions = ckpt::restart::lazy_regions(image, reader.chunk_size());
    try {
        if (!regions.empty()) {
            const auto missing =
                ckpt::restart::missing_pages(image, regions, reader.chunk_size());
            process.use_page_server(faults, ckpt::restart::start_page_server(
                                                {reader, place.rank}, missing, faults, inherited));
        }
    } catch (const ckpt::Error &error) {
        forgo_laziness(wanted, place, error.what());
        regions.clear();
    }
    return regions;
}

[[noreturn]] void restart(const std::string &directory, const Place &in_launch,
                          const std::set<int> &inherited, char **arguments)
{
    std::uint64_t started = now();
    Manifest manifest = Manifest::load(directory);
    require_checkpoint(manifest);
    const Place place = place_of(manifest, in_launch);
    require_rank_count(manifest, place);
    const ckpt::Piece &piece = manifest.piece_of(place.rank);

    NodeFileReader reader =
        ckpt::open_piece(directory, manifest, piece, reading_threads(place));
    Process process = open_process(reader.rank(place.rank), arguments);
    ::unsetenv(layout_variable);
    std::optional<ckpt::restart::NodeRendezvous> rendezvous;
    if (std::ranges::any_of(manifest.pieces, &ckpt::Piece::shared)) {
        rendezvous.emplace(place); /* the others notice if this rank cannot load its memory */
    }
    process.load_memory(reader, place.rank, begin_lazily(process, reader, place, inherited));
    if (rendezvous) {
        auto objects = process.shared_objects(piece.file);
        process.take_shared(objects, rendezvous->share(objects));
        process.fill_connections();
        rendezvous->await_all(); /* before any rank closes or shuts down an end */
        rendezvous.reset();
    }
    process.restore_surroundings();
    process.restore_shared_files();
    process.go_on(fmt::format("{}/{}", manifest.job, manifest.number), started);
}

} // namespace

int main(int argc, char **argv)
{
    const auto copy = ckpt::restart::thaw_command(argc, argv);
    if (!copy && (argc != 2 || argv[1][0] == '-')) {
        fmt::print(stderr, "usage: ckpt-restart CHECKPOINT_DIR\n"
                           "       ckpt-restart --thaw PID --snapshot ADDRESS --name JOB/NUMBER"
                           " [--stand | --replay]\n"
                           "Started by 'ckpt restart' or an agent, once for each rank.\n");
        return 2;
    }
    Place place;
    try {
        execute_without_preloaded(argv);
        if (copy) {
            return ckpt::restart::thaw(*copy, now());
        }
        const bool may_be_lazy = ckpt::restart::laziness_of_environment() != Laziness::no;
        const std::set<int> inherited =
            may_be_lazy ? ckpt::restart::inherited_descriptors() : std::set<int>();
        ckpt_tell_started();
        ckpt::spare_address_space();
        ckpt::use_image_key(ckpt::key_source_of_environment());
        place = ckpt::restart::place_in_launch();
        restart(argv[1], place, inherited, argv);
    } catch (const std::exception &error) {
        fmt::print(stderr, "ckpt-restart: rank {}: {}\n", place.rank,
                   ckpt::message_of(error));
    }
    return 1;
}
