/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request.h - requests of the application.
 *
 * Active requests are in the live list in the order in which they were started: a restart
 * posts receives again in that order.
 */
#ifndef CKPT_REQUEST_H
#define CKPT_REQUEST_H

#include "handles/handles.h"

struct ckpt_log_entry;

enum ckpt_request_kind {
    CKPT_REQUEST_SEND = 1,
    CKPT_REQUEST_RECEIVE,
    CKPT_REQUEST_COLLECTIVE,  /* nonblocking collective */
    CKPT_REQUEST_GENERALIZED, /* MPI_Grequest_start */
    CKPT_REQUEST_FILE,        /* nonblocking access to a file */
    CKPT_REQUEST_REMOTE,      /* access to a window */
    CKPT_REQUEST_EXCHANGE,    /* MPI_Isendrecv: consists of two requests */
    CKPT_REQUEST_PARTITIONED, /* cut/messages/partition.h */
    CKPT_REQUEST_KIND_COUNT
};

enum ckpt_send_mode {
    CKPT_SEND_STANDARD = 0,
    CKPT_SEND_BUFFERED,
    CKPT_SEND_SYNCHRONOUS,
    CKPT_SEND_READY, /* a correct one is a standard send, and is sent as one */
};

struct ckpt_generalized {
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *extra;
};

struct ompi_request_t {
    struct ckpt_handle handle; /* lower == NULL: not in the lower half */
    uint32_t request_kind;     /* enum ckpt_request_kind */
    uint32_t mode;             /* enum ckpt_send_mode */
    int active;                /* started, and not yet seen complete */
    int complete;              /* 1: `status` and `code` are valid */
    int deferred;              /* valid below only: cut/collectives/deferred_completion.h */
    int persistent;
    int count;
    int peer;
    int tag;
    int code; /* MPI error code of the completed operation */
    void *buffer;
    MPI_Datatype datatype;
    MPI_Comm communicator;
    MPI_Status status;
    union {
        struct ompi_request_t *next_free;
        struct ckpt_generalized *generalized;
        MPI_File file;                            /* reports its errors */
        struct {                                  /* a collective: cut/collectives/nonblocking.h */
            struct ckpt_nonblocking *nonblocking; /* the operation under way */
            struct ckpt_nonblocking *repeated;    /* persistent: the operation to start */
        };
        struct ckpt_partitioned *partitioned;
        struct ompi_request_t *halves[2]; /* of an exchange: send, receive */
        /* a receive, of an open rank: cut/messages/channel_recording.h */
        struct {
            struct ckpt_log_entry *claimed; /* entry whose message it gets */
            uint64_t order;                 /* when it was matched, if crossing */
            int crossing;                   /* pending below at the cut: its message is logged */
        };
        struct { /* a synchronous send: cut/messages/synchronous_send.h */
            struct ompi_request_t *next_synchronous;
            uint64_t held;  /* question to answer before it completes, or 0 */
            uint32_t later; /* like messages sent after it */
            int held_now;   /* by the present attempt */
        };
    };
};

/*
 * What cut/ does with the requests of a kind; NULL: nothing. cut/service/request_calls.c fills the
 * table before the first request exists. Context: place for lower-half calls, unless stated
 * otherwise.
 */
struct ckpt_request_calls {
    /* While a checkpoint is under way: the request is complete below. Returns 1 if it must stay
     * incomplete for the application. */
    int (*defer)(MPI_Request request);
    /* The lower half has completed the request. goes_on is asked first: returns 1 if there is a
     * second part, whose request is then the lower one. For a receive, completed is called only
     * while this rank is open. */
    int (*goes_on)(MPI_Request request);
    void (*completed)(MPI_Request request);
    void (*progress)(MPI_Request request); /* incomplete, and not in the lower half */
    void (*cancel)(MPI_Request request);   /* a held receive, while this rank is open */
    int (*in_cut)(MPI_Request request);    /* 1: ckpt_request_is_drained(). Context: any */
    /* The application is told of the completion. keep: returns 1 if the request must stay.
     * detach: of a persistent one; returns the operation that it began, or NULL. */
    int (*keep)(MPI_Request request);
    MPI_Request (*detach)(MPI_Request request);
    /* It has left the live list. Of sends, only the synchronous ones. */
    void (*ended)(MPI_Request request);
    /* At a restart: returns 1 if the receive gets a logged message. Context: quiesced. */
    int (*take_logged)(MPI_Request request);
};
extern struct ckpt_request_calls ckpt_request_calls[CKPT_REQUEST_KIND_COUNT]
    __attribute__((visibility("hidden")));

/* Counts the requests that left the lower half: completed, taken back, or lost with the
 * lower half. Only requests without a lower handle can have changed since. */
extern uint64_t ckpt_request_changes;

/* The status of a null or inactive request and of a send. */
extern const MPI_Status ckpt_empty_status;

/* Returns 1 if the array exists and contains no address 0. */
static inline int ckpt_requests_valid(int count, MPI_Request const requests[])
{
    for (int i = 0; requests != NULL && i < count; i++) {
        if (requests[i] == NULL) {
            return 0;
        }
    }
    return requests != NULL;
}

/* Forgets a pending request that the application has freed. It goes on, and is retired
 * when it is complete: by the next drain, or when enough others have been freed after it.
 * Context: between ckpt_begin and ckpt_end. */
void ckpt_request_forget(MPI_Request request);

/* Returns a request from the free list: inactive, not linked. NULL: out of memory. */
MPI_Request ckpt_request_new(enum ckpt_request_kind kind, const char *creator,
                             void *site);

/* Puts a started request at the end of the live list. */
void ckpt_request_activate(MPI_Request request);

/* Removes a complete request from the live list and drops the objects it used; frees it
 * unless it is persistent. A collective that other members have still to begin stays. */
void ckpt_request_retire(MPI_Request request);

/* Records the completion of a request in the lower half: status, code and the number of
 * received messages. */
void ckpt_request_completed(MPI_Request request, const MPI_Status *status,
                            int code);

/* Returns 1 for a receive that an open rank keeps out of the lower half
 * (cut/messages/channel_recording.h). */
static inline int ckpt_request_is_held(MPI_Request request)
{
    return request->request_kind == CKPT_REQUEST_RECEIVE && !request->complete &&
           request->handle.lower == NULL;
}

static inline int ckpt_request_is_synchronous(MPI_Request request)
{
    return request->request_kind == CKPT_REQUEST_SEND &&
           request->mode == CKPT_SEND_SYNCHRONOUS;
}

/* Returns 1 if a drain completes it, at the latest when all ranks have started theirs. */
int ckpt_request_is_drained(MPI_Request request);

/* Returns the object whose error handler gets a request's error: a file or a
 * communicator, or NULL. */
static inline void *ckpt_request_error_object(MPI_Request request)
{
    return request->request_kind == CKPT_REQUEST_FILE
               ? (void *)request->file
               : (void *)request->communicator;
}

/* Tests a request once, in the lower half if necessary. Returns 1 if it is complete.
 * Context: any place for lower-half calls. */
int ckpt_request_progress(MPI_Request request);

/* Cancels it in the lower half. If the service thread is testing it, the cancel follows
 * that test. Context: the same. Returns an MPI error code. */
int ckpt_request_cancel(MPI_Request request);

/* Waits until the request is complete; a checkpoint may be taken meanwhile. Context:
 * between begin and end. Returns the request's code. */
int ckpt_request_wait(MPI_Request request);

/* Posts an active receive in a new lower half. Other kinds are complete, or are
 * collectives (cut/collectives/nonblocking.h). Context: quiesced. Returns an MPI error code. */
int ckpt_request_rebuild(MPI_Request request);

/* Returns a request for an access to `file` that the lower half has started. */
MPI_Request ckpt_request_file(MPI_Request lower, MPI_File file,
                              const char *creator, void *site);

/* Returns a request for an access to a window that the lower half has started. */
MPI_Request ckpt_request_remote(MPI_Request lower, const char *creator,
                                void *site);

#endif
