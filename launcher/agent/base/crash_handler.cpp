/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * crash_handler.cpp - crash handlers that take no lock and no memory. The crashed code may hold a
 * lock or the allocator, and the handler must not hang.
 */
#include "agent/base/crash_handler.hpp"

#include <execinfo.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace ckpt
{

namespace
{

constexpr std::array errors = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
constexpr int most_calls = 64;

int log_file = -1;

void write_text(const char *text)
{
    (void)!write(log_file, text, std::strlen(text));
}

void write_calls()
{
    std::array<void *, most_calls> calls{};

    backtrace_symbols_fd(calls.data(), backtrace(calls.data(), most_calls), log_file);
}

/* The handler is reset when it runs (SA_RESETHAND), so the signal is fatal when it comes again. */
void crashed(int signal)
{
    write_text("ckptd: SIG");
    write_text(sigabbrev_np(signal));
    write_text(", from\n");
    write_calls();
    (void)raise(signal);
}

/* abort() sends a signal, which crashed() reports. */
void terminated()
{
    try {
        std::rethrow_exception(std::current_exception());
    } catch (const std::exception &error) {
        write_text("ckptd: uncaught exception: ");
        write_text(error.what());
        write_text("\n");
    } catch (...) {
        write_text("ckptd: uncaught exception of an unknown type\n");
    }
    std::abort();
}

} // namespace

void install_crash_handler(Fd log)
{
    struct sigaction action = {};
    void *call;

    log_file = log.release();  /* stays open until the process ends */
    (void)backtrace(&call, 1); /* loads the library that backtrace() needs */
    action.sa_handler = crashed;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    for (int signal : errors) {
        (void)sigaction(signal, &action, nullptr);
    }
    std::set_terminate(terminated);
}

} // namespace ckpt
