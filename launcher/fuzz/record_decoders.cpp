/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record_decoders.cpp - decoders of small files beside checkpoints: manifests, traces,
 * notes.
 */
#include "config.h"
#include "fuzz/decoders.hpp"
#include "fuzz/samples.hpp"

#include "common/files/files.hpp"
#include "fuzz/scratch.hpp"
#include "image/store/checkpoint_trace.hpp"
#include "image/seal/image_key.hpp"
#include "image/store/node_record.hpp"
#include "image/seal/sealed_text.hpp"
#include "image/store/store.hpp"
#include "redundancy/protection.hpp"

#include "ckpt/wire.h"

#include <filesystem>

namespace ckpt::fuzz
{

namespace
{

namespace fs = std::filesystem;
using nlohmann::json;

void decode_manifest(const std::string &text)
{
    const std::string again = Manifest::parse(text, "m.json").text();

    require(Manifest::parse(again, "m.json").text() == again,
            "a manifest that cannot be said again");
}

/* Gives this process a key as long as the object exists. */
struct WithKey {
    WithKey() { use_this_image_key(MessageKey::parse(std::string(64, '7'))); }
    ~WithKey() { use_this_image_key(std::nullopt); }
};

std::string some_sealed_text()
{
    const WithKey key;

    return seal_text(some_manifest().text(), "manifest");
}

/* The fuzzer does not have the key, so only texts that were sealed with it may be
 * accepted. */
void decode_sealed_text(const std::string &text)
{
    const WithKey key;

    require(seal_text(open_text(text, "manifest", "m.json"), "manifest") == text,
            "a seal that was not made with the key");
}

std::string some_trace()
{
    CheckpointTrace trace;

    trace.job = "job";
    trace.protocol = "cl";
    trace.rank_count = 2;
    trace.nodes = {{"n1", {{0, 0}}, 0, 0}, {"n2", {{1, 1}}, 5, 1}};
    trace.sides = {2};
    trace.events = {{TraceKind::order, false, CKPT_MSG_STOP, -1, 0, 1, 2, 0, 0},
                    {TraceKind::marker, true, 0, 0, 1, 3, 4, 5, 0},
                    {TraceKind::sweep, false, 0, 0, 1, 4, 5, 0, 0},
                    {TraceKind::commit, false, 0, -1, -1, 6, unknown_time, 0, 0}};
    return trace.text();
}

void decode_trace(const std::string &text)
{
    require(!CheckpointTrace::parse(text, "t.json").text().empty(), "an empty trace");
}

/* ---- In the directory of a job ----------------------------------------------------- */

const Store &store()
{
    static const Store made = Store::create(scratch_directory());
    return made;
}

fs::path job_file()
{
    return store().directory() / "job/job.json";
}

std::string some_job()
{
    JobState state;

    state.name = "job";
    state.state = "running";
    state.host = "n1";
    state.agent_socket = "socket";
    store().write_job_state(state);
    return read_text_file(job_file(), "job file");
}

void decode_job(const std::string &text)
{
    write_text_file(job_file(), text, "job file");
    (void)store().is_live("job");
    (void)store().job_state("job");
}

fs::path job_directory()
{
    return scratch_directory() / "job";
}

std::string some_record()
{
    const auto group = redundancy::Group::make(
        1, {{"n1", "node-n1.h5", 1000}, {"n2", "node-n2.h5", 1000}});
    NodeRecord record{some_manifest(), "/d/job/000001",
                      redundancy::protection_json(redundancy::Scheme::parse("partner"), {group})};

    record.write(job_directory());
    return read_text_file(job_directory() / "nodes/1.json", "record");
}

void decode_record(const std::string &text)
{
    write_text_file(job_directory() / "nodes/1.json", text, "record");
    (void)redundancy::groups_from(NodeRecord::load(job_directory(), 1).protection);
}

} // namespace

std::vector<Decoder> record_decoders()
{
    return {
        {"manifest", {some_manifest().text()}, decode_manifest},
        {"sealed_text", {some_sealed_text()}, decode_sealed_text},
        {"trace", {some_trace()}, decode_trace},
        {"job_file", {some_job()}, decode_job},
        {"node_record", {some_record()}, decode_record},
    };
}

} // namespace ckpt::fuzz
