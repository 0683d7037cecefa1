/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_decoders.cpp - each decoder accepts any bytes from outside, or says why it does not.
 */
#include "config.h"
#include "agent/control/control_server.hpp"
#include "agent/links/frame_seal.hpp"
#include "agent/messages/frames.hpp"
#include "agent/links/handshake.hpp"
#include "agent/messages/sweep_plan.hpp"
#include "common/files/files.hpp"
#include "fuzz/samples.hpp"
#include "image/store/checkpoint_trace.hpp"
#include "image/store/store.hpp"
#include "protocol/rank_message.hpp"
#include "tests/common/child_process.hpp"
#include "tests/common/mutations.hpp"

#include "ckpt/wire.h"

#include <gtest/gtest.h>

#include <spdlog/spdlog.h>

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>

namespace ckpt
{

namespace
{

using nlohmann::json;
using test::for_rounds;
using test::Mutations;

/* RejectedFrames must not fill the output. */
[[maybe_unused]] const bool is_quiet = (spdlog::set_level(spdlog::level::off), true);

/* Returns false for both kinds of exception that decoders throw; any other ends the test. */
bool is_taken(const std::function<void()> &action)
{
    try {
        action();
        return true;
    } catch (const Error &) {
    } catch (const json::exception &) {
    }
    return false;
}

/* ---- Frames ------------------------------------------------------------------ */

/* Decodes in pieces, as bytes arrive from a socket. Returns the accepted frames. */
std::vector<std::string> receive(const std::string &bytes, const MessageKey &key,
                                 Mutations &mutations)
{
    FrameReader reader(1 << 20);
    FrameSeal seal(key);
    std::vector<std::string> taken;

    (void)is_taken([&] {
        for (std::size_t at = 0; at < bytes.size();) {
            const std::size_t size = 1 + mutations.below(100);
            reader.add(std::string_view(bytes).substr(at, size));
            at += size;
            while (auto frame = reader.next()) {
                seal.check(*frame);
                taken.push_back(frame->payload);
            }
        }
    });
    return taken;
}

TEST(Frames, NothingIsTakenButWhatWasSaidAndInOrder)
{
    const MessageKey key = MessageKey::make();

    for_rounds(2000, [&](Mutations &mutations) {
        std::vector<std::string> said, frames;
        FrameSeal seal(key);
        for (std::size_t i = 0; i < 4; i++) {
            said.push_back(std::string(mutations.below(60), 'a'));
            frames.push_back(seal.seal(said.back()));
        }
        if (mutations.one_in(2)) { /* whole frames in other places */
            std::swap(frames[mutations.below(4)], frames[mutations.below(4)]);
            frames.insert(frames.begin(), frames[mutations.below(4)]);
        }
        std::string bytes;
        for (const std::string &frame : frames) {
            bytes += frame;
        }
        if (mutations.one_in(2)) {
            bytes = mutations.bytes(bytes);
        }
        const auto taken = receive(bytes, key, mutations);
        ASSERT_LE(taken.size(), said.size());
        EXPECT_TRUE(std::equal(taken.begin(), taken.end(), said.begin()));
    });
}

TEST(Frames, NobodyIsLetInForAChangedHandshake)
{
    const PeerIdentity self = {"launch", "n1", 1};
    PeerAddress address = PeerAddress::make();
    address.hosts = {"n1"};

    for_rounds(300, [&](Mutations &mutations) {
        const ListenerHandshake listening;
        CallerHandshake calling(address, self, "agent");
        auto frame_of = [](const std::string &bytes) {
            FrameReader reader(longest_handshake);
            reader.add(bytes);
            auto frame = reader.next();
            if (!frame) {
                fail("cut off");
            }
            return *frame;
        };
        const std::string call = calling.call(frame_of(listening.challenge()));
        const std::string changed = mutations.bytes(call);
        std::optional<ListenerHandshake::Caller> caller;
        if (is_taken([&] {
                caller = listening.examine(frame_of(changed), address, self);
            })) {
            EXPECT_EQ(changed.substr(0, call.size()), call);
        }
        caller = listening.examine(frame_of(call), address, self);
        const std::string answer = mutations.bytes(caller->answer);
        if (is_taken([&] { (void)calling.accept(frame_of(answer)); })) {
            EXPECT_EQ(answer.substr(0, caller->answer.size()), caller->answer);
        }
    });
}

/* The sender has the key, and perhaps another version. */
TEST(Frames, AnyCallWithTheKeyIsAnsweredOrRefused)
{
    const PeerIdentity self = {"launch", "n1", 1};
    PeerAddress address = PeerAddress::make();
    address.hosts = {"n1"};

    for_rounds(1000, [&](Mutations &mutations) {
        const ListenerHandshake listening;
        FrameReader reader(longest_handshake);
        reader.add(listening.challenge());
        const json call = {{"challenge", reader.next()->payload},
                           {"nonce", "x"},
                           {"to", "n1"},
                           {"namespace", "launch"},
                           {"incarnation", 1},
                           {"host", "n2"},
                           {"purpose", "agent"}};
        const std::string text = mutations.one_in(2)
                                     ? mutations.json(call).dump()
                                     : mutations.bytes(call.dump());
        Frame frame = make_frame(FrameKind::call, 0, text);
        put_tag(address.key.derive("call"), {}, frame);
        (void)is_taken([&] { (void)listening.examine(frame, address, self); });
    });
}

TEST(Frames, AnyAddressIsTakenOrNot)
{
    PeerAddress address = PeerAddress::make();
    address.port = 1234;

    for_rounds(2000, [&](Mutations &mutations) {
        if (auto parsed = PeerAddress::parse(mutations.bytes(address.text()))) {
            EXPECT_LT(parsed->text().size(), sizeof(ckpt_message::text));
            EXPECT_EQ(PeerAddress::parse(parsed->text())->text(), parsed->text());
        }
        (void)PeerAddress::at(mutations.bytes(address.place()), address.key);
    });
}

/* ---- Contents of frames -------------------------------------------------------- */

TEST(FrameReaders, TakeWhateverComesOrSayWhyNot)
{
    const json clocks = to_frame(std::vector<ckpt_clock>{{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}});
    const json message =
        to_frame(make_message(CKPT_MSG_CUT, 1, {.cut = {CKPT_CUT_SWEEP, 1}}, "log"));
    const json file_system = to_frame(FileSystem{});
    const json piece = fuzz::some_piece(), seen = fuzz::some_seen(), plan = fuzz::some_plan();

    for_rounds(1000, [&](Mutations &mutations) {
        auto changed = [&](const json &frame) { return mutations.json(frame); };
        (void)is_taken([&] { (void)clocks_from(changed(clocks)); });
        (void)is_taken([&] { (void)message_from(changed(message), CKPT_FROM_AGENT); });
        (void)is_taken([&] { (void)file_system_from(changed(file_system)); });
        (void)is_taken([&] { (void)piece_from(changed(piece)); });
        (void)is_taken([&] { (void)seen_from(changed(seen)); });
        (void)is_taken([&] {
            const SweepPlan taken = sweep_plan_from(changed(plan));
            EXPECT_GE(taken.rank_count(), 0);
        });
    });
}

/* ---- Commands ------------------------------------------------------------------ */

/* The decoder refuses it, or accepts it and can encode it again. */
template <typename Message, typename Decode>
void expect_decoded(const json &good, Decode decode, Mutations &mutations)
{
    const std::string line = mutations.one_in(2) ? mutations.json(good).dump()
                                                 : mutations.bytes(good.dump());
    Message message, again;
    std::string error;

    if (decode(line, message, error)) {
        EXPECT_TRUE(decode(control::encode_line(message), again, error)) << error;
    } else {
        EXPECT_FALSE(error.empty());
    }
}

TEST(Commands, AnyLineIsDecodedOrNot)
{
    control::Request request;
    control::Reply status, progress, result;
    request.command = "checkpoint";
    status.event = "status";
    status.status.ranks = {{0, 1, "running"}};
    status.status.rejected = {{"forged", 1}};
    progress.event = "progress";
    result.event = "result";
    result.result.name = "job/1";

    for_rounds(500, [&](Mutations &mutations) {
        expect_decoded<control::Request>(json(request), control::decode_request,
                                         mutations);
        for (const control::Reply &reply : {status, progress, result}) {
            expect_decoded<control::Reply>(json(reply), control::decode_reply,
                                           mutations);
        }
    });
}

TEST(Commands, AnyBytesGetAnAnswerOrTheEnd)
{
    const std::string good = R"({"version": 1, "command": "checkpoint", "then": ""})"
                             "\n";
    EventLoop loop;
    RejectedFrames rejected;
    ControlServer *answering = nullptr;
    std::uint64_t requests = 0;
    ControlServer server(loop, rejected,
                         {[&](ControlServer::ClientId id, const control::Request &) {
                              control::Reply reply;
                              reply.event = "error";
                              requests++;
                              answering->reply(id, reply);
                          },
                          [](ControlServer::ClientId) {}});
    answering = &server;

    for_rounds(300, [&](Mutations &mutations) {
        int ends[2];
        ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        Fd client(ends[0]);
        server.accept(Fd(ends[1]));
        const auto before = requests + rejected.total();
        std::string bytes = mutations.bytes(good);
        bytes.append(mutations.one_in(8) ? 9000 : 0, ' ');
        ASSERT_EQ(send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(bytes.size()));
        shutdown(client.get(), SHUT_WR);
        char answer[4096];
        while (recv(client.get(), answer, sizeof answer, MSG_DONTWAIT) != 0 &&
               errno != ECONNRESET) {
            loop.turn(std::chrono::steady_clock::now() + std::chrono::milliseconds(1));
        }
        EXPECT_EQ(requests + rejected.total(), before + (bytes.empty() ? 0 : 1));
    });
    EXPECT_GT(requests, 0u);
    EXPECT_GT(rejected.total(), 0u);
}

/* ---- Files ---------------------------------------------------------------------- */

TEST(Files, AnyManifestIsReadOrNot)
{
    const std::string text = fuzz::some_manifest().text();

    for_rounds(500, [&](Mutations &mutations) {
        const std::string changed = mutations.one_in(2)
                                        ? mutations.json(json::parse(text)).dump()
                                        : mutations.bytes(text);
        (void)is_taken([&] {
            const Manifest read = Manifest::parse(changed, "m.json");
            EXPECT_EQ(Manifest::parse(read.text(), "m.json").text(), read.text());
        });
    });
}

TEST(Files, AnyTraceIsReadOrNot)
{
    const std::string text =
        read_text_file(CKPT_TRACE_DIRECTORY "/network-sweeping.json", "trace");

    for_rounds(50, [&](Mutations &mutations) {
        const std::string changed = mutations.one_in(2)
                                        ? mutations.json(json::parse(text)).dump()
                                        : mutations.bytes(text);
        (void)is_taken([&] {
            const CheckpointTrace trace = CheckpointTrace::parse(changed, "t.json");
            EXPECT_FALSE(trace.text().empty());
        });
    });
}

TEST(Files, AnyJobFileIsReadOrNot)
{
    test::ScratchDirectory scratch;
    const Store store = Store::create(scratch.path());
    JobState state;
    state.name = "job";
    state.state = "running";
    state.host = "n1";
    state.agent_socket = "socket";
    store.write_job_state(state);
    const std::filesystem::path path = scratch / "job/job.json";
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};

    for_rounds(300, [&](Mutations &mutations) {
        std::ofstream(path, std::ios::trunc)
            << (mutations.one_in(2) ? mutations.json(json::parse(text)).dump()
                                    : mutations.bytes(text));
        (void)is_taken([&] { (void)store.job_state("job"); });
        (void)store.is_live("job");
    });
}

} // namespace

} // namespace ckpt
