/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_pmix.c - the launcher's requests and events that arrive over PMIx
 * (docs/pmix.md).
 *
 * This rank registers with the PMIx that the MPI library has initialised, as the
 * PMIx standard describes. It registers a handler for PMIX_JCTRL_CHECKPOINT. It
 * also declares that this event requests a checkpoint of the process. A request
 * becomes a command to the agent, the same as for `ckpt checkpoint`, and the
 * requester is told when it is done. If the server reports the ends of other
 * processes, they are passed on as well.
 *
 * It never registers a default handler, and never sends a default event: Slurm's
 * server kills the step after one. Every rank has the handler, as any rank may get
 * the request.
 *
 * Handlers and callbacks run on PMIx's own thread, which must not wait.
 */
#include "config.h"
#include "lower/host/host_pmix.h"

#include "base/invariant.h"
#include "lower/host/host_control.h"

#include <dlfcn.h>
#include <pmix.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

/* Every PMIx since 2.0 has this name; the loaded one is the MPI library's. */
#define LIBRARY    "libpmix.so.2"
#define STACK_SIZE (256ul * 1024)

/* The names of our own worlds begin like this (launcher/world/world.hpp). */
#define OWN_WORLD "ckpt-"

/* Only ORTE's launchers set this variable. */
#define ORTE_VARIABLE "OMPI_MCA_orte_hnp_uri"

static struct {
    __typeof__(&PMIx_Initialized) initialized;
    __typeof__(&PMIx_Get_version) version;
    __typeof__(&PMIx_Register_event_handler) handle;
    __typeof__(&PMIx_Job_control_nb) control;
    __typeof__(&PMIx_Notify_event) notify;
} pmix;

static pmix_proc_t self;
static char agent[108]; /* path of its control socket */
_Static_assert(sizeof(agent) == sizeof(((struct sockaddr_un *)NULL)->sun_path),
               "every socket's path fits");

void *ckpt_host_pmix_function(const char *name)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);

    return library == NULL ? NULL : dlsym(library, name);
}

static int look_up(void)
{
    *(void **)&pmix.initialized = ckpt_host_pmix_function("PMIx_Initialized");
    *(void **)&pmix.version = ckpt_host_pmix_function("PMIx_Get_version");
    *(void **)&pmix.handle = ckpt_host_pmix_function("PMIx_Register_event_handler");
    *(void **)&pmix.control = ckpt_host_pmix_function("PMIx_Job_control_nb");
    *(void **)&pmix.notify = ckpt_host_pmix_function("PMIx_Notify_event");
    return pmix.initialized != NULL && pmix.version != NULL &&
           pmix.handle != NULL && pmix.control != NULL && pmix.notify != NULL &&
           pmix.initialized();
}

/* Learns this process's PMIx name from the launcher's variables. */
static int know_self(void)
{
    const char *space = getenv("PMIX_NAMESPACE");
    const char *rank = getenv("PMIX_RANK");

    if (space == NULL || rank == NULL) {
        return 0;
    }
    strncpy(self.nspace, space, sizeof(self.nspace) - 1);
    self.rank = (pmix_rank_t)strtoul(rank, NULL, 10);
    return 1;
}

static const pmix_info_t *find(const pmix_info_t *info, size_t count,
                               const char *key)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(info[i].key, key, sizeof(info[i].key)) == 0) {
            return &info[i];
        }
    }
    return NULL;
}

static void set_flag(pmix_info_t *info, const char *key)
{
    strncpy(info->key, key, sizeof(info->key) - 1);
    info->value.type = PMIX_BOOL;
    info->value.data.flag = true;
}

static void set_text(pmix_info_t *info, const char *key, char *text)
{
    strncpy(info->key, key, sizeof(info->key) - 1);
    info->value.type = PMIX_STRING;
    info->value.data.string = text;
}

/* ---- Requests ------------------------------------------------------------- */

struct request {
    char id[256];   /* the requester's id for it; may be empty */
    char text[512]; /* name of the checkpoint, or why it failed */
    pmix_info_t answer[3];
};

static void free_request(pmix_status_t status, void *request)
{
    (void)status;
    free(request);
}

/*
 * Tells the requester the result of the request, and frees the request. Does not
 * tell it over ORTE: its mpirun never ends after a rank has sent such an event.
 */
static void answer_request(struct request *request, pmix_status_t status)
{
    const size_t count = request->id[0] == '\0' ? 2 : 3;
    pmix_status_t error = PMIX_ERR_NOT_SUPPORTED;

    CKPT_INVARIANT(count <= sizeof(request->answer) / sizeof(request->answer[0]));
    set_flag(&request->answer[0], PMIX_EVENT_NON_DEFAULT);
    set_text(&request->answer[1], PMIX_EVENT_TEXT_MESSAGE, request->text);
    set_text(&request->answer[2], PMIX_JOB_CTRL_ID, request->id);
    if (getenv(ORTE_VARIABLE) == NULL) {
        error = pmix.notify(status, &self, PMIX_RANGE_GLOBAL, request->answer,
                            count, free_request, request);
    }
    if (error != PMIX_SUCCESS) { /* free_request() will not be called */
        free(request);
    }
}

static void *obey(void *argument)
{
    struct request *request = argument;
    const int error = ckpt_host_control_ask(
        agent, "{\"version\":1,\"command\":\"checkpoint\",\"by\":\"PMIx\"}\n",
        request->text, sizeof(request->text));

    answer_request(request, error == 0 ? PMIX_JCTRL_CHECKPOINT_COMPLETE
                                       : PMIX_ERR_PROC_CHECKPOINT);
    return NULL;
}

static int start_thread(struct request *request)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int error;

    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    error = pthread_create(&thread, &attributes, obey, request);
    pthread_attr_destroy(&attributes);
    return error;
}

static void take_request(const pmix_info_t *info, size_t count)
{
    const pmix_info_t *id = find(info, count, PMIX_JOB_CTRL_ID);
    struct request *request = calloc(1, sizeof(*request));

    if (request == NULL) {
        return;
    }
    if (id != NULL && id->value.type == PMIX_STRING) {
        strncpy(request->id, id->value.data.string, sizeof(request->id) - 1);
    }
    if (start_thread(request) != 0) {
        strcpy(request->text, "no thread for the request");
        answer_request(request, PMIX_ERR_PROC_CHECKPOINT);
    }
}

/* Returns the rank that handles a request, which is for the whole job: the first
 * rank that it names. */
static pmix_rank_t first_asked(const pmix_info_t *info, size_t count)
{
    const pmix_info_t *range = find(info, count, PMIX_EVENT_CUSTOM_RANGE);
    pmix_rank_t first = PMIX_RANK_WILDCARD; /* larger than any rank */
    const pmix_proc_t *procs;

    if (range == NULL || range->value.type != PMIX_DATA_ARRAY ||
        range->value.data.darray == NULL ||
        range->value.data.darray->type != PMIX_PROC) {
        return 0;
    }
    procs = range->value.data.darray->array;
    for (size_t i = 0; i < range->value.data.darray->size; i++) {
        if (strcmp(procs[i].nspace, self.nspace) == 0 && procs[i].rank < first) {
            first = procs[i].rank;
        }
    }
    return first == PMIX_RANK_WILDCARD ? 0 : first;
}

static void checkpoint_wanted(size_t handler, pmix_status_t status,
                              const pmix_proc_t *source, pmix_info_t info[],
                              size_t count, pmix_info_t *results,
                              size_t result_count,
                              pmix_event_notification_cbfunc_fn_t done,
                              void *done_data)
{
    (void)handler, (void)status, (void)source, (void)results, (void)result_count;
    if (first_asked(info, count) == self.rank) {
        take_request(info, count);
    }
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, done_data);
}

/* ---- Events --------------------------------------------------------------- */

/* Reports an event to the agent; rank 0 does this for all ranks. */
static void tell(const char *what, long rank, pmix_status_t code)
{
    const char *version = pmix.version();
    char line[512];

    if (self.rank == 0) {
        snprintf(line, sizeof(line),
                 "{\"version\":1,\"command\":\"%s\",\"by\":\"%.*s\",\"rank\":%ld,"
                 "\"code\":%d}\n",
                 what, (int)strcspn(version, "(\"\\"), version, rank, code);
        (void)ckpt_host_control_tell(agent, line); /* informational only */
    }
}

static void process_ended(size_t handler, pmix_status_t status,
                          const pmix_proc_t *source, pmix_info_t info[],
                          size_t count, pmix_info_t *results, size_t result_count,
                          pmix_event_notification_cbfunc_fn_t done,
                          void *done_data)
{
    const pmix_info_t *who = find(info, count, PMIX_EVENT_AFFECTED_PROC);

    (void)handler, (void)source, (void)results, (void)result_count;
    if (who != NULL && who->value.type == PMIX_PROC &&
        strcmp(who->value.data.proc->nspace, self.nspace) == 0) {
        tell("ended", who->value.data.proc->rank, status);
    }
    /* The MPI library may handle the event, too. */
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, done_data);
}

/* The server of a world of ours (launcher/world) has ended. The MPI library would end this
 * process; the rank goes on, because only beginning and ending MPI needs the server. */
static void server_lost(size_t handler, pmix_status_t status, const pmix_proc_t *source,
                        pmix_info_t info[], size_t count, pmix_info_t *results,
                        size_t result_count, pmix_event_notification_cbfunc_fn_t done,
                        void *done_data)
{
    (void)handler, (void)status, (void)source, (void)info, (void)count;
    (void)results, (void)result_count;
    /* COMPLETE: the library's own handler is not called. */
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, done_data);
}

/* ---- Registration --------------------------------------------------------- */

/* Called when the handler is registered. Without a callback the registration would
 * wait for the server. */
static void handler_registered(pmix_status_t status, size_t handler, void *news)
{
    (void)handler;
    if (news != NULL) {
        tell(news, 0, status);
    }
}

static void is_declared(pmix_status_t status, pmix_info_t *info, size_t count,
                        void *unused, pmix_release_cbfunc_t release,
                        void *release_data)
{
    (void)info, (void)count, (void)unused;
    tell("declared", 0, status);
    if (release != NULL) {
        release(release_data);
    }
}

static void register_handlers(void)
{
    static pmix_status_t request = PMIX_JCTRL_CHECKPOINT;
    static pmix_status_t ends[] = {
        PMIX_ERR_PROC_ABORTED_BY_SIG,
        PMIX_ERR_EXIT_NONZERO_TERM,
        PMIX_ERR_PROC_REQUESTED_ABORT,
        PMIX_ERR_PROC_TERM_WO_SYNC,
        PMIX_ERR_PROC_KILLED_BY_CMD,
    };
    static pmix_status_t losses[] = {
        PMIX_ERR_LOST_CONNECTION,
        PMIX_ERR_LOST_CONNECTION_TO_SERVER, /* its name until PMIx 3 */
    };

    (void)pmix.handle(&request, 1, NULL, 0, checkpoint_wanted, handler_registered,
                      "registered");
    if (self.rank == 0) { /* rank 0 reports for all */
        (void)pmix.handle(ends, sizeof(ends) / sizeof(ends[0]), NULL, 0,
                          process_ended, handler_registered, NULL);
    }
    if (strncmp(self.nspace, OWN_WORLD, sizeof(OWN_WORLD) - 1) == 0) {
        (void)pmix.handle(losses, sizeof(losses) / sizeof(losses[0]), NULL, 0, server_lost,
                          handler_registered, NULL);
    }
}

/* Declares that this process can be checkpointed, and by which event. */
static void declare(void)
{
    static pmix_info_t method, directives[2];
    static pmix_data_array_t methods = {.type = PMIX_INFO, .size = 1};
    pmix_status_t error;

    set_flag(&method, PMIX_JOB_CTRL_CHECKPOINT_EVENT);
    methods.array = &method;
    set_flag(&directives[0], PMIX_JOB_CTRL_CHECKPOINT_EVENT);
    strncpy(directives[1].key, PMIX_JOB_CTRL_CHECKPOINT_METHOD,
            sizeof(directives[1].key) - 1);
    directives[1].value.type = PMIX_DATA_ARRAY;
    directives[1].value.data.darray = &methods;
    error = pmix.control(&self, 1, directives, 2, is_declared, NULL);
    if (error != PMIX_SUCCESS) {
        tell("declared", 0, error);
    }
}

void ckpt_host_pmix_open(const char *control)
{
    CKPT_INVARIANT(agent[0] == '\0'); /* handlers are registered once */
    if (strlen(control) < sizeof(agent) && know_self() && look_up()) {
        strcpy(agent, control);
        register_handlers();
        declare();
    }
}
