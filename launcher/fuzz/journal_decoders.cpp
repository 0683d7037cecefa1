/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal_decoders.cpp - decoders of the file journal: logs of processes, notes of the
 * launcher.
 */
#include "config.h"
#include "fuzz/decoders.hpp"

#include "common/files/files.hpp"
#include "fuzz/scratch.hpp"
#include "journal/log.hpp"
#include "journal/notes.hpp"

#include <isa-l/crc.h>

#include <cstddef>
#include <cstring>
#include <filesystem>

namespace ckpt::fuzz
{

namespace
{

namespace fs = std::filesystem;

/* ---- Logs --------------------------------------------------------------------------- */

std::uint32_t checksum_of(const std::string &record)
{
    constexpr std::size_t begin = offsetof(ckpt_journal_record, length);
    std::string copy = record.substr(begin);

    return ~crc32_iscsi(reinterpret_cast<unsigned char *>(copy.data()),
                        static_cast<int>(copy.size()), 0xffffffffu);
}

/* Sets the checksum of the record. */
void seal(std::string &record)
{
    const std::uint32_t checksum = checksum_of(record);

    std::memcpy(record.data() + offsetof(ckpt_journal_record, checksum), &checksum,
                sizeof checksum);
}

std::string record_of(ckpt_journal_type type, std::uint64_t order, const std::string &path,
                      const std::string &data)
{
    ckpt_journal_record head{};

    head.magic = CKPT_JOURNAL_MAGIC;
    head.type = type;
    head.order = order;
    head.path_size = static_cast<std::uint32_t>(path.size() + 1);
    head.data_size = data.size();
    const std::size_t size = sizeof head + path.size() + 1 + data.size();
    head.length = (size + 7) / 8 * 8;
    std::string record(head.length, '\0');
    std::memcpy(record.data(), &head, sizeof head);
    record.replace(sizeof head, path.size(), path);
    record.replace(sizeof head + path.size() + 1, data.size(), data);
    seal(record);
    return record;
}

std::string some_log()
{
    return record_of(CKPT_JOURNAL_BEGIN, 1, "n1", "") +
           record_of(CKPT_JOURNAL_ABSENT, 2, "/d/new", "") +
           record_of(CKPT_JOURNAL_STATE, 3, "/d/new", "") +
           record_of(CKPT_JOURNAL_CONTENT, 4, "/d/old", "content");
}

/* Sets correct checksums in the records of the input, so that decoding does not stop at
 * them. */
std::string sealed(std::string log)
{
    for (std::size_t at = 0; log.size() - at >= sizeof(ckpt_journal_record);) {
        ckpt_journal_record head;
        std::memcpy(&head, log.data() + at, sizeof head);
        if (head.magic != CKPT_JOURNAL_MAGIC || head.length < sizeof head ||
            head.length > log.size() - at) {
            return log;
        }
        std::string record = log.substr(at, head.length);
        seal(record);
        log.replace(at, record.size(), record);
        at += head.length;
    }
    return log;
}

void require_whole(const journal::Log &log, std::uint64_t size)
{
    std::uint64_t end = 0;

    require(log.size <= size, "a log beyond its end");
    for (const journal::Record &record : log.records) {
        require(record.offset >= end && record.end() <= log.size,
                "records that overlap or are not in the log");
        require(record.data_offset() + record.head.data_size <= record.end(),
                "data beyond the record");
        end = record.end();
    }
}

void decode_log(const std::string &bytes)
{
    const fs::path path = scratch_directory() / "n1-2-3.log";

    for (const std::string &log : {bytes, sealed(bytes)}) {
        write_text_file(path, log, "log");
        require_whole(journal::read_log(path), log.size());
        require_whole(journal::read_log(path, log.size() / 2, journal::Depth::headers),
                      log.size());
    }
}

/* ---- Notes -------------------------------------------------------------------------- */

/* A decoder of a file in the journal; accepted notes must survive encoding and decoding. */
template <typename Notes>
Decoder notes_decoder(const char *name, const char *file, const Notes &good)
{
    const fs::path path = scratch_directory() / file;

    good.write(scratch_directory());
    return {name, {read_text_file(path, "notes")}, [path](const std::string &text) {
                write_text_file(path, text, "notes");
                (void)Notes::load(scratch_directory());
            }};
}

} // namespace

std::vector<Decoder> journal_decoders()
{
    journal::RedoRecord redo;
    journal::Revealed revealed;
    journal::Dropped dropped;

    redo.remade = {{"5", 6}};
    revealed.outputs = {{"n1-2-3", 4}};
    revealed.outdated = {{"/d/old", 5}};
    dropped.offsets = {{"n1-2-3", 128}};
    return {
        {"journal_log", {some_log()}, decode_log},
        notes_decoder("journal_rollback", "rollback", redo),
        notes_decoder("journal_revealed", "revealed", revealed),
        notes_decoder("journal_dropped", "dropped", dropped),
    };
}

} // namespace ckpt::fuzz
