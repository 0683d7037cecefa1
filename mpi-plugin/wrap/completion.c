/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * completion.c - waiting for and testing requests (MPI 3.1, section 3.7).
 */
#include "cut/messages/rank_cut.h"
#include "base/invariant.h"
#include "handles/kinds.h"
#include "handles/request.h"
#include "handles/wrapper.h"
#include "runtime/callback.h"
#include "wrap/partitioned.h"
#include "wrap/pending_set.h"
#include "wrap/persistent.h"

#include <stdlib.h>

#define FEW   4   /* the limit for testing requests one by one */
#define BATCH 128 /* requests tested in one lower-half call */

static inline int is_active(MPI_Request request)
{
    return request != MPI_REQUEST_NULL && request->active;
}

/* An array that the pending set keeps contains no address 0. */
static inline int are_valid(int count, MPI_Request const requests[])
{
    return count <= 0 || (count > FEW && ckpt_pending_set_is(count, requests)) ||
           ckpt_requests_valid(count, requests);
}

static void give_status(MPI_Status *to, const MPI_Status *from)
{
    if (to != MPI_STATUS_IGNORE) {
        int error = to->MPI_ERROR;

        *to = *from;
        to->MPI_ERROR = error;
    }
}

/* asks: 1 if the caller wants the status. */
static void close_generalized(MPI_Request request, int asks)
{
    struct ckpt_generalized *functions = request->generalized;
    struct ckpt_callback outer;

    CKPT_INVARIANT(request->request_kind == CKPT_REQUEST_GENERALIZED && functions != NULL);
    ckpt_callback_enter(&outer);
    if (asks) {
        request->code = functions->query(functions->extra, &request->status);
    }
    if (functions->free != NULL) {
        (void)functions->free(functions->extra);
    }
    ckpt_callback_leave(&outer);
    free(functions);
}

/* The later one of MPI_Request_free and MPI_Grequest_complete ends the request (MPI
 * 3.1, section 12.2). A drain cannot end it, as it could not call the application. */
static void end_freed_generalized(MPI_Request request)
{
    close_generalized(request, 0);
    ckpt_request_retire(request);
}

/* Gives a complete request's outcome to the application. */
static int collect(MPI_Request *request_p, MPI_Status *status)
{
    MPI_Request request = *request_p;
    int code;

    if (request->request_kind == CKPT_REQUEST_GENERALIZED) {
        close_generalized(request, 1);
    }
    CKPT_INVARIANT(request->complete);
    code = request->code;
    give_status(status, &request->status);
    if (!request->persistent) {
        *request_p = MPI_REQUEST_NULL;
    }
    ckpt_request_retire(request);
    return code;
}

/* The same for one of several requests: *object becomes the object of the first
 * failure. */
static int collect_one(MPI_Request *request_p, MPI_Status *status,
                       void **object)
{
    void *own = ckpt_request_error_object(*request_p);
    int code = collect(request_p, status);

    if (code != MPI_SUCCESS && *object == NULL) {
        *object = own;
    }
    return code;
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    CKPT_INSIDE("MPI_Wait");
    CKPT_REQUIRE(request != NULL, NULL, MPI_ERR_REQUEST, "MPI_Wait");
    void *object;
    int code;

    if (!is_active(*request)) {
        give_status(status, &ckpt_empty_status);
        return MPI_SUCCESS;
    }
    object = ckpt_request_error_object(*request);
    ckpt_begin();
    (void)ckpt_request_wait(*request);
    code = collect(request, status);
    CKPT_RETURN(object, code, "MPI_Wait");
}
CKPT_ALIAS(Wait);

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    CKPT_INSIDE("MPI_Test");
    CKPT_REQUIRE(request != NULL, NULL, MPI_ERR_REQUEST, "MPI_Test");
    CKPT_REQUIRE(flag != NULL, NULL, MPI_ERR_ARG, "MPI_Test");
    void *object;
    int code = MPI_SUCCESS;

    if (!is_active(*request)) {
        *flag = 1;
        give_status(status, &ckpt_empty_status);
        return MPI_SUCCESS;
    }
    object = ckpt_request_error_object(*request);
    ckpt_begin();
    *flag = ckpt_request_progress(*request);
    if (*flag) {
        code = collect(request, status);
    }
    if (__builtin_expect(ckpt_pending, 0)) {
        *flag ? ckpt_poll_succeeded() : ckpt_poll_failed();
    }
    CKPT_RETURN(object, code, "MPI_Test");
}
CKPT_ALIAS(Test);

/* Completes a batch of requests in one crossing, up to the first that is
 * interrupted. */
static void wait_batch(int count, MPI_Request requests[])
{
    uintptr_t upper;

    ckpt_state = CKPT_STATE_WAITING;
    upper = ckpt_enter();
    for (int i = 0; i < count; i++) {
        MPI_Request request = requests[i];
        MPI_Status status;
        int code;

        if (!is_active(request) || request->complete ||
            request->handle.lower == NULL) {
            continue;
        }
        code = ckpt_lower.wait(&request->handle.lower, &status);
        if (code == CKPT_INTERRUPTED) {
            break;
        }
        if (request->request_kind == CKPT_REQUEST_COLLECTIVE || ckpt_multiple ||
            ckpt_rank_cut_open) {
            ckpt_leave(upper); /* more to do, or the lock may be released */
            ckpt_request_completed(request, &status, code);
            upper = ckpt_enter();
        } else {
            ckpt_request_completed(request, &status, code);
        }
    }
    ckpt_leave(upper);
    ckpt_state = CKPT_STATE_CRITICAL;
}

int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    CKPT_REQUIRE(are_valid(count, requests), NULL,
                 MPI_ERR_REQUEST, "MPI_Waitall");
    CKPT_REQUIRE(count >= 0, NULL, MPI_ERR_ARG, "MPI_Waitall");
    int result = MPI_SUCCESS;
    void *object = NULL;

    ckpt_begin();
    wait_batch(count, requests);
    for (int i = 0; i < count; i++) {
        MPI_Status *status =
            statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
        int code = MPI_SUCCESS;

        if (is_active(requests[i])) {
            (void)ckpt_request_wait(requests[i]);
            code = collect_one(&requests[i], status, &object);
        } else {
            give_status(status, &ckpt_empty_status);
        }
        if (code != MPI_SUCCESS) {
            result = MPI_ERR_IN_STATUS;
        }
        if (status != MPI_STATUS_IGNORE) {
            status->MPI_ERROR = code;
        }
    }
    CKPT_RETURN(object, result, "MPI_Waitall");
}
CKPT_ALIAS(Waitall);

/* Requests in the lower half, and the requests that own them. */
struct batch {
    int count;
    MPI_Request owner[BATCH], lower[BATCH];
};

/* The result of a pass over requests: how many are active, and how many of these are
 * complete. */
struct progress {
    int active, complete;
};

/* Tests each request individually. Returns how many are complete. */
static int test_each(const struct batch *batch)
{
    int complete = 0;

    for (int i = 0; i < batch->count; i++) {
        complete += ckpt_request_progress(batch->owner[i]);
    }
    return complete;
}

/* Tests all requests of a batch in the lower half, with one progress call of the
 * library, and marks the complete ones. Returns how many are complete. */
static int test_batch(struct batch *batch)
{
    MPI_Status status[BATCH];
    int place[BATCH], found = 0, complete = 0, code;

    if (batch->count == 0) {
        return 0;
    }
    CKPT_CALL(code, Testsome, batch->count, batch->lower, &found, place, status);
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) {
        return test_each(batch); /* finds the error of each request */
    }
    for (int i = 0; i < found; i++) {
        MPI_Request request = batch->owner[place[i]];

        CKPT_INVARIANT(place[i] >= 0 && place[i] < batch->count);
        request->handle.lower = batch->lower[place[i]];
        ckpt_request_completed(request, &status[i],
                               code == MPI_SUCCESS ? MPI_SUCCESS
                                                   : status[i].MPI_ERROR);
        complete += request->complete; /* unless it is held */
    }
    return complete;
}

/* Makes one pass over the requests, with a progress call of the library for each. */
static struct progress progress_few(int count, MPI_Request requests[])
{
    struct progress progress = {0, 0};

    for (int i = 0; i < count; i++) {
        if (is_active(requests[i])) {
            progress.active++;
            progress.complete += ckpt_request_progress(requests[i]);
        }
    }
    return progress;
}

/* The same, with one progress call of the library for each batch. */
static struct progress progress_many(int count, MPI_Request requests[])
{
    struct progress progress = {0, 0};
    struct batch batch;

    batch.count = 0;
    for (int i = 0; i < count; i++) {
        MPI_Request request = requests[i];

        if (!is_active(request)) {
            continue;
        }
        progress.active++;
        if (request->handle.lower == NULL || request->complete) {
            progress.complete += ckpt_request_progress(request);
            continue;
        }
        CKPT_INVARIANT(batch.count < BATCH);
        batch.owner[batch.count] = request;
        batch.lower[batch.count++] = request->handle.lower;
        if (batch.count == BATCH) {
            progress.complete += test_batch(&batch);
            batch.count = 0;
        }
    }
    progress.complete += test_batch(&batch);
    return progress;
}

/* Several threads may wait for the same requests: then each request is tested
 * individually. */
static struct progress progress_all(int count, MPI_Request requests[])
{
    struct progress progress;

    if (count <= FEW || ckpt_multiple) {
        return progress_few(count, requests);
    }
    if (ckpt_pending_set_is(count, requests) && !ckpt_pending_set_test()) {
        return (struct progress){ckpt_pending_set_active(), 0};
    }
    progress = progress_many(count, requests);
    if (progress.complete == 0) {
        ckpt_pending_set_note(count, requests);
    }
    return progress;
}

static int first_complete(int count, MPI_Request requests[])
{
    for (int i = 0; i < count; i++) {
        if (is_active(requests[i]) && requests[i]->complete) {
            return i;
        }
    }
    return MPI_UNDEFINED;
}

/* Waits until a pass completes something. Returns the number of active requests, 0 if
 * there is nothing to wait for. */
static int wait_for_some(int count, MPI_Request requests[])
{
    struct progress progress;

    for (;;) {
        progress = progress_all(count, requests);
        if (progress.active == 0 || progress.complete > 0) {
            break;
        }
        ckpt_wait_turn();
    }
    ckpt_wait_over();
    return progress.active;
}

int PMPI_Waitany(int count, MPI_Request requests[], int *index,
                 MPI_Status *status)
{
    CKPT_REQUIRE(are_valid(count, requests), NULL,
                 MPI_ERR_REQUEST, "MPI_Waitany");
    CKPT_REQUIRE(count >= 0 && index != NULL, NULL, MPI_ERR_ARG, "MPI_Waitany");
    int code = MPI_SUCCESS;
    void *object = NULL;

    ckpt_begin();
    if (wait_for_some(count, requests) == 0) {
        *index = MPI_UNDEFINED;
        give_status(status, &ckpt_empty_status);
    } else {
        *index = first_complete(count, requests);
        CKPT_INVARIANT(*index >= 0 && *index < count);
        code = collect_one(&requests[*index], status, &object);
    }
    CKPT_RETURN(object, code, "MPI_Waitany");
}
CKPT_ALIAS(Waitany);

int PMPI_Testany(int count, MPI_Request requests[], int *index, int *flag,
                 MPI_Status *status)
{
    CKPT_REQUIRE(are_valid(count, requests), NULL,
                 MPI_ERR_REQUEST, "MPI_Testany");
    CKPT_REQUIRE(count >= 0 && index != NULL && flag != NULL, NULL, MPI_ERR_ARG,
                 "MPI_Testany");
    struct progress progress;
    int code = MPI_SUCCESS;
    void *object = NULL;

    ckpt_begin();
    progress = progress_all(count, requests);
    *index = progress.complete > 0 ? first_complete(count, requests)
                                   : MPI_UNDEFINED;
    *flag = progress.active == 0 || progress.complete > 0;
    if (progress.complete > 0) {
        CKPT_INVARIANT(*index >= 0 && *index < count);
        code = collect_one(&requests[*index], status, &object);
    } else if (progress.active == 0) {
        give_status(status, &ckpt_empty_status);
    }
    if (__builtin_expect(ckpt_pending, 0)) {
        *flag ? ckpt_poll_succeeded() : ckpt_poll_failed();
    }
    CKPT_RETURN(object, code, "MPI_Testany");
}
CKPT_ALIAS(Testany);

int PMPI_Testall(int count, MPI_Request requests[], int *flag,
                 MPI_Status statuses[])
{
    CKPT_REQUIRE(are_valid(count, requests), NULL,
                 MPI_ERR_REQUEST, "MPI_Testall");
    CKPT_REQUIRE(count >= 0 && flag != NULL, NULL, MPI_ERR_ARG, "MPI_Testall");
    struct progress progress;
    int result = MPI_SUCCESS, done;
    void *object = NULL;

    ckpt_begin();
    progress = progress_all(count, requests);
    done = progress.complete == progress.active;
    *flag = done;
    for (int i = 0; done && i < count; i++) {
        MPI_Status *status =
            statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
        int code = MPI_SUCCESS;

        if (is_active(requests[i])) {
            code = collect_one(&requests[i], status, &object);
        } else {
            give_status(status, &ckpt_empty_status);
        }
        if (code != MPI_SUCCESS) {
            result = MPI_ERR_IN_STATUS;
        }
        if (status != MPI_STATUS_IGNORE) {
            status->MPI_ERROR = code;
        }
    }
    if (__builtin_expect(ckpt_pending, 0)) {
        done ? ckpt_poll_succeeded() : ckpt_poll_failed();
    }
    CKPT_RETURN(object, result, "MPI_Testall");
}
CKPT_ALIAS(Testall);

/* Collects all complete requests (MPI_Waitsome, MPI_Testsome). */
static int collect_some(int count, MPI_Request requests[], int *out_count,
                        int indices[], MPI_Status statuses[], void **object)
{
    int result = MPI_SUCCESS;

    *out_count = 0;
    for (int i = 0; i < count; i++) {
        MPI_Status *status;
        int code;

        if (!is_active(requests[i]) || !requests[i]->complete) {
            continue;
        }
        status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE
                                                 : &statuses[*out_count];
        code = collect_one(&requests[i], status, object);
        if (code != MPI_SUCCESS) {
            result = MPI_ERR_IN_STATUS;
        }
        if (status != MPI_STATUS_IGNORE) {
            status->MPI_ERROR = code;
        }
        indices[(*out_count)++] = i;
    }
    return result;
}

int PMPI_Waitsome(int count, MPI_Request requests[], int *out_count,
                  int indices[], MPI_Status statuses[])
{
    CKPT_REQUIRE(are_valid(count, requests), NULL,
                 MPI_ERR_REQUEST, "MPI_Waitsome");
    CKPT_REQUIRE(count >= 0 && out_count != NULL && (indices != NULL || count == 0),
                 NULL, MPI_ERR_ARG, "MPI_Waitsome");
    int code = MPI_SUCCESS;
    void *object = NULL;

    ckpt_begin();
    if (wait_for_some(count, requests) == 0) {
        *out_count = MPI_UNDEFINED;
    } else {
        code = collect_some(count, requests, out_count, indices, statuses,
                            &object);
    }
    CKPT_RETURN(object, code, "MPI_Waitsome");
}
CKPT_ALIAS(Waitsome);

int PMPI_Testsome(int count, MPI_Request requests[], int *out_count,
                  int indices[], MPI_Status statuses[])
{
    CKPT_REQUIRE(are_valid(count, requests), NULL,
                 MPI_ERR_REQUEST, "MPI_Testsome");
    struct progress progress;
    int code = MPI_SUCCESS;
    void *object = NULL;

    if (count < 0 || out_count == NULL || (indices == NULL && count > 0)) {
        return MPI_ERR_ARG; /* Open MPI calls no error handler here */
    }
    ckpt_begin();
    progress = progress_all(count, requests);
    if (progress.active == 0) {
        *out_count = MPI_UNDEFINED;
    } else if (progress.complete == 0) {
        *out_count = 0;
    } else {
        code = collect_some(count, requests, out_count, indices, statuses,
                            &object);
    }
    if (__builtin_expect(ckpt_pending, 0)) {
        *out_count != 0 ? ckpt_poll_succeeded() : ckpt_poll_failed();
    }
    CKPT_RETURN(object, code, "MPI_Testsome");
}
CKPT_ALIAS(Testsome);

int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    CKPT_INSIDE("MPI_Request_get_status");
    CKPT_REQUIRE(request != NULL, NULL, MPI_ERR_REQUEST,
                 "MPI_Request_get_status");
    CKPT_REQUIRE(flag != NULL, NULL, MPI_ERR_ARG, "MPI_Request_get_status");
    if (!is_active(request)) {
        *flag = 1;
        give_status(status, &ckpt_empty_status);
        return MPI_SUCCESS;
    }
    ckpt_begin();
    *flag = ckpt_request_progress(request);
    if (*flag) {
        give_status(status, &request->status);
    }
    if (__builtin_expect(ckpt_pending, 0)) {
        *flag ? ckpt_poll_succeeded() : ckpt_poll_failed();
    }
    CKPT_RETURN(NULL, MPI_SUCCESS, "MPI_Request_get_status");
}
CKPT_ALIAS(Request_get_status);

static int is_message(MPI_Request request)
{
    return request->request_kind == CKPT_REQUEST_SEND ||
           request->request_kind == CKPT_REQUEST_RECEIVE;
}

int PMPI_Request_free(MPI_Request *request_p)
{
    CKPT_REQUIRE(request_p != NULL && *request_p != NULL, NULL, MPI_ERR_REQUEST,
                 "MPI_Request_free");
    MPI_Request request = *request_p;

    if (request == MPI_REQUEST_NULL) {
        return ckpt_error(NULL, MPI_ERR_REQUEST, "MPI_Request_free");
    }
    ckpt_begin();
    if (request->persistent && !is_message(request)) {
        CKPT_INVARIANT(request->request_kind == CKPT_REQUEST_COLLECTIVE ||
                       request->request_kind == CKPT_REQUEST_PARTITIONED);
        int code = request->request_kind == CKPT_REQUEST_COLLECTIVE
                       ? ckpt_persistent_free(request_p)
                       : ckpt_partitioned_free(request_p);

        CKPT_RETURN(NULL, code, "MPI_Request_free");
    }
    if (request->persistent) {
        request->persistent = 0;
        if (!(request->active &&
              request->request_kind == CKPT_REQUEST_RECEIVE)) {
            ckpt_drop(request->datatype); /* else when the request is retired */
            ckpt_drop(request->communicator);
        }
    }
    if (request->active && !ckpt_request_progress(request)) {
        ckpt_request_forget(request);
    } else if (request->request_kind == CKPT_REQUEST_GENERALIZED) {
        end_freed_generalized(request);
    } else {
        ckpt_request_retire(request);
    }
    *request_p = MPI_REQUEST_NULL;
    CKPT_RETURN(NULL, MPI_SUCCESS, "MPI_Request_free");
}
CKPT_ALIAS(Request_free);

int PMPI_Cancel(MPI_Request *request_p)
{
    CKPT_REQUIRE(request_p != NULL && *request_p != NULL, NULL, MPI_ERR_REQUEST,
                 "MPI_Cancel");
    MPI_Request request = *request_p;
    int code = MPI_SUCCESS;

    CKPT_REQUIRE(request != MPI_REQUEST_NULL, NULL, MPI_ERR_REQUEST,
                 "MPI_Cancel");
    if (!is_active(request)) {
        return MPI_SUCCESS; /* nothing to cancel */
    }
    ckpt_begin();
    if (request->request_kind == CKPT_REQUEST_GENERALIZED) {
        struct ckpt_callback outer;

        ckpt_callback_enter(&outer);
        code = request->generalized->cancel(request->generalized->extra,
                                            request->complete);
        ckpt_callback_leave(&outer);
    } else {
        code = ckpt_request_cancel(request);
    }
    CKPT_RETURN(NULL, code, "MPI_Cancel");
}
CKPT_ALIAS(Cancel);

int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    CKPT_INSIDE("MPI_Test_cancelled");
    CKPT_REQUIRE(flag != NULL && status != MPI_STATUS_IGNORE, NULL, MPI_ERR_ARG,
                 "MPI_Test_cancelled");
    *flag = status->_cancelled;
    return MPI_SUCCESS;
}
CKPT_ALIAS(Test_cancelled);

/* Generalized requests (MPI 3.1, section 12.2) exist only in the upper half. */

int PMPI_Grequest_start(MPI_Grequest_query_function *query,
                        MPI_Grequest_free_function *free_function,
                        MPI_Grequest_cancel_function *cancel, void *extra,
                        MPI_Request *request_p)
{
    CKPT_REQUIRE(request_p != NULL, NULL, MPI_ERR_REQUEST,
                 "MPI_Grequest_start");
    struct ckpt_generalized *functions = malloc(sizeof(*functions));
    MPI_Request request;

    ckpt_begin();
    request = ckpt_request_new(CKPT_REQUEST_GENERALIZED, "MPI_Grequest_start",
                               CKPT_SITE);
    if (functions == NULL || request == NULL) {
        free(functions);
        CKPT_RETURN(NULL, MPI_ERR_NO_MEM, "MPI_Grequest_start");
    }
    *functions =
        (struct ckpt_generalized){query, free_function, cancel, extra};
    request->generalized = functions;
    request->communicator = NULL;
    request->status = ckpt_empty_status;
    request->status._cancelled = 0;
    ckpt_request_activate(request);
    *request_p = request;
    CKPT_RETURN(NULL, MPI_SUCCESS, "MPI_Grequest_start");
}
CKPT_ALIAS(Grequest_start);

int PMPI_Grequest_complete(MPI_Request request)
{
    CKPT_INSIDE("MPI_Grequest_complete");
    CKPT_REQUIRE(request != NULL, NULL, MPI_ERR_REQUEST,
                 "MPI_Grequest_complete");
    if (!is_active(request) ||
        request->request_kind != CKPT_REQUEST_GENERALIZED) {
        return ckpt_error(NULL, MPI_ERR_REQUEST, "MPI_Grequest_complete");
    }
    request->code = MPI_SUCCESS;
    if ((request->handle.flags & CKPT_HANDLE_FREED) == 0) {
        request->complete = 1;
        return MPI_SUCCESS;
    }
    ckpt_begin();
    end_freed_generalized(request);
    CKPT_RETURN(NULL, MPI_SUCCESS, "MPI_Grequest_complete");
}
CKPT_ALIAS(Grequest_complete);
