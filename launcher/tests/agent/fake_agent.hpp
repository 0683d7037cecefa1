/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_agent.hpp - a node agent whose answers a test chooses.
 */
#pragma once

#include "agent/control/control.hpp"
#include "common/fd.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace ckpt::test
{

class FakeAgent
{
  public:
    /* The answer to a request: any text, lines or not. */
    using Answer = std::function<std::string(const control::Request &)>;

    FakeAgent(const std::filesystem::path &socket, Answer answer)
        : answer_(std::move(answer)), end_(::eventfd(0, EFD_CLOEXEC)),
          listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))
    {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, socket.c_str(),
                     sizeof(address.sun_path) - 1);
        EXPECT_EQ(::bind(listener_.get(),
                         reinterpret_cast<sockaddr *>(&address),
                         sizeof(address)),
                  0);
        EXPECT_EQ(::listen(listener_.get(), 8), 0);
        thread_ = std::thread([this] { serve(); });
    }
    FakeAgent(const FakeAgent &) = delete;
    FakeAgent &operator=(const FakeAgent &) = delete;

    ~FakeAgent()
    {
        std::uint64_t one = 1;
        EXPECT_EQ(::write(end_.get(), &one, sizeof(one)),
                  static_cast<ssize_t>(sizeof(one)));
        thread_.join();
    }

    static std::string status_line(const control::Status &status)
    {
        control::Reply reply;
        reply.event = "status";
        reply.status = status;
        return control::encode_line(reply);
    }

    static std::string error_line(const Refusal &why)
    {
        return control::encode_line(control::error_reply(why));
    }

  private:
    void serve()
    {
        for (;;) {
            pollfd wanted[] = {{end_.get(), POLLIN, 0},
                               {listener_.get(), POLLIN, 0}};
            if (::poll(wanted, 2, -1) < 0 || wanted[0].revents != 0) {
                return;
            }
            Fd client(::accept(listener_.get(), nullptr, nullptr));
            std::string line;
            char c = 0;
            while (::read(client.get(), &c, 1) == 1 && c != '\n') {
                line += c;
            }
            control::Request request;
            std::string error;
            EXPECT_TRUE(control::decode_request(line, request, error))
                << error;
            std::string text = answer_(request);
            EXPECT_EQ(::send(client.get(), text.data(), text.size(),
                             MSG_NOSIGNAL),
                      static_cast<ssize_t>(text.size()));
        }
    }

    Answer answer_;
    Fd end_;
    Fd listener_;
    std::thread thread_;
};

} // namespace ckpt::test
