/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notes.cpp - two small JSON files, each replaced as a whole.
 */
#include "config.h"
#include "journal/notes.hpp"

#include "common/error.hpp"
#include "common/files.hpp"
#include "image/json_fields.hpp"

namespace ckpt::journal
{

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace
{

constexpr const char *redo_file = "rollback";
constexpr const char *dropped_file = "dropped";
constexpr const char *revealed_file = "revealed";
constexpr const char *state_names[] = {"undoing", "undone", "finished"};
constexpr std::uint64_t notes_version = 1;

std::optional<JsonFields> load_fields(const fs::path &path)
{
    if (!path_exists(path)) {
        return std::nullopt;
    }
    const std::string name = "file " + path.string();
    JsonFields fields = JsonFields::parse(read_text_file(path, "file"), name);
    std::uint64_t version = 0;
    fields.get("version", version);
    if (version != notes_version) {
        fail("{} has version {}, but {} is expected", name, version, notes_version);
    }
    return fields;
}

RedoRecord::State state_from(const std::string &name, const fs::path &path)
{
    for (std::size_t i = 0; i < std::size(state_names); i++) {
        if (name == state_names[i]) {
            return static_cast<RedoRecord::State>(i);
        }
    }
    fail("file {}: unknown state '{}'", path.string(), name);
}

} // namespace

std::optional<RedoRecord> RedoRecord::load(const fs::path &journal)
{
    const auto fields = load_fields(journal / redo_file);
    RedoRecord redo;
    std::string state;

    if (!fields) {
        return std::nullopt;
    }
    fields->get("checkpoint", redo.checkpoint);
    fields->get("state", state);
    fields->get("steps", redo.steps);
    fields->get("from", redo.from);
    fields->get("base_checkpoint", redo.base_checkpoint);
    fields->get("base_order", redo.base_order);
    fields->get_if_there("remade", redo.remade);
    redo.state = state_from(state, journal / redo_file);
    return redo;
}

void RedoRecord::write(const fs::path &journal) const
{
    const Json json = {{"version", notes_version},
                       {"checkpoint", checkpoint},
                       {"state", state_names[static_cast<int>(state)]},
                       {"steps", steps},
                       {"from", from},
                       {"base_checkpoint", base_checkpoint},
                       {"base_order", base_order},
                       {"remade", remade}};
    write_text_file_atomically(journal / redo_file, json.dump(2) + "\n", "redo record");
}

Revealed Revealed::load(const fs::path &journal)
{
    const auto fields = load_fields(journal / revealed_file);
    Revealed revealed;

    if (fields) {
        fields->get("checkpoint", revealed.checkpoint);
        fields->get("is_done", revealed.is_done);
        fields->get("outputs", revealed.outputs);
        fields->get("outdated", revealed.outdated);
    }
    return revealed;
}

void Revealed::write(const fs::path &journal) const
{
    const Json json = {{"version", notes_version},
                       {"checkpoint", checkpoint},
                       {"is_done", is_done},
                       {"outputs", outputs},
                       {"outdated", outdated}};
    write_text_file_atomically(journal / revealed_file, json.dump(2) + "\n",
                               "note of what is revealed");
}

Dropped Dropped::load(const fs::path &journal)
{
    const auto fields = load_fields(journal / dropped_file);
    Dropped dropped;

    if (fields) {
        fields->get("checkpoint", dropped.checkpoint);
        fields->get("order", dropped.order);
        fields->get("offsets", dropped.offsets);
    }
    return dropped;
}

void Dropped::write(const fs::path &journal) const
{
    const Json json = {{"version", notes_version},
                       {"checkpoint", checkpoint},
                       {"order", order},
                       {"offsets", offsets}};
    write_text_file_atomically(journal / dropped_file, json.dump(2) + "\n",
                               "list of dropped records");
}

} // namespace ckpt::journal
