/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_messages.cpp - messages between ranks and agents: their bytes, the refusal of invalid
 * ones, and their description in docs/protocol.md.
 */
extern "C" {
#include "tests/golden_messages.h"

const struct ckpt_message *golden_message_of_c(unsigned index);
}

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace
{

std::string content(const std::string &path)
{
    std::ifstream file(path);

    EXPECT_TRUE(file.good()) << path;
    return {std::istreambuf_iterator<char>(file), {}};
}

__attribute__((format(printf, 1, 2))) std::string text_of(const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

const ckpt_message_format &format_of(const ckpt_message &message)
{
    return *ckpt_message_find(message.type);
}

ckpt_sender sender_of(const ckpt_message &message)
{
    return static_cast<ckpt_sender>(format_of(message).sender);
}

/* As sent: the name, the text, and the bytes before the text. */
std::string line_of(ckpt_message message)
{
    const char *wrong = nullptr;
    unsigned char bytes[sizeof message];

    EXPECT_EQ(ckpt_message_encode(&message, sender_of(message), &wrong), 0) << wrong;
    std::memcpy(bytes, &message, sizeof bytes);
    std::string line = text_of("%s \"%s\"", format_of(message).name, message.text);
    for (std::size_t i = 0; i < offsetof(ckpt_message, text); i++) {
        line += text_of(i % 32 == 0 ? "\n  %02x" : i % 8 == 0 ? " %02x"
                                                              : "%02x",
                        bytes[i]);
    }
    return line + "\n";
}

/* A valid message of this type. */
ckpt_message some(std::uint32_t type)
{
    for (ckpt_message message : golden_messages) {
        const char *wrong = nullptr;
        if (message.type == type &&
            ckpt_message_encode(&message, sender_of(message), &wrong) == 0) {
            return message;
        }
    }
    ADD_FAILURE() << "no message of type " << type;
    return {};
}

/* Returns the name of the invalid field of a message; "" if it is valid. */
std::string wrong_with(ckpt_message message)
{
    const char *wrong = nullptr;
    const int error =
        ckpt_message_decode(&message, sizeof message, sender_of(message), &wrong);

    EXPECT_EQ(error, wrong == nullptr ? 0 : -EPROTO);
    return wrong == nullptr ? "" : wrong;
}

/* ---- Bytes --------------------------------------------------------------------------- */

TEST(Messages, HaveTheseBytesInCAndCxx)
{
    const std::string golden = content(CKPT_GOLDEN_MESSAGES);
    std::string of_cxx, of_c;

    for (unsigned i = 0; i < GOLDEN_COUNT; i++) {
        of_cxx += line_of(golden_messages[i]);
        ASSERT_NE(golden_message_of_c(i), nullptr);
        of_c += line_of(*golden_message_of_c(i));
    }
    EXPECT_EQ(of_cxx, golden);
    EXPECT_EQ(of_c, golden);
    EXPECT_EQ(golden_message_of_c(GOLDEN_COUNT), nullptr);
}

TEST(Messages, AreAllInTheTableInOrder)
{
    std::uint32_t last = 0;

    ASSERT_EQ(GOLDEN_COUNT, ckpt_message_format_count);
    for (unsigned i = 0; i < ckpt_message_format_count; i++) {
        const ckpt_message_format &format = ckpt_message_formats[i];
        EXPECT_EQ(golden_messages[i].type, format.type);
        EXPECT_GT(format.type, last);
        EXPECT_EQ(ckpt_message_find(format.type), &format);
        EXPECT_EQ(format.sender,
                  format.type < CKPT_MSG_WELCOME ? CKPT_FROM_RANK : CKPT_FROM_AGENT);
        last = format.type;
    }
    EXPECT_EQ(ckpt_message_find(0), nullptr);
    EXPECT_EQ(ckpt_message_find(CKPT_MSG_END_SHELL + 1), nullptr);
}

/* ---- Invalid messages -------------------------------------------------------------------- */

TEST(Messages, OfOurEncoderAreDecoded)
{
    for (const ckpt_message &message : golden_messages) {
        EXPECT_EQ(wrong_with(some(message.type)), "") << format_of(message).name;
    }
}

TEST(Messages, AreRefusedWithAnyFieldOutOfRange)
{
    unsigned refused = 0;

    for (const ckpt_message &one : golden_messages) {
        const ckpt_message_format &format = format_of(one);
        for (unsigned i = 0; i < CKPT_MESSAGE_FIELDS; i++) {
            const bool is_used = i < format.field_count;
            const ckpt_message_field unused = {"unused", 0, 0, 0};
            const ckpt_message_field &field = is_used ? format.field[i] : unused;
            ckpt_message message = some(one.type);
            if (field.least > 0) {
                message.as.field[i] = field.least - 1;
                EXPECT_EQ(wrong_with(message), field.name) << format.name;
                refused++;
            }
            if (field.most < UINT64_MAX) {
                message.as.field[i] = field.most + 1;
                EXPECT_EQ(wrong_with(message), field.name) << format.name;
                refused++;
            }
        }
    }
    EXPECT_GT(refused, 200u);
}

TEST(Messages, AreRefusedWithAnotherHeader)
{
    for (const ckpt_message &one : golden_messages) {
        const char *wrong = nullptr;
        ckpt_message message = some(one.type);
        const ckpt_sender sender = sender_of(one);
        const ckpt_sender other = sender == CKPT_FROM_RANK ? CKPT_FROM_AGENT : CKPT_FROM_RANK;
        EXPECT_EQ(ckpt_message_decode(&message, sizeof message, other, &wrong), -EPROTO);
        EXPECT_STREQ(wrong, "type");
        EXPECT_EQ(ckpt_message_decode(&message, sizeof message - 1, sender, &wrong), -EPROTO);
        message.version++;
        EXPECT_EQ(ckpt_message_decode(&message, sizeof message, sender, &wrong),
                  -EPROTONOSUPPORT);
        message = some(one.type);
        message.reserved = 1;
        EXPECT_EQ(wrong_with(message), "reserved");
        message = some(one.type);
        message.magic++;
        EXPECT_EQ(wrong_with(message), "magic");
        message = some(one.type);
        std::strcpy(message.text, "text");
        EXPECT_EQ(wrong_with(message), format_of(one).text == nullptr ? "text" : "");
    }
}

TEST(Messages, AreRefusedIfFieldsContradictEachOther)
{
    ckpt_message message = some(CKPT_MSG_HELLO);
    message.as.hello.rank_count = message.as.hello.rank;
    EXPECT_EQ(wrong_with(message), "rank");

    message = some(CKPT_MSG_REPORT);
    message.as.report.entered = 1;
    EXPECT_EQ(wrong_with(message), "entered") << "of a rank";
    message.as.report.of_thread = 1;
    EXPECT_EQ(wrong_with(message), "place") << "a thread is not inside";
    message.as.report.place = CKPT_PLACE_GATE;
    EXPECT_EQ(wrong_with(message), "holds") << "a thread does not hold the rank";
    message.as.report.holds = 0;
    EXPECT_EQ(wrong_with(message), "");
    message.type = CKPT_MSG_STOPPED;
    EXPECT_EQ(wrong_with(message), "of_thread");

    message = some(CKPT_MSG_READY);
    message.as.ready.cut = {CKPT_CUT_SWEEP, 1, 0};
    EXPECT_EQ(wrong_with(message), "channels");
    message.as.ready.cut = {CKPT_CUT_MARKERS, 1, 1};
    EXPECT_EQ(wrong_with(message), "has_sent");
    message.as.ready.cut = {CKPT_CUT_NONE, 0, 0};
    EXPECT_EQ(wrong_with(message), "");

    message = some(CKPT_MSG_REFUSED);
    message.as.refused.for_now = 0;
    EXPECT_EQ(wrong_with(message), "safe_points");

    message = some(CKPT_MSG_COMPLETE);
    message.as.complete.kind = CKPT_CUT_QUIET;
    EXPECT_EQ(wrong_with(message), "channels");

    message = some(CKPT_MSG_WATCHED);
    message.as.watched.error = 0;
    EXPECT_EQ(wrong_with(message), "error");

    message = some(CKPT_MSG_REQUEST);
    message.as.request.files_mark = 0;
    EXPECT_EQ(wrong_with(message), "text");
}

TEST(Messages, AreClearedBeyondTheirFields)
{
    const char *wrong = nullptr;
    ckpt_message message;

    std::memset(&message, 0xee, sizeof message);
    message.type = CKPT_MSG_SWEPT;
    message.reserved = 0;
    message.text[0] = '\0';
    ASSERT_EQ(ckpt_message_encode(&message, CKPT_FROM_AGENT, &wrong), 0) << wrong;
    EXPECT_EQ(message.as.swept.messages, 0xeeeeeeeeeeeeeeeeu);
    for (unsigned i = 1; i < CKPT_MESSAGE_FIELDS; i++) {
        EXPECT_EQ(message.as.field[i], 0u);
    }
    EXPECT_EQ(std::string(message.text, sizeof message.text),
              std::string(sizeof message.text, '\0'));
    message.type = CKPT_MSG_JOIN;
    EXPECT_EQ(ckpt_message_encode(&message, CKPT_FROM_AGENT, &wrong), -EPROTO);
    EXPECT_STREQ(wrong, "type");
}

TEST(Messages, EndTheirTextInTime)
{
    const char *wrong = nullptr;
    ckpt_message message = some(CKPT_MSG_JOIN);

    std::memset(message.text, 'x', sizeof message.text);
    ASSERT_EQ(ckpt_message_decode(&message, sizeof message, CKPT_FROM_RANK, &wrong), 0);
    EXPECT_EQ(std::strlen(message.text), sizeof message.text - 1);
}

/* What a rank is due after its cut, and has done, is the same number for each kind of cut. */
TEST(Messages, CountWhatACutIsDue)
{
    const ckpt_cut_report markers = {CKPT_CUT_MARKERS, 3, 0}, sweep = {CKPT_CUT_SWEEP, 0, 0},
                          quiet = {CKPT_CUT_QUIET, 0, 1}, none = {CKPT_CUT_NONE, 0, 0};
    const ckpt_msg_complete by_markers = {CKPT_CUT_MARKERS, 3, 0},
                            by_sweep = {CKPT_CUT_SWEEP, 0, 1},
                            by_counts = {CKPT_CUT_QUIET, 0, 1};

    EXPECT_EQ(ckpt_cut_due(&markers), 3u);
    EXPECT_EQ(ckpt_cut_due(&sweep), 1u);
    EXPECT_EQ(ckpt_cut_due(&quiet), 1u);
    EXPECT_EQ(ckpt_cut_due(&none), 0u);
    EXPECT_EQ(ckpt_cut_done(&by_markers), 3u);
    EXPECT_EQ(ckpt_cut_done(&by_sweep), 1u);
    EXPECT_EQ(ckpt_cut_done(&by_counts), 1u);
}

/* ---- The document -------------------------------------------------------------------------- */

std::string values_of(const ckpt_message_field &field)
{
    if (field.is_flags) {
        return text_of("bits %#lx", static_cast<unsigned long>(field.most));
    }
    if (field.most == UINT64_MAX) {
        return field.least == 0 ? "" : text_of("from %lu", static_cast<unsigned long>(field.least));
    }
    return text_of("%lu to %lu", static_cast<unsigned long>(field.least),
                   static_cast<unsigned long>(field.most));
}

/* The table of docs/protocol.md. */
std::string documented_table()
{
    std::string table = "| message | type | from | text | fields: offset, name, values |\n"
                        "| --- | --- | --- | --- | --- |\n";

    for (unsigned i = 0; i < ckpt_message_format_count; i++) {
        const ckpt_message_format &format = ckpt_message_formats[i];
        table += text_of("| %s | %u | %s |%s%s |", format.name, format.type,
                         format.sender == CKPT_FROM_RANK ? "rank" : "agent",
                         format.text == nullptr ? "" : " ",
                         format.text == nullptr ? "" : format.text);
        for (unsigned j = 0; j < format.field_count; j++) {
            const std::string values = values_of(format.field[j]);
            table += text_of("%s %zu `%s`%s", j == 0 ? "" : ";",
                             offsetof(ckpt_message, as) + j * sizeof(std::uint64_t),
                             format.field[j].name,
                             values.empty() ? "" : (" " + values).c_str());
        }
        table += " |\n";
    }
    return table;
}

TEST(Messages, AreDescribedByTheDocument)
{
    const std::string document = content(CKPT_PROTOCOL_DOCUMENT);

    EXPECT_TRUE(document.find("\n" + documented_table() + "\n") != std::string::npos)
        << "docs/protocol.md, section 3, should have this table:\n"
        << documented_table();
    EXPECT_NE(document.find(text_of("This document describes version %u.", CKPT_WIRE_VERSION)),
              std::string::npos);
    for (unsigned i = 0; i < ckpt_message_format_count; i++) {
        const ckpt_message_format &format = ckpt_message_formats[i];
        EXPECT_NE(document.find(text_of("\n| %s | %s", format.name,
                                        format.sender == CKPT_FROM_RANK ? "rank" : "agent")),
                  std::string::npos)
            << "section 3 does not say what " << format.name << " means";
    }
}

} // namespace
