/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notes.cpp - small JSON files that are replaced as a whole.
 */
#include "config.h"
#include "journal/notes.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "common/json_bytes.hpp"
#include "image/io/described_json.hpp"

#include <algorithm>
#include <charconv>

namespace ckpt::journal
{

namespace fs = std::filesystem;

namespace
{

constexpr const char *redo_file = "rollback";
constexpr const char *dropped_file = "dropped";
constexpr const char *revealed_file = "revealed";
constexpr const char *state_names[] = {"undoing", "undone", "finished"};
static_assert(std::size(state_names) == static_cast<std::size_t>(RedoRecord::State::finished) + 1);
constexpr std::uint64_t notes_version = 1;

/* Reads `note` from the file. Returns false if the file does not exist. */
template <class Note>
bool load_note(const fs::path &path, Note &note)
{
    if (!path_exists(path)) {
        return false;
    }
    const std::string name = "file " + path.string();
    JsonReader reader(JsonFields::parse(read_own_text_file(path, "file"), name));
    std::uint64_t version = 0;
    reader.required("version", version);
    if (version == 0 || version > notes_version) {
        fail("{} has version {}, but {} is expected", name, version, notes_version);
    }
    describe(reader, note);
    return true;
}

template <class Note>
void write_note(const fs::path &path, const Note &note, const std::string &what)
{
    JsonWriter writer;
    writer.required("version", notes_version);
    describe(writer, note);
    write_text_file_atomically(path, dump_json(writer.json(), 2) + "\n", what);
}

RedoRecord::State state_from(const std::string &name, const std::string &file)
{
    for (std::size_t i = 0; i < std::size(state_names); i++) {
        if (name == state_names[i]) {
            return static_cast<RedoRecord::State>(i);
        }
    }
    fail("{}: unknown state '{}'", file, name);
}

} // namespace

template <class Fields, SameAs<RedoRecord> R>
void describe(Fields &fields, R &redo)
{
    std::string state = state_names[static_cast<int>(redo.state)];

    fields.required("checkpoint", redo.checkpoint);
    fields.required("state", state);
    fields.required("steps", redo.steps);
    fields.required("from", redo.from);
    fields.required("base_checkpoint", redo.base_checkpoint);
    fields.required("base_order", redo.base_order);
    fields.added("remade", redo.remade);
    if constexpr (!std::is_const_v<R>) {
        redo.state = state_from(state, fields.fields().name());
        if (redo.from > redo.steps) {
            fail("{}: step {} of {}", fields.fields().name(), redo.from, redo.steps);
        }
    }
}

template <class Fields, SameAs<Revealed> R>
void describe(Fields &fields, R &revealed)
{
    fields.required("checkpoint", revealed.checkpoint);
    fields.required("is_done", revealed.is_done);
    fields.required("outputs", revealed.outputs);
    fields.required("outdated", revealed.outdated);
}

template <class Fields, SameAs<Dropped> D>
void describe(Fields &fields, D &dropped)
{
    fields.required("checkpoint", dropped.checkpoint);
    fields.required("order", dropped.order);
    fields.required("offsets", dropped.offsets);
}

std::optional<RedoRecord> RedoRecord::load(const fs::path &journal)
{
    RedoRecord redo;
    return load_note(journal / redo_file, redo) ? std::optional(std::move(redo)) : std::nullopt;
}

void RedoRecord::write(const fs::path &journal) const
{
    CKPT_EXPECT(static_cast<std::size_t>(state) < std::size(state_names) && from <= steps);
    write_note(journal / redo_file, *this, "redo record");
}

Revealed Revealed::load(const fs::path &journal)
{
    Revealed revealed;
    load_note(journal / revealed_file, revealed);
    return revealed;
}

void Revealed::write(const fs::path &journal) const
{
    write_note(journal / revealed_file, *this, "note of revealed outputs");
}

Dropped Dropped::load(const fs::path &journal)
{
    Dropped dropped;
    load_note(journal / dropped_file, dropped);
    return dropped;
}

void Dropped::write(const fs::path &journal) const
{
    write_note(journal / dropped_file, *this, "list of dropped records");
}

} // namespace ckpt::journal
