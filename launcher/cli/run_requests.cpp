/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_requests.cpp - commands for a running `ckpt run`.
 */
#include "cli/run_requests.hpp"

#include "common/files.hpp"

#include <sys/socket.h>

namespace ckpt::cli
{

std::filesystem::path run_socket(const TierDirectories &directories, const std::string &job)
{
    return control::run_directory() /
           (control::namespace_hash((directories.lasting() / job).string()) + ".run");
}

RunRequests::RunRequests(EventLoop &loop, const std::filesystem::path &socket)
    : server_(loop, refusals_,
              {[this](ClientId client, const control::Request &request) {
                   if (handler_) {
                       handler_(client, request);
                   } else {
                       reply_error(client, "the job is just being started again");
                   }
               },
               [](ClientId) {}}),
      listener_((make_private_directory(socket.parent_path()), loop), socket, SOCK_STREAM,
                refusals_, [this](Fd connection) { server_.accept(std::move(connection)); })
{
}

void RunRequests::reply_error(ClientId client, const std::string &text)
{
    control::Reply reply;

    reply.event = "error";
    reply.error = text;
    server_.reply(client, reply);
}

} // namespace ckpt::cli
