/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * events SEED STOP_FILE - a random program that logs its events with vector
 * clocks, until STOP_FILE exists.
 *
 * The seed determines one sequence of acts: a message, some messages, a
 * collective; each involves some of the ranks and says how they take part.
 * Every rank goes through the sequence, takes part where it is involved, and
 * skips the rest. So the ranks are as far from each other as their receives
 * permit, and a checkpoint finds messages of all kinds under way.
 *
 * The program cannot deadlock, however little the library buffers (and even if
 * each send is synchronous). A rank never waits for an act that comes later in
 * the sequence. Consider the earliest act that some rank waits for: all ranks
 * involved in it have reached it, or will. Three rules ensure this.
 *   - A receive gets the message that is meant for it: receives from a named
 *     rank are posted in the order of the acts, and messages do not overtake.
 *   - A receive from any source takes any message. So on WILD a rank gets
 *     messages only from ranks that it has invited, and invites again only when
 *     it has received all of them. (Otherwise a message of a later act could
 *     take the receive of an earlier one, and the receiver and the earlier
 *     act's sender would wait for each other.)
 *   - A message on POOL and PROBED belongs to no act of the receiver: it is
 *     received in passing, and neither end waits for it before the end.
 */
#include "collective.h"
#include "message.h"
#include "unexpected.h"

#include <unistd.h>

#define MOST_IN_ACT    (2 * world_size + 8) /* operations of a rank */
#define MOST_UNDUE     24                   /* messages under way that no rank waits for */
#define ACTS_PER_CALL  32                   /* in which all learn whether to go on */
#define CALLS_PER_LINE 2                    /* of progress output */

static uint64_t seed;
static volatile uint64_t result; /* of computation */

/* A number that the seed determines for an act: the same for all ranks, below
 * `bound`. */
static int draw(uint64_t act, uint64_t what, uint64_t bound)
{
    return (int)(mix4(seed, act, what, 0) % bound);
}

/* Does the same for this rank only. */
static uint64_t draw_own(uint64_t act, uint64_t what)
{
    return mix4(seed, act, what, (uint64_t)world_rank + 1);
}

/* The numbers drawn for an act; several of the last two. */
enum question {
    KIND,
    WHO,
    WHOM,
    HOW_MANY,
    WHICH,
    WAY,
    LENGTH,
    PAUSE,
    LOOK,
    COMPLETE,
    MESSAGE = 100,
    INVITED = 10000
};

/* Most messages are short; others are about as long as a library's eager limit,
 * or longer. */
static int draw_extra(uint64_t act, uint64_t what)
{
    static const int extra[] = {0, 8, 100, 1000, 3500, 3800, 3900, 5000,
                                0, 1, 30, 700, 20000, 65536, 100000, 16};

    return extra[draw(act, what, 16)];
}

/* Message k of an act, between two ranks. */
static struct envelope draw_message(uint64_t act, int k, int from, int to)
{
    uint64_t base = MESSAGE + 10 * (uint64_t)k;
    int comm = draw(act, base, NAMED_COMMUNICATORS);

    if (!is_member(comm, from) || !is_member(comm, to)) {
        comm = WORLD;
    }
    return (struct envelope){.comm = comm,
                             .tag = draw(act, base + 1, TAGS),
                             .extra = draw_extra(act, base + 2)};
}

/* The act before which an operation must be completed. */
static uint64_t draw_due(uint64_t act, int k)
{
    return act + 1 + draw_own(act, MESSAGE + 10 * (uint64_t)k + 3) % 40;
}

static void send_one(uint64_t act, int k, struct envelope message, int to)
{
    uint64_t way = draw_own(act, MESSAGE + 10 * (uint64_t)k + 4) % SEND_WAYS;

    message.peer = to;
    message_send(message, way, draw_due(act, k));
}

static void receive_one(uint64_t act, int k, struct envelope message, int from,
                        enum receive_way way)
{
    message.peer = from;
    if (draw_own(act, MESSAGE + 10 * (uint64_t)k + 5) % 4 == 0) {
        message.tag = MPI_ANY_TAG;
    }
    message_receive(message, way, draw_due(act, k));
}

/* Draws another rank than the one drawn as WHO. */
static int draw_other(uint64_t act, int who)
{
    int others = world_size - 1;

    return (who + 1 + draw(act, WHOM, (uint64_t)others)) % world_size;
}

/* Sends one or more messages from one rank to another. */
static void act_messages(uint64_t act, int number)
{
    int from = draw(act, WHO, (uint64_t)world_size);
    int to = draw_other(act, from);

    for (int k = 0; k < number; k++) {
        struct envelope message = draw_message(act, k, from, to);

        if (world_rank == from) {
            send_one(act, k, message, to);
        } else if (world_rank == to) {
            enum receive_way way = draw_own(act, WAY) % RECEIVE_WAYS;

            receive_one(act, k, message, from, number > 1 ? IRECV : way);
        }
    }
}

/* Whether a rank is invited in act_invitation. */
static int is_invited(uint64_t act, int rank, int host)
{
    return rank != host && draw(act, INVITED + (uint64_t)rank, 3) > 0;
}

/* The host invites some ranks to send it a message, and receives from any
 * source. */
static void act_invitation(uint64_t act)
{
    int host = draw(act, WHO, (uint64_t)world_size), number = 0;
    enum receive_way way = draw_own(act, WAY) % RECEIVE_WAYS;
    struct envelope answer = {.comm = WILD};

    if (world_rank == host) {
        pending_complete_on(WILD, draw_own(act, COMPLETE));
    }
    for (int rank = 0; rank < world_size; rank++) {
        struct envelope invitation = draw_message(act, rank + 1, host, rank);

        if (!is_invited(act, rank, host)) {
            continue;
        }
        number++;
        if (world_rank == host) {
            send_one(act, rank + 1, invitation, rank);
        } else if (world_rank == rank) {
            receive_one(act, rank + 1, invitation, host, RECV);
            answer.tag = draw(act, WHICH, TAGS);
            answer.extra = draw_extra(act, LENGTH);
            send_one(act, 0, answer, host);
        }
    }
    for (int k = 0; world_rank == host && k < number; k++) {
        answer.peer = MPI_ANY_SOURCE;
        answer.tag = MPI_ANY_TAG;
        message_receive(answer, way, draw_due(act, k));
    }
}

static void act_collective(uint64_t act)
{
    enum communicator comm = draw(act, WHICH, NAMED_COMMUNICATORS);

    if (!is_member(comm, world_rank)) {
        return;
    }
    if (draw(act, WAY, 4) == 0) {
        int root = draw(act, WHO, (uint64_t)world_size);

        root = is_member(comm, root) ? root : comm == ODD;
        if (draw(act, LENGTH, 2) == 0) {
            collective_from_later(comm, root, draw_due(act, 0));
        } else {
            CHECK(collective_from(comm, root, act) == act);
        }
    } else {
        collective_all(comm, draw(act, HOW_MANY, COLLECTIVE_WAYS),
                       draw_due(act, 0));
    }
}

/* Sends a message that its receiver, perhaps the sender itself, does not
 * expect. */
static void act_unexpected(uint64_t act)
{
    int from = draw(act, WHO, (uint64_t)world_size);
    int room = pending_test_undue() < MOST_UNDUE;
    struct envelope message = {
        .peer = draw(act, WHOM, (uint64_t)world_size),
        .comm = draw(act, WHICH, 2) ? POOL : PROBED,
        .tag = draw(act, HOW_MANY, TAGS),
        .extra = draw_extra(act, LENGTH),
    };

    if (world_rank == from && room) {
        message_send(message, draw(act, WAY, 4) ? ISEND : ISSEND, NEVER);
    }
}

/* Receives unexpected messages. */
static void look_around(uint64_t random)
{
    pool_test();
    for (int most = 8; most > 0 && unexpected_take(PROBED, random); most--) {
    }
    (void)pending_test_undue();
}

/* Computes for some milliseconds at times, mostly not at all. */
static void compute(uint64_t random)
{
    uint64_t most = random % 64 == 0 ? 2000000 : random % 8 == 0 ? 50000
                                                                 : 1;

    for (uint64_t i = mix(random) % most; i > 0; i--) {
        result = mix(result);
    }
}

static void perform(uint64_t act)
{
    int kind = draw(act, KIND, 100);

    pending_complete(act, MOST_IN_ACT, draw_own(act, COMPLETE));
    compute(draw_own(act, PAUSE));
    if (draw_own(act, LOOK) % 8 == 0) {
        look_around(draw_own(act, LOOK + MESSAGE));
    }
    if (kind < 45) {
        act_messages(act, 1);
    } else if (kind < 60) {
        act_messages(act, 2 + draw(act, HOW_MANY, 5));
    } else if (kind < 70) {
        act_invitation(act);
    } else if (kind < 95) {
        act_unexpected(act);
    } else {
        act_collective(act);
    }
}

/* Rank 0 broadcasts whether the file exists. */
static int is_last(uint64_t act, const char *stop_file)
{
    uint64_t call = act / ACTS_PER_CALL, last = 0;

    if (world_rank == 0) {
        last = access(stop_file, F_OK) == 0;
        if (call % CALLS_PER_LINE == 0) {
            printf("step %" PRIu64 "\n", act);
            fflush(stdout);
        }
    }
    return (int)collective_from(WORLD, 0, last);
}

/* Receives all messages still under way, once all ranks know their number; and
 * then any others, which would be an error. */
static void finish(void)
{
    uint64_t counts[2][MAX_RANKS];

    pending_complete_all(draw_own(0, COMPLETE));
    for (int i = 0; i < 2; i++) {
        for (int rank = 0; rank < world_size; rank++) {
            counts[i][rank] = messages_sent(i == 0 ? POOL : PROBED, rank);
        }
        MPI_Allreduce(MPI_IN_PLACE, counts[i], world_size, MPI_UINT64_T,
                      MPI_SUM, MPI_COMM_WORLD);
    }
    while (messages_received(POOL) < counts[0][world_rank] ||
           messages_received(PROBED) < counts[1][world_rank] ||
           pending_test_undue() > 0) {
        look_around(messages_received(PROBED));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    pool_close();
    for (int i = 0; i < COMMUNICATORS; i++) {
        while (is_member(i, world_rank) && unexpected_take(i, 0)) {
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t act = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    CHECK(world_size >= 2 && world_size <= MAX_RANKS && argc > 2);
    seed = (uint64_t)number_argument(argc, argv, 1, 0);
    make_communicators();
    log_open();
    pool_open();
    while (act % ACTS_PER_CALL != 0 || !is_last(act, argv[2])) {
        perform(act++);
    }
    finish();
    log_close();
    free_communicators();
    if (world_rank == 0) {
        printf("OK events\n");
    }
    MPI_Finalize();
    return 0;
}
