/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_orders.c - a frozen copy gets its descriptors, discards what it has not described, and goes
 * on as the program.
 */
#include "process/copy_orders.h"

#include "base/invariant.h"
#include "base/text.h"
#include "memory/undescribed.h"
#include "process/copy_standby.h"
#include "process/vdso_group.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define LIST_SIZE (UINT64_C(16) << 20) /* of all mappings; 65530 are the kernel's default limit */
#define PAGE      UINT64_C(4096)

/* ---- Answers ------------------------------------------------------------------------ */

void ckpt_copy_answer(const struct ckpt_copy_state *state, const struct ckpt_copy_packet *packet,
                      uint32_t type, const struct ckpt_failure *failure)
{
    struct {
        struct ckpt_copy_order order;
        char text[sizeof(failure->text)];
    } said = {.order = {.magic = CKPT_COPY_ORDER_MAGIC,
                        .version = CKPT_COPY_ORDER_VERSION,
                        .type = type,
                        .serial = packet->as.given.order.serial}};
    size_t size = sizeof(said.order);

    if (failure != NULL) {
        said.order.value = failure->identity;
        size += ckpt_text_copy(said.text, sizeof(said.text), failure->text) + 1;
    }
    CKPT_INVARIANT(size <= sizeof(said));
    (void)ckpt_syscall6(SYS_sendto, state->connection, (long)&said, (long)size, MSG_NOSIGNAL, 0,
                        0);
}

/* Closes all descriptors but the connection, which is what a copy has. */
static void close_all(const struct ckpt_copy_state *state)
{
    (void)ckpt_sys_close_range((unsigned)state->connection + 1, UINT_MAX, 0);
    if (state->connection > 0) {
        (void)ckpt_sys_close_range(0, (unsigned)state->connection - 1, 0);
    }
}

static void leave_room(struct ckpt_copy_state *state)
{
    if (state->has_room) {
        (void)ckpt_syscall3(SYS_setrlimit, RLIMIT_NOFILE, (long)&state->room, 0);
        state->has_room = 0;
    }
}

/* Is as before the first order, and says why. A copy that stands has lost what it was. */
static void refuse(struct ckpt_copy_state *state, const struct ckpt_copy_packet *packet,
                   const struct ckpt_failure *failure)
{
    if (state->stands) {
        ckpt_copy_answer(state, packet, CKPT_COPY_REFUSED, failure);
        ckpt_sys_exit_group(1);
    }
    close_all(state);
    leave_room(state);
    ckpt_copy_answer(state, packet, CKPT_COPY_REFUSED, failure);
}

/* ---- PREPARE, DESCRIPTORS ----------------------------------------------------------- */

/* The program may have lowered its limit after it had opened its descriptors. */
static int make_room(struct ckpt_copy_state *state, struct ckpt_failure *failure)
{
    struct rlimit raised;
    long error = ckpt_syscall3(SYS_getrlimit, RLIMIT_NOFILE, (long)&state->room, 0);

    raised = (struct rlimit){state->room.rlim_max, state->room.rlim_max};
    if (error == 0) {
        error = ckpt_syscall3(SYS_setrlimit, RLIMIT_NOFILE, (long)&raised, 0);
    }
    state->has_room = error == 0;
    return error == 0 ? 0
                      : ckpt_fail(failure, (int)error,
                                  "the limit of descriptors cannot be raised: error %l", -error);
}

static int prepare(struct ckpt_copy_state *state, const struct ckpt_copy_packet *packet,
                   const struct ckpt_frozen_copy_calls *calls, struct ckpt_failure *failure)
{
    const struct ckpt_snapshot *snapshot =
        (const struct ckpt_snapshot *)(uintptr_t)packet->as.given.order.value;

    close_all(state); /* an earlier attempt may have been broken off */
    leave_room(state);
    if (calls == NULL || snapshot == NULL || snapshot->magic != CKPT_SNAPSHOT_MAGIC ||
        snapshot->version != CKPT_SNAPSHOT_VERSION) {
        return ckpt_refuse(failure, CKPT_REFUSAL_INTERNAL_ERROR, -EPROTO,
                           "the copy has no description at %x",
                           (unsigned long)packet->as.given.order.value);
    }
    state->snapshot = packet->as.given.order.value;
    return make_room(state, failure);
}

/* Moves a descriptor to `lowest` or above. Returns its number or -errno. */
static int lift(int descriptor, uint64_t lowest)
{
    const long lifted = ckpt_sys_fcntl(descriptor, F_DUPFD_CLOEXEC, (long)lowest);

    if (lifted >= 0) {
        (void)ckpt_sys_close(descriptor);
    }
    return (int)lifted;
}

/* Gives each descriptor its number. The numbers that the kernel has chosen are out of the way
 * first. Returns 0 or -errno. */
static int place_all(struct ckpt_copy_state *state, struct ckpt_copy_packet *packet)
{
    const struct ckpt_copy_descriptor *wanted =
        (const struct ckpt_copy_descriptor *)packet->as.given.tail;
    const uint64_t lowest = packet->as.given.order.value;
    long error = 0;

    CKPT_INVARIANT(packet->descriptor_count <= CKPT_COPY_DESCRIPTORS_MOST);
    for (uint32_t i = 0; i < packet->descriptor_count && error >= 0; i++) {
        packet->descriptors[i] = lift(packet->descriptors[i], lowest);
        error = packet->descriptors[i];
    }
    if (error >= 0 && (uint64_t)state->connection < lowest) {
        error = lift(state->connection, lowest);
        state->connection = error >= 0 ? (int)error : state->connection;
    }
    for (uint32_t i = 0; i < packet->descriptor_count && error >= 0; i++) {
        if (wanted[i].number < 0 || (uint64_t)wanted[i].number >= lowest) {
            return -EPROTO;
        }
        error = ckpt_sys_dup3(packet->descriptors[i], wanted[i].number,
                              (wanted[i].flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
        (void)ckpt_sys_close(packet->descriptors[i]);
    }
    return error < 0 ? (int)error : 0;
}

static int take_descriptors(struct ckpt_copy_state *state, struct ckpt_copy_packet *packet,
                            struct ckpt_failure *failure)
{
    const long tail = packet->size - (long)sizeof(packet->as.given.order);
    const uint32_t count = packet->descriptor_count;
    int error;

    if (state->stands && !state->has_room && make_room(state, failure) != 0) {
        return -EMFILE;
    }
    if (state->snapshot == 0 || count != packet->as.given.order.count ||
        tail != (long)(count * sizeof(struct ckpt_copy_descriptor)) ||
        packet->as.given.order.value > INT_MAX) {
        return ckpt_refuse(failure, CKPT_REFUSAL_TOO_MANY_DESCRIPTORS, -EPROTO,
                           "the copy has got %u of %u descriptors", count,
                           packet->as.given.order.count);
    }
    error = place_all(state, packet);
    return error == 0 ? 0
                      : ckpt_fail(failure, error,
                                  "the copy cannot take a descriptor under its number: error %d",
                                  -error);
}

/* ---- THAW --------------------------------------------------------------------------- */

/* Memory that the rank unmaps when it goes on: struct ckpt_resume_info | addresses of settings |
 * their texts | list of mappings. */
struct area {
    struct ckpt_range range;
    struct ckpt_resume_info *info;
    char *list;
};

/* Reads the environment to `text`. Returns 0 or -errno. */
static int read_environment(int file, char *text, size_t size)
{
    size_t done = 0;

    while (done < size) {
        const long got = ckpt_sys_pread(file, text + done, size - done, (int64_t)done);

        if (got == 0 || (got < 0 && got != -EINTR)) {
            return got == 0 ? -ESTALE : (int)got;
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return size == 0 || text[size - 1] == '\0' ? 0 : -EPROTO;
}

/* Writes the addresses of the settings to `entries`, and NULL. Each setting has a NUL. */
static void list_settings(char *text, size_t size, char **entries)
{
    size_t count = 0;

    for (size_t at = 0; at < size; at += ckpt_text_length(text + at) + 1) {
        entries[count++] = text + at;
    }
    CKPT_INVARIANT(count <= size);
    entries[count] = NULL;
}

static int make_area(int environment, struct area *area, struct ckpt_failure *failure)
{
    struct stat status = {0};
    long error = ckpt_sys_fstat(environment, &status);
    const uint64_t size = (uint64_t)status.st_size;
    const uint64_t entries = (size + 1) * sizeof(char *); /* a setting has at least one byte */
    const uint64_t whole = (sizeof(*area->info) + entries + size + LIST_SIZE + PAGE - 1) & -PAGE;
    char *text;

    if (error == 0 && size > CKPT_COPY_ENVIRONMENT_MOST) {
        error = -E2BIG;
    }
    if (error == 0) {
        error = ckpt_sys_mmap(NULL, whole, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (ckpt_sys_failed(error)) {
        return ckpt_fail(failure, (int)error, "no memory for the environment: error %l", -error);
    }
    area->range = (struct ckpt_range){(uint64_t)error, (uint64_t)error + whole};
    area->info = (struct ckpt_resume_info *)error;
    text = (char *)error + sizeof(*area->info) + entries;
    area->list = text + size;
    error = read_environment(environment, text, size);
    if (error != 0) {
        return ckpt_fail(failure, (int)error, "the environment cannot be read: error %l", -error);
    }
    area->info->environment = (uint64_t)(area->info + 1);
    list_settings(text, size, (char **)(area->info + 1));
    return 0;
}

/* Fills in the rest of what a restart tells the program. */
static void inform(const struct ckpt_copy_packet *packet, const struct area *area)
{
    struct ckpt_resume_info *info = area->info;

    CKPT_INVARIANT(info->environment > area->range.start && info->environment < area->range.end);
    info->retained_start = area->range.start;
    info->retained_end = area->range.end;
    info->restart_started = packet->as.given.order.value;
    info->message_log = 0;
    info->message_log_size = 0;
    info->lazy_faults = -1;
    info->page_server = -1;
    (void)ckpt_text_copy(info->checkpoint, sizeof(info->checkpoint), packet->as.given.tail);
}

/* Lists the mappings before anything moves, and then moves the vDSO. */
static int settle_vdso(const struct ckpt_snapshot *snapshot, const struct area *area,
                       struct ckpt_failure *failure)
{
    const struct ckpt_range saved = {snapshot->layout.vdso_start, snapshot->layout.vdso_end};
    struct ckpt_vdso_group group = {.part_count = 0};
    struct ckpt_mapping mapping;
    char *list = area->list;
    int error = ckpt_mappings_list(list, LIST_SIZE, failure);

    while (error == 0 && ckpt_maps_next(&list, &mapping) > 0) {
        ckpt_vdso_group_add(&group, &mapping);
    }
    if (error == 0) { /* parsing has changed the list */
        error = ckpt_mappings_list(area->list, LIST_SIZE, failure);
    }
    return error == 0 ? ckpt_vdso_group_leave(&group, saved, &area->info->vdso, failure) : error;
}

/* The kernel no longer takes this process first when memory runs out. Returns 0 or -errno. */
static long restore_oom_score(const struct ckpt_copy_state *state)
{
    long fd, result;

    if (state->oom_score_size <= 0) {
        return 0; /* it has not been changed, either */
    }
    fd = ckpt_sys_open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        return fd;
    }
    result = ckpt_sys_write((int)fd, state->oom_score, (size_t)state->oom_score_size);
    (void)ckpt_sys_close((int)fd);
    return result < 0 ? result : 0;
}

static int enter(int directory, struct ckpt_failure *failure)
{
    const long error = ckpt_syscall3(SYS_fchdir, directory, 0, 0);

    return error == 0 ? 0
                      : ckpt_fail(failure, (int)error,
                                  "the working directory cannot be entered: error %l", -error);
}

/* Brings back what belongs to the process. A copy that stays frozen does not need it. */
static int settle_process(const struct ckpt_copy_state *state, int directory,
                          struct ckpt_failure *failure)
{
    long error = enter(directory, failure);

    if (error != 0) {
        return (int)error;
    }
    error = restore_oom_score(state);
    return error == 0 ? 0
                      : ckpt_fail(failure, (int)error,
                                  "the copy cannot set its oom_score_adj: error %l", -error);
}

/* Ends a copy that has lost what it was. */
static __attribute__((noreturn)) void give_up(const struct ckpt_failure *failure)
{
    char line[sizeof(failure->text) + 64];
    const size_t length =
        ckpt_text_format(line, sizeof(line), "ckpt: a copy cannot come to life: %s [%s]\n",
                         failure->text, ckpt_refusal_name(failure->identity));

    (void)ckpt_sys_write(2, line, length);
    ckpt_sys_exit_group(1);
}

/* The part that cannot be undone. `area` and the descriptors are ready. agent: -1 if the copy is to
 * stand. */
static __attribute__((noreturn)) void live(struct ckpt_copy_state *state, const struct area *area,
                                           int agent,
                                           const struct ckpt_frozen_copy_calls *calls)
{
    const struct ckpt_snapshot *snapshot = (const struct ckpt_snapshot *)state->snapshot;
    struct ckpt_failure failure = {0};

    CKPT_INVARIANT(!state->is_released && snapshot->region_count > 0);
    if (ckpt_undescribed_remove(snapshot, area->list, area->range, &failure) != 0) {
        give_up(&failure);
    }
    leave_room(state);
    calls->live(area->info, agent);
}

/* parts: the number of descriptors that the order has to bring */
static int may_live(const struct ckpt_copy_state *state, const struct ckpt_copy_packet *packet,
                    uint32_t parts, const struct ckpt_frozen_copy_calls *calls,
                    struct ckpt_failure *failure)
{
    const long tail = packet->size - (long)sizeof(packet->as.given.order);

    if (calls == NULL || state->snapshot == 0 || packet->descriptor_count != parts || tail < 1 ||
        tail > (long)sizeof(((struct ckpt_resume_info *)0)->checkpoint) ||
        packet->as.given.tail[tail - 1] != '\0') {
        return ckpt_refuse(failure, CKPT_REFUSAL_INTERNAL_ERROR, -EPROTO,
                           "the order to come to life is malformed");
    }
    return calls->may_live(failure);
}

/* Makes the area, and the memory ready for a lower half. */
static int settle_memory(const struct ckpt_copy_state *state,
                         const struct ckpt_copy_packet *packet, int environment,
                         struct area *area, struct ckpt_failure *failure)
{
    const int error = make_area(environment, area, failure);

    if (error != 0) {
        return error;
    }
    inform(packet, area);
    return settle_vdso((const struct ckpt_snapshot *)state->snapshot, area, failure);
}

static void forget_area(const struct area *area)
{
    if (area->info != NULL) {
        (void)ckpt_sys_munmap((void *)area->range.start, area->range.end - area->range.start);
    }
}

/* Returns with the reason if the copy stays frozen. */
static int thaw(struct ckpt_copy_state *state, const struct ckpt_copy_packet *packet,
                const struct ckpt_frozen_copy_calls *calls, struct ckpt_failure *failure)
{
    struct area area = {.info = NULL};
    int error = may_live(state, packet, CKPT_COPY_THAW_PARTS, calls, failure);

    if (error == 0) {
        error = settle_memory(state, packet, packet->descriptors[CKPT_COPY_ENVIRONMENT], &area,
                              failure);
    }
    if (error == 0) {
        error = settle_process(state, packet->descriptors[CKPT_COPY_DIRECTORY], failure);
    }
    if (error != 0) {
        forget_area(&area);
        return error;
    }
    ckpt_copy_answer(state, packet, CKPT_COPY_DONE, NULL);
    (void)ckpt_sys_close(state->connection);
    (void)ckpt_sys_close(packet->descriptors[CKPT_COPY_DIRECTORY]);
    (void)ckpt_sys_close(packet->descriptors[CKPT_COPY_ENVIRONMENT]);
    live(state, &area, packet->descriptors[CKPT_COPY_AGENT], calls);
}

/* ---- STAND, GO ---------------------------------------------------------------------- */

/* Returns with the reason if the copy stays frozen. */
static int stand(struct ckpt_copy_state *state, const struct ckpt_copy_packet *packet,
                 const struct ckpt_frozen_copy_calls *calls, struct ckpt_failure *failure)
{
    struct area area = {.info = NULL};
    int error = may_live(state, packet, CKPT_COPY_STAND_PARTS, calls, failure);

    if (error == 0) {
        error = calls->may_stand(failure);
    }
    if (error == 0) {
        error = settle_memory(state, packet, packet->descriptors[CKPT_COPY_STAND_ENVIRONMENT],
                              &area, failure);
    }
    if (error == 0) {
        error = enter(packet->descriptors[CKPT_COPY_STAND_DIRECTORY], failure);
    }
    if (error != 0) {
        forget_area(&area);
        return error;
    }
    ckpt_copy_answer(state, packet, CKPT_COPY_DONE, NULL);
    (void)ckpt_sys_close(packet->descriptors[CKPT_COPY_STAND_DIRECTORY]);
    (void)ckpt_sys_close(packet->descriptors[CKPT_COPY_STAND_ENVIRONMENT]);
    error = ckpt_copy_standby_begin(state, &packet->as.given.order);
    if (error != 0) {
        (void)ckpt_fail(failure, error, "the connection gives no signal: error %d", -error);
        give_up(failure);
    }
    live(state, &area, -1, calls);
}

static int go(struct ckpt_copy_state *state, const struct ckpt_copy_packet *packet,
              struct ckpt_failure *failure)
{
    int error;

    if (!state->stands || packet->descriptor_count != CKPT_COPY_GO_PARTS) {
        return ckpt_refuse(failure, CKPT_REFUSAL_INTERNAL_ERROR, -EPROTO,
                           "the order to go on is malformed");
    }
    error = settle_process(state, packet->descriptors[CKPT_COPY_GO_DIRECTORY], failure);
    if (error == 0) {
        (void)ckpt_sys_close(packet->descriptors[CKPT_COPY_GO_DIRECTORY]);
        leave_room(state);
        state->agent = packet->descriptors[CKPT_COPY_GO_AGENT];
    }
    return error;
}

/* ---- All orders --------------------------------------------------------------------- */

void ckpt_copy_obey(struct ckpt_copy_state *state, struct ckpt_copy_packet *packet,
                    const struct ckpt_frozen_copy_calls *calls)
{
    const struct ckpt_copy_order *order = &packet->as.given.order;
    struct ckpt_failure failure = {0};
    int error;

    CKPT_INVARIANT(!state->is_released && packet->size >= (long)sizeof(*order));
    if (order->magic != CKPT_COPY_ORDER_MAGIC || order->version != CKPT_COPY_ORDER_VERSION) {
        error = ckpt_refuse(&failure, CKPT_REFUSAL_INTERNAL_ERROR, -EPROTO,
                            "the order to a copy is of another version, %u", order->version);
    } else if (order->type == CKPT_COPY_PREPARE && !state->stands) {
        error = prepare(state, packet, calls, &failure);
    } else if (order->type == CKPT_COPY_DESCRIPTORS) {
        error = take_descriptors(state, packet, &failure);
    } else if (order->type == CKPT_COPY_THAW) {
        error = thaw(state, packet, calls, &failure);
    } else if (order->type == CKPT_COPY_STAND) {
        error = stand(state, packet, calls, &failure);
    } else if (order->type == CKPT_COPY_GO) {
        error = go(state, packet, &failure);
    } else {
        error = ckpt_refuse(&failure, CKPT_REFUSAL_INTERNAL_ERROR, -EPROTO,
                            "the order %u to a copy is unknown", order->type);
    }
    if (error != 0) {
        refuse(state, packet, &failure);
    } else {
        ckpt_copy_answer(state, packet, CKPT_COPY_DONE, NULL);
    }
}
