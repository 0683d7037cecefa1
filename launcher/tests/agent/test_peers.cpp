/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_peers.cpp - agents that call each other over TCP, with strangers and a man in the middle.
 */
#include "config.h"
#include "agent/links/address_file.hpp"
#include "agent/links/peer_connection.hpp"
#include "agent/links/peer_listener.hpp"
#include "tests/common/child_process.hpp"
#include "tests/common/tcp_relay.hpp"

#include "ckpt/wire.h"

#include <gtest/gtest.h>

#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace ckpt
{

namespace
{

using nlohmann::json;
using std::chrono::steady_clock;
using test::connect_to_loopback;
using test::TcpRelay;

/* Two agents in one process. */
class Peers : public testing::Test
{
  protected:
    Peers()
    {
        loop_.watch(worker_.descriptor(), EPOLLIN,
                    [this](std::uint32_t) { worker_.run_replies(); });
    }
    ~Peers() override { worker_.stop(); }

    void listen(PeerListener::Limits limits = PeerListener::Limits())
    {
        PeerAddress address = PeerAddress::make();
        address.hosts = {"127.0.0.2", "127.0.0.1"};
        listener_.emplace(
            loop_, PeerIdentity{"launch", "n1", 1}, address, there_,
            [this](auto stream, const std::string &host, const std::string &purpose) {
                EXPECT_EQ(host, "n2");
                EXPECT_EQ(purpose, "agent");
                accepted_ = std::move(stream);
                accepted_->handle({[this](const json &frame) { heard_.push_back(frame); },
                                   [this] { accepted_.reset(); }});
            },
            limits);
    }

    void call(const PeerAddress &address, std::uint64_t incarnation = 1)
    {
        caller_.emplace(
            loop_, worker_, PeerIdentity{"launch", "n2", incarnation}, address, "agent",
            here_,
            PeerConnection::Handlers{[] {},
                                     [this](const json &frame) {
                                         answers_.push_back(frame);
                                     },
                                     [this] { lost_++; },
                                     [this] { unreachable_++; }});
        caller_->connect();
    }

    void await(const std::function<bool()> &condition)
    {
        const auto end = steady_clock::now() + std::chrono::seconds(20);
        while (!condition()) {
            ASSERT_LT(steady_clock::now(), end);
            loop_.turn(end);
        }
    }
    void await_connection()
    {
        await([this] { return caller_->connected() && accepted_ != nullptr; });
    }
    /* The two agents exchange messages. */
    void expect_conversation()
    {
        const auto before = std::pair(heard_.size(), answers_.size());
        caller_->send({{"type", "question"}});
        accepted_->send({{"type", "answer"}});
        await([&] {
            return heard_.size() > before.first && answers_.size() > before.second;
        });
        EXPECT_EQ(heard_.back(), json({{"type", "question"}}));
        EXPECT_EQ(answers_.back(), json({{"type", "answer"}}));
    }

    EventLoop loop_;
    WorkerThread worker_;
    RejectedFrames here_, there_;
    std::optional<PeerListener> listener_;
    std::optional<PeerConnection> caller_;
    std::unique_ptr<FrameStream> accepted_;
    std::vector<json> heard_, answers_;
    int lost_ = 0, unreachable_ = 0;
};

TEST_F(Peers, KnowEachOther)
{
    listen();
    call(listener_->address());
    await_connection();
    expect_conversation();
    EXPECT_EQ(here_.total() + there_.total(), 0u);
}

TEST_F(Peers, ACallerWithoutTheKeyIsRefused)
{
    listen();
    PeerAddress address = listener_->address();
    address.key = MessageKey::make();
    call(address);
    await([this] { return lost_ == 1; });
    EXPECT_EQ(there_.counts(), (RejectedFrames::Counts{{"forged", 1}}));
    EXPECT_EQ(accepted_, nullptr);
}

/* The coordinator makes the job's key, which another agent learns when it already listens. */
TEST_F(Peers, TheKeyCanBeChanged)
{
    listen();
    PeerAddress address = listener_->address();
    address.key = MessageKey::make();
    listener_->use_key(address.key);
    call(address);
    await_connection();
}

TEST_F(Peers, AnotherIncarnationIsRefusedAndHearsWhy)
{
    listen();
    call(listener_->address(), 2);
    await([this] { return lost_ == 1; });
    EXPECT_EQ(there_.counts(), (RejectedFrames::Counts{{"foreign", 1}}));
    EXPECT_EQ(here_.counts(), (RejectedFrames::Counts{{"foreign", 1}}));
}

TEST_F(Peers, AListenerWithoutTheKeyIsLeft)
{
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::listen(socket.get(), 8), 0);
    sockaddr_in bound{};
    socklen_t size = sizeof bound;
    getsockname(socket.get(), reinterpret_cast<sockaddr *>(&bound), &size);
    PeerAddress address = PeerAddress::make();
    address.port = ntohs(bound.sin_port);
    address.hosts = {"127.0.0.1"};

    call(address);
    await([this] { return caller_->open(); });
    Fd stranger(accept(socket.get(), nullptr, nullptr));
    const std::string garbage = "220 mail.example.org ESMTP\r\n";
    ASSERT_GT(send(stranger.get(), garbage.data(), garbage.size(), 0), 0);
    await([this] { return lost_ == 1; });
    EXPECT_EQ(here_.counts(), (RejectedFrames::Counts{{"malformed", 1}}));
}

/* The first address that answers may belong to another host, as on a private network. */
TEST_F(Peers, TheNextAddressIsTriedWhenSomebodyElseAnswers)
{
    listen();
    TcpRelay relay(loop_, listener_->address().port);
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in other = test::loopback(relay.port());
    other.sin_addr.s_addr = inet_addr("127.0.0.2");
    ASSERT_EQ(bind(socket.get(), reinterpret_cast<sockaddr *>(&other), sizeof other), 0);
    ASSERT_EQ(::listen(socket.get(), 8), 0);
    PeerAddress address = listener_->address();
    address.port = relay.port();

    call(address);
    await([this] { return caller_->open(); });
    Fd(accept(socket.get(), nullptr, nullptr)).reset();
    await([this] { return lost_ == 1; });
    caller_->connect();
    await_connection();
    expect_conversation();
}

TEST_F(Peers, SilentStrangersMakeRoomForOurAgents)
{
    PeerListener::Limits limits;
    limits.strangers = 8;
    listen(limits);
    std::vector<Fd> strangers;
    for (int i = 0; i < 20; i++) {
        strangers.push_back(connect_to_loopback(listener_->address().port));
        ASSERT_TRUE(strangers.back());
    }
    call(listener_->address());
    await_connection();
    expect_conversation();
    EXPECT_EQ(there_.counts(), (RejectedFrames::Counts{{"too_many", 13}}));
}

TEST_F(Peers, ASilentStrangerIsDroppedAfterSomeTime)
{
    PeerListener::Limits limits;
    limits.introduction = std::chrono::milliseconds(20);
    listen(limits);
    Fd silent = connect_to_loopback(listener_->address().port);
    const std::string part = make_frame(FrameKind::call, 0, "{}").bytes().substr(0, 30);
    Fd slow = connect_to_loopback(listener_->address().port);
    ASSERT_GT(send(slow.get(), part.data(), part.size(), 0), 0);
    await([this] { return there_.of(Rejection::too_slow) == 2; });
    EXPECT_EQ(there_.total(), 2u);
    call(listener_->address());
    await_connection();
}

TEST_F(Peers, GarbageAndCutOffFramesAreCounted)
{
    listen();
    const std::string good = make_frame(FrameKind::call, 0, "{}").bytes();
    for (const std::string &bytes : {std::string("GET / HTTP/1.1\r\n"), std::string(100, '\0'),
                                     good.substr(0, 10), good.substr(0, 41)}) {
        Fd stranger = connect_to_loopback(listener_->address().port);
        ASSERT_GT(send(stranger.get(), bytes.data(), bytes.size(), 0), 0);
        const auto before = there_.of(Rejection::malformed);
        shutdown(stranger.get(), SHUT_WR);
        await([&] { return there_.of(Rejection::malformed) > before; });
    }
    EXPECT_EQ(there_.counts(), (RejectedFrames::Counts{{"malformed", 4}}));
}

/* The coordinator does this when a checkpoint loses a rank's agent. */
TEST_F(Peers, NothingIsSentOnAConnectionThatHasEnded)
{
    listen();
    call(listener_->address());
    await_connection();
    bool has_ended = false;
    accepted_->handle({[](const json &) { fail("no such order"); },
                       [&] {
                           accepted_->send({{"type", "farewell"}});
                           has_ended = true;
                       }});
    caller_->send({{"type", "question"}});
    await([&] { return has_ended && lost_ == 1; });
    EXPECT_TRUE(accepted_->idle());
    EXPECT_TRUE(answers_.empty());
    EXPECT_EQ(there_.counts(), (RejectedFrames::Counts{{"malformed", 1}}));
}

/* ---- A man in the middle -------------------------------------------------------- */

class PeersWithRelay : public Peers
{
  protected:
    PeersWithRelay()
    {
        listen();
        relay_.emplace(loop_, listener_->address().port);
        PeerAddress address = listener_->address();
        address.port = relay_->port();
        call(address);
        await_connection();
        expect_conversation();
    }

    /* Changes the next message in this way, which must end the connection. */
    void expect_end(TcpRelay::Change change, Rejection why, const std::string &text = {})
    {
        relay_->set_change(std::move(change));
        caller_->send({{"type", "question"}, {"text", text}});
        await([this] { return lost_ == 1 && accepted_ == nullptr; });
        EXPECT_EQ(there_.counts(), (RejectedFrames::Counts{{rejection_name(why), 1}}));
        EXPECT_EQ(heard_.size(), heard_before_end_);

        relay_->set_change({}); /* and it is called again */
        caller_->connect();
        await_connection();
        expect_conversation();
    }

    std::optional<TcpRelay> relay_;
    std::size_t heard_before_end_ = 1;
};

TEST_F(PeersWithRelay, AChangedMessageEndsTheConnection)
{
    expect_end(
        [](std::string bytes, bool) {
            bytes.back() = static_cast<char>(bytes.back() ^ 1);
            return bytes;
        },
        Rejection::forged);
}

TEST_F(PeersWithRelay, ARepeatedMessageEndsTheConnection)
{
    heard_before_end_ = 2; /* the first of them is good */
    expect_end([](const std::string &bytes, bool) { return bytes + bytes; },
               Rejection::replayed);
}

TEST_F(PeersWithRelay, AMessageGivenBackToItsSenderEndsTheConnection)
{
    std::string said;
    relay_->set_change([&](const std::string &bytes, bool to_listener) {
        return to_listener ? (said = bytes) : said;
    });
    caller_->send({{"type", "question"}});
    await([&] { return heard_.size() == 2; });
    accepted_->send({{"type", "answer"}});
    await([this] { return lost_ == 1; });
    EXPECT_EQ(here_.counts(), (RejectedFrames::Counts{{"forged", 1}}));
    EXPECT_EQ(answers_.size(), 1u);
}

TEST_F(PeersWithRelay, ACutOffMessageEndsTheConnection)
{
    bool is_cut = false;
    expect_end(
        [is_cut](const std::string &bytes, bool) mutable {
            return std::exchange(is_cut, true) ? "" : bytes.substr(0, bytes.size() / 2);
        },
        Rejection::malformed, std::string(1000000, ' ')); /* arrives in parts */
}

TEST_F(PeersWithRelay, ARecordedConversationIsWorthNothing)
{
    std::string said;
    relay_->set_change([&](const std::string &bytes, bool to_listener) {
        said += to_listener ? bytes : "";
        return bytes;
    });
    PeerAddress address = listener_->address();
    address.port = relay_->port();
    call(address);
    await_connection();
    expect_conversation();

    Fd stranger = connect_to_loopback(listener_->address().port);
    ASSERT_EQ(send(stranger.get(), said.data(), said.size(), 0),
              static_cast<ssize_t>(said.size()));
    await([this] { return there_.total() > 0; });
    EXPECT_EQ(there_.counts(), (RejectedFrames::Counts{{"replayed", 1}}));
    expect_conversation();
}

/* ---- Addresses ------------------------------------------------------------------ */

TEST(PeerAddress, FitsIntoAMessageAndComesBack)
{
    PeerAddress address = PeerAddress::make();
    address.port = 65535;
    EXPECT_FALSE(address.hosts.empty());
    for (int i = 0; i < 40; i++) {
        address.hosts.push_back(fmt::format("2001:db8::{}", i));
    }
    EXPECT_LT(address.text().size(), sizeof(ckpt_message::text));
    auto same = PeerAddress::parse(address.text());
    ASSERT_TRUE(same);
    EXPECT_EQ(same->text(), address.text());
    EXPECT_EQ(same->key, address.key);
    EXPECT_EQ(same->place(), address.place());
    EXPECT_EQ(address.place().find(address.key.text()), std::string::npos);
    EXPECT_EQ(PeerAddress::at(address.place(), address.key)->text(), address.text());
}

TEST(PeerAddress, OtherTextsAreNone)
{
    const std::string key = MessageKey::make().text();
    EXPECT_TRUE(PeerAddress::parse("tcp 1 " + key + " host"));
    for (const std::string &text :
         {std::string(), std::string("local n1"), "tcp 65536 " + key + " host",
          "tcp -1 " + key + " host", "tcp 1x " + key + " host",
          "tcp 1 " + key.substr(1) + " host", "udp 1 " + key + " host"}) {
        EXPECT_FALSE(PeerAddress::parse(text)) << text;
    }
}

TEST(AddressFile, KeepsAddressAndKeyForTheNextOne)
{
    test::ScratchDirectory scratch;
    const std::string path = scratch / "address";
    PeerAddress address = PeerAddress::make();
    address.port = 7;
    test::run_in_child([&] {
        AddressFile file(path);
        file.keep(address);
        _exit(0); /* it dies */
    });
    struct stat status;
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u);
    EXPECT_EQ(AddressFile(path).address().text(), address.text());
    EXPECT_TRUE(scratch.names().empty());
    EXPECT_NE(AddressFile(path).address().text(), address.text());
}

} // namespace

} // namespace ckpt
