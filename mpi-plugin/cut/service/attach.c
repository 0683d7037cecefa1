/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attach.c - introduce this rank to its node agent.
 */
#include "cut/service/attach.h"

#include "base/invariant.h"
#include "base/text.h"
#include "cut/messages/rank_cut.h"
#include "cut/messages/report.h"
#include "cut/participant.h"
#include "handles/communicator.h"
#include "link/agent_link.h"
#include "link/launch_name.h"
#include "link/rank_page.h"
#include "runtime/crossing.h"
#include "runtime/runtime.h"
#include "sys/syscall.h"
#include "task/signals.h"

#include <errno.h>
#include <sys/prctl.h>

#define TRIES 3

/* Chosen once: after a restart the handler is still installed for the first number. */
int ckpt_checkpoint_signal(void)
{
    static int number;

    if (number == 0) {
        number = ckpt_signals_number(ckpt_runtime_getenv("CKPT_SIGNAL"));
        CKPT_INVARIANT(number >= 1 && number <= 64); /* a bit of the kernel's masks */
    }
    return number;
}

static int attached_thread;
static int agent;

int ckpt_agent_pid(void)
{
    return agent;
}

int ckpt_attached_thread(void)
{
    return attached_thread;
}

/* Sends the agent the page that the ranks of this node share. */
static void share_page(void)
{
    struct ckpt_message message = {.type = CKPT_MSG_SHARED,
                                   .as.shared = {.kind = CKPT_SHARED_PAGE}};
    const int descriptor = ckpt_participants_shared_page();

    if (descriptor >= 0) {
        (void)ckpt_agent_send(&message, descriptor);
    }
}

/* Lets the agent read our memory where ptrace is restricted (Yama). An MPI library may name another
 * process in MPI_Init. */
static void let_agent_read(void)
{
    (void)ckpt_sys_prctl(PR_SET_PTRACER, agent, 0, 0, 0);
}

/* Introduces this rank. Writes the agent's own address to `address`. */
static int hello(char *address, size_t size, uint64_t *epoch,
                 struct ckpt_failure *failure)
{
    struct ckpt_rank_page *page = ckpt_rank_page();
    struct ckpt_message message = {.type = CKPT_MSG_HELLO};
    int error;

    CKPT_INVARIANT(page->rank < page->rank_count && page->clock_count <= CKPT_CLOCK_SLOTS);
    CKPT_INVARIANT(!ckpt_checkpoint.in_doubt || (ckpt_checkpoint.armed && !ckpt_rank_cut_open));
    message.as.hello = (struct ckpt_msg_hello){
        .rank = page->rank,
        .rank_count = page->rank_count,
        .pid = (uint64_t)ckpt_sys_getpid(),
        .thread = (uint64_t)ckpt_sys_gettid(),
        .signal = (uint64_t)ckpt_checkpoint_signal(),
        .restarted = ckpt_resumed,
        .last_cut = ckpt_rank_cut_last(),
        .state = (ckpt_rank_cut_open ? CKPT_STATE_OPEN : 0) |
                 (ckpt_checkpoint.in_doubt ? CKPT_STATE_IN_DOUBT : 0),
    };
    error = ckpt_agent_send(&message, ckpt_rank_page_descriptor());
    if (error == 0) {
        error = ckpt_agent_receive(&message, 1);
    }
    if (error < 0 || message.type != CKPT_MSG_WELCOME) {
        return ckpt_refuse(failure, CKPT_REFUSAL_AGENT_LOST, error < 0 ? error : -EPROTO,
                           "the agent does not welcome this rank");
    }
    *epoch = message.as.welcome.restarted_from;
    attached_thread = (int)ckpt_sys_gettid();
    if (page->committed < *epoch) { /* restarted from that one */
        page->committed = *epoch;
    }
    agent = (int)message.as.welcome.pid;
    share_page();
    let_agent_read();
    ckpt_text_copy(address, size, message.text);
    return 0;
}

/* Connects, unless the agent has passed a connection, and introduces this rank. A dying agent may
 * still accept the connection; the next attempt starts a new agent. */
static int find_agent(int is_given, char *address, size_t size, uint64_t *epoch,
                      struct ckpt_failure *failure)
{
    int error, tries = TRIES;

    do {
        error = is_given ? 0 : ckpt_agent_connect(failure);
        is_given = 0;
        if (error != 0) {
            return error;
        }
        error = hello(address, size, epoch, failure);
        if (error != 0) {
            ckpt_agent_disconnect();
        }
    } while (error == -EPIPE && --tries > 0);
    return error;
}

/* Has the launcher's requests for checkpoints sent to the agent's control socket. */
static void heed_launcher(void)
{
    struct ckpt_failure failure;
    char path[108]; /* capacity of sun_path */
    uintptr_t upper;

    if (ckpt_agent_control_socket(path, sizeof(path), &failure) == 0) {
        upper = ckpt_enter();
        ckpt_lower.heed_launcher(path);
        ckpt_leave(upper);
    }
}

/* Sends rank 0's bytes to all. Returns an MPI error code. */
static int broadcast(char *bytes, int size)
{
    int code;

    CKPT_CALL(code, Bcast, bytes, size, CKPT_LOWER(MPI_BYTE), 0, CKPT_LOWER(MPI_COMM_WORLD));
    return code;
}

/* Has all ranks call the launch by one name. Returns 0, or -EPROTO if MPI fails: then the
 * names differ. */
static int agree_on_name(void)
{
    char *made = ckpt_launch_name_choose();
    int code = MPI_SUCCESS;

    if (made != NULL) {
        code = broadcast(made, CKPT_LAUNCH_NAME_SIZE);
    }
    return code == MPI_SUCCESS ? 0 : -EPROTO;
}

/* Makes the calls of agree_on_name(), which restarted ranks of this world make; the launch keeps
 * the name that it has. Returns as above. */
static int keep_name(void)
{
    char name[CKPT_LAUNCH_NAME_SIZE] = "";
    int code = MPI_SUCCESS;

    if (!ckpt_non_mpi && ckpt_launch_name_is_made()) {
        (void)ckpt_text_copy(name, sizeof(name), ckpt_launch_name());
        code = broadcast(name, sizeof(name));
    }
    return code == MPI_SUCCESS ? 0 : -EPROTO;
}

/* Address of the coordinator's agent. */
static char coordinator[sizeof(((struct ckpt_message *)0)->text)];

int ckpt_attach_in_new_world(struct ckpt_failure *failure)
{
    int error = keep_name();

    if (error == 0 && broadcast(coordinator, sizeof(coordinator)) != MPI_SUCCESS) {
        error = -EIO;
    }
    if (error != 0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_MPI_ERROR, -EIO,
                           "the ranks cannot agree on an agent: MPI_Bcast fails");
    }
    let_agent_read();
    heed_launcher();
    return 0;
}

int ckpt_attach(int collective, uint64_t *epoch, struct ckpt_failure *failure)
{
    struct ckpt_message message = {.type = CKPT_MSG_JOIN};
    const int is_given = ckpt_agent_take_given();
    int error, code, agreed = 0;

    message.text[0] = '\0';
    if (collective) {
        agreed = is_given ? keep_name() : agree_on_name();
    }
    error = find_agent(is_given, message.text, sizeof(message.text), epoch, failure);
    if (collective) {
        ckpt_text_copy(coordinator, sizeof(coordinator), message.text);
    }
    if (collective && !ckpt_non_mpi) {
        code = broadcast(coordinator, sizeof(coordinator));
        agreed = code == MPI_SUCCESS ? agreed : -EPROTO;
    }
    if (error == 0 && agreed != 0) { /* all ranks have made the same calls */
        error = ckpt_refuse(failure, CKPT_REFUSAL_MPI_ERROR, agreed,
                            "the ranks cannot agree on an agent: MPI_Bcast fails");
    }
    ckpt_text_copy(message.text, sizeof(message.text), coordinator);
    if (error != 0) {
        ckpt_agent_disconnect();
        return error;
    }
    (void)ckpt_agent_send(&message, -1);
    ckpt_agent_signal(ckpt_checkpoint_signal(), (int)ckpt_sys_gettid());
    if (collective && !ckpt_non_mpi) {
        heed_launcher();
    }
    return 0;
}
