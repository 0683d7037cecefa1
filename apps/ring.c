/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring.c [STEPS] - a bit of everything MPI offers, checked at every step.
 *
 * A token goes round the ring. Ranks send one another a random set of messages,
 * which are received with wildcards. Communicators are split, used and freed.
 * Derived types and a non-commutative operation are used, and all collectives
 * take turns. The answer depends only on the numbers of steps and ranks.
 */
#include "ring_collectives.h"
#include "selfcheck.h"

#define LARGEST         20000 /* bytes of a random message */
#define MAX_MESSAGES    64    /* random messages per step */
#define COLLECTIVES     3     /* per step */
#define STEPS_PER_LINE  250   /* of progress output */
#define STEPS_PER_SPLIT 8     /* lifetime of a sub-communicator */
#define SIDE            6     /* of the matrix whose columns are exchanged */

enum {
    TAG_TOKEN = 1000,
    TAG_COLUMN,
    TAG_RECORD
};

/* A structure with holes, sent as a struct type. */
struct record {
    char letter;
    double value;
    int32_t triple[3];
};

struct ring {
    struct place world;
    struct place half;   /* sub-communicator; MPI_COMM_NULL at first */
    struct place random; /* for messages received with wildcards */
    MPI_Datatype column;
    MPI_Datatype record;
    MPI_Datatype matrix;
    MPI_Op multiply;
    uint64_t token;
    uint64_t sum;
};

/* 2x2 matrices modulo 2^64: associative, not commutative. */
static void multiply(void *left, void *right, int *count, MPI_Datatype *type)
{
    uint64_t *a = left, *b = right;

    (void)type;
    for (int i = 0; i < *count; i++, a += 4, b += 4) {
        uint64_t product[4] = {
            a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
            a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};

        memcpy(b, product, sizeof product);
    }
}

static void make_types(struct ring *ring)
{
    const int lengths[] = {1, 1, 3};
    const MPI_Aint places[] = {offsetof(struct record, letter),
                               offsetof(struct record, value),
                               offsetof(struct record, triple)};
    const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT32_T};
    MPI_Datatype bare;

    MPI_Type_vector(SIDE, 1, SIDE, MPI_UINT64_T, &ring->column);
    MPI_Type_commit(&ring->column);
    MPI_Type_create_struct(3, lengths, places, types, &bare);
    MPI_Type_create_resized(bare, 0, sizeof(struct record), &ring->record);
    MPI_Type_free(&bare);
    MPI_Type_commit(&ring->record);
    MPI_Type_contiguous(4, MPI_UINT64_T, &ring->matrix);
    MPI_Type_commit(&ring->matrix);
    MPI_Op_create(multiply, 0, &ring->multiply);
}

static void free_types(struct ring *ring)
{
    MPI_Type_free(&ring->column);
    MPI_Type_free(&ring->record);
    MPI_Type_free(&ring->matrix);
    MPI_Op_free(&ring->multiply);
}

static int right_of(const struct place *p)
{
    return (p->rank + 1) % p->size;
}

static int left_of(const struct place *p)
{
    return (p->rank + p->size - 1) % p->size;
}

static void pass_token(struct ring *ring)
{
    const struct place *p = &ring->world;
    uint64_t received;
    MPI_Status status;

    MPI_Sendrecv(&ring->token, 1, MPI_UINT64_T, right_of(p), TAG_TOKEN,
                 &received, 1, MPI_UINT64_T, left_of(p), TAG_TOKEN, p->comm,
                 &status);
    CHECK(status.MPI_SOURCE == left_of(p));
    ring->token = mix(received + (uint64_t)p->rank);
    ring->sum += ring->token;
}

/* Message `m` of a step: every rank computes the same list. */
struct message {
    int from;
    int to;
    int bytes;
    uint64_t key;
};

static struct message random_message(const struct place *p, int m)
{
    uint64_t key = mix4(p->step, (uint64_t)m, 77, 0);
    struct message message = {
        .from = (int)(key % (uint64_t)p->size),
        .to = (int)((key >> 16) % (uint64_t)p->size),
        .bytes = (int)((key >> 32) % (key & 8 ? LARGEST : 64)),
        .key = key,
    };

    return message;
}

/* Receives one message from any rank and checks that it is the next one of its
 * sender; latest[] holds the last one of each sender. */
static uint64_t receive_any(const struct place *p, int *latest)
{
    static unsigned char buffer[LARGEST];
    struct message message;
    MPI_Status status;
    int bytes;

    if (p->step % 2 == 0) {
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, p->comm, &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        MPI_Recv(buffer, bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG,
                 p->comm, &status);
    } else {
        MPI_Recv(buffer, LARGEST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
                 p->comm, &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
    }
    CHECK(status.MPI_TAG < MAX_MESSAGES);
    message = random_message(p, status.MPI_TAG);
    CHECK(message.from == status.MPI_SOURCE);
    CHECK(message.to == p->rank);
    CHECK(message.bytes == bytes);
    CHECK(status.MPI_TAG > latest[message.from]);
    CHECK(is_filled(buffer, (size_t)bytes, message.key));
    latest[message.from] = status.MPI_TAG;
    return message.key;
}

static void exchange_random(struct ring *ring)
{
    static unsigned char buffers[MAX_MESSAGES][LARGEST];
    const struct place *p = &ring->random;
    MPI_Request requests[MAX_MESSAGES];
    int latest[MAX_RANKS];
    int count = 3 * p->size;
    int sends = 0, receives = 0;

    CHECK(count <= MAX_MESSAGES);
    memset(latest, -1, sizeof latest);
    for (int m = 0; m < count; m++) {
        struct message message = random_message(p, m);

        if (message.from == p->rank) {
            fill(buffers[sends], (size_t)message.bytes, message.key);
            MPI_Isend(buffers[sends], message.bytes, MPI_BYTE, message.to, m,
                      p->comm, &requests[sends]);
            sends++;
        }
        receives += message.to == p->rank;
    }
    for (int i = 0; i < receives; i++) {
        ring->sum += receive_any(p, latest);
    }
    MPI_Waitall(sends, requests, MPI_STATUSES_IGNORE);
}

static void exchange_columns(struct ring *ring)
{
    const struct place *p = &ring->world;
    uint64_t mine[SIDE][SIDE], theirs[SIDE][SIDE];
    int column = (int)(p->step % SIDE);
    MPI_Request requests[2];

    memset(theirs, 0, sizeof theirs);
    for (int i = 0; i < SIDE; i++) {
        mine[i][column] = mix4(p->step, (uint64_t)p->rank, (uint64_t)i, 1);
    }
    MPI_Irecv(&theirs[0][column], 1, ring->column, right_of(p), TAG_COLUMN,
              p->comm, &requests[0]);
    MPI_Isend(&mine[0][column], 1, ring->column, left_of(p), TAG_COLUMN,
              p->comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < SIDE; i++) {
        CHECK(theirs[i][column] ==
              mix4(p->step, (uint64_t)right_of(p), (uint64_t)i, 1));
        CHECK(theirs[i][(column + 1) % SIDE] == 0);
    }
    ring->sum += checksum(0, theirs, sizeof theirs);
}

static struct record record_of(uint64_t step, int rank, int i)
{
    int32_t base = (int32_t)(step % 100000) * 10 + i;
    struct record record = {.letter = (char)('a' + (rank + i) % 26),
                            .value = (double)base / 8,
                            .triple = {base, rank, -base}};

    return record;
}

static void exchange_records(struct ring *ring)
{
    const struct place *p = &ring->world;
    struct record mine[4], theirs[4];

    for (int i = 0; i < 4; i++) {
        mine[i] = record_of(p->step, p->rank, i);
    }
    MPI_Sendrecv(mine, 4, ring->record, right_of(p), TAG_RECORD, theirs, 4,
                 ring->record, left_of(p), TAG_RECORD, p->comm,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; i++) {
        struct record expected = record_of(p->step, left_of(p), i);

        CHECK(theirs[i].letter == expected.letter);
        CHECK(theirs[i].value == expected.value);
        CHECK(memcmp(theirs[i].triple, expected.triple,
                     sizeof expected.triple) == 0);
    }
}

static void matrix_of(const struct place *p, int rank, uint64_t *matrix)
{
    for (uint64_t i = 0; i < 4; i++) {
        matrix[i] = mix4(p->step, (uint64_t)rank, i, 3);
    }
}

static void multiply_matrices(struct ring *ring)
{
    const struct place *p = &ring->world;
    uint64_t mine[4], product[4], expected[4], factor[4];
    int one = 1;

    matrix_of(p, p->rank, mine);
    MPI_Allreduce(mine, product, 1, ring->matrix, ring->multiply, p->comm);
    matrix_of(p, p->size - 1, expected);
    for (int r = p->size - 2; r >= 0; r--) {
        matrix_of(p, r, factor);
        multiply(factor, expected, &one, NULL);
    }
    CHECK(memcmp(product, expected, sizeof product) == 0);
    ring->sum += product[0];
}

/* Makes a new pair of sub-communicators now and then, and uses this rank's. */
static void use_half(struct ring *ring)
{
    const struct place *p = &ring->world;
    struct place *half = &ring->half;
    uint64_t colour = (p->step / STEPS_PER_SPLIT) % 2 ? (uint64_t)p->rank / 2
                                                      : (uint64_t)p->rank % 2;

    if (p->step % STEPS_PER_SPLIT == 0) {
        if (half->comm != MPI_COMM_NULL) {
            MPI_Comm_free(&half->comm);
        }
        MPI_Comm_split(p->comm, (int)colour, -p->rank, &half->comm);
        MPI_Comm_rank(half->comm, &half->rank);
        MPI_Comm_size(half->comm, &half->size);
    }
    half->step = p->step * 2 + colour;
    ring->sum +=
        run_collective((int)(p->step % (uint64_t)collective_count()), half);
}

static void run_step(struct ring *ring)
{
    uint64_t count = (uint64_t)collective_count();

    ring->random.step = ring->world.step;
    pass_token(ring);
    exchange_random(ring);
    exchange_columns(ring);
    exchange_records(ring);
    use_half(ring);
    /* This also keeps the wildcard receives of two steps apart. */
    multiply_matrices(ring);
    for (uint64_t i = 0; i < COLLECTIVES; i++) {
        ring->sum += run_collective(
            (int)((ring->world.step * COLLECTIVES + i) % count), &ring->world);
    }
}

int main(int argc, char **argv)
{
    struct ring ring = {.half = {.comm = MPI_COMM_NULL}};
    uint64_t steps;

    MPI_Init(&argc, &argv);
    steps = (uint64_t)number_argument(argc, argv, 1, 1000);
    MPI_Comm_dup(MPI_COMM_WORLD, &ring.world.comm);
    MPI_Comm_rank(ring.world.comm, &ring.world.rank);
    MPI_Comm_size(ring.world.comm, &ring.world.size);
    CHECK(ring.world.size <= MAX_RANKS);
    ring.random = ring.world;
    MPI_Comm_dup(MPI_COMM_WORLD, &ring.random.comm);
    ring.token = (uint64_t)ring.world.rank;
    make_types(&ring);

    for (; ring.world.step < steps; ring.world.step++) {
        if (ring.world.rank == 0 && ring.world.step % STEPS_PER_LINE == 0) {
            printf("step %" PRIu64 "\n", ring.world.step);
            fflush(stdout);
        }
        run_step(&ring);
    }

    print_answer(ring.sum);
    if (ring.half.comm != MPI_COMM_NULL) {
        MPI_Comm_free(&ring.half.comm);
    }
    free_types(&ring);
    MPI_Comm_free(&ring.random.comm);
    MPI_Comm_free(&ring.world.comm);
    MPI_Finalize();
    return 0;
}
