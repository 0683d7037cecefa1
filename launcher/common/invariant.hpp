/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * invariant.hpp - assertions that stay on in release builds: what our own code guarantees.
 *
 * They are not for input of other processes or files, which is checked and refused (error.hpp). A
 * condition has no side effect, and costs less than the event that it guards.
 *
 * A violation throws InvariantViolated. The process is unsound from then on: an agent gives up the
 * checkpoint under way and takes no other, while the ranks run on; a command ends with an error; a
 * restart is refused. This also holds if a handler of other errors catches the exception. In
 * a destructor or another function that must not throw, the process ends with the same text.
 */
#pragma once

#include "common/refusal.hpp"

#include <stdexcept>
#include <string>

namespace ckpt
{

/* Not an Error: handlers of errors that the code expects must not take it for one. */
class InvariantViolated : public std::logic_error
{
  public:
    using std::logic_error::logic_error;
};

/* Notes the violation and throws InvariantViolated. For the macros below. Thread-safe. */
[[noreturn, gnu::cold]] void violated(const char *condition, const char *file, int line);

/* Whether an invariant was violated in this process. Thread-safe, takes no lock. */
bool is_unsound() noexcept;

/* Text of the first violation in this process, for the user; "" if there was none. Thread-safe. */
std::string first_violation();
/* The same as the reason of a refusal: an internal error. */
Refusal refusal_of_violation();

/* Throws Error with the text of the first violation, if there was one. To be called before a step
 * that others rely on: the commit of a checkpoint, the start of a restarted process. */
void require_sound();

/* Forgets all violations. Only for tests. */
void forget_violations();

} // namespace ckpt

/* The caller has to provide this. */
#define CKPT_EXPECT(condition) \
    ((condition) ? static_cast<void>(0) : ::ckpt::violated(#condition, __FILE__, __LINE__))

/* This function, or its class, guarantees this. */
#define CKPT_INVARIANT(condition) \
    ((condition) ? static_cast<void>(0) : ::ckpt::violated(#condition, __FILE__, __LINE__))
