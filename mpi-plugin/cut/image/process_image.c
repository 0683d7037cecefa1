/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_image.c - collect the parts of this rank's image.
 */
#include "cut/image/process_image.h"

#include "base/arena.h"
#include "base/invariant.h"
#include "base/text.h"
#include "cut/image/file_content.h"
#include "cut/image/image_fault.h"
#include "cut/image/own_descriptors.h"
#include "cut/participant.h"
#include "files/files.h"
#include "handles/kinds.h"
#include "handles/message_log.h"
#include "handles/window.h"
#include "ipc/system_v.h"
#include "journal/journal.h"
#include "link/rank_page.h"
#include "memory/advice.h"
#include "memory/layout.h"
#include "memory/lazy_pages.h"
#include "memory/maps.h"
#include "memory/regions.h"
#include "runtime/crossing.h"
#include "runtime/runtime.h"
#include "sys/cpu.h"
#include "sys/syscall.h"
#include "sys/thread_pointer.h"
#include "process/attributes.h"
#include "process/children.h"
#include "task/credentials.h"
#include "task/interrupted.h"
#include "task/memory_policy.h"
#include "task/pending.h"
#include "task/process_id.h"
#include "task/program_clock.h"
#include "task/signals.h"
#include "task/thread_attributes.h"
#include "task/timers.h"
#include "process/xsave.h"

#include <errno.h>

#define RANGE_CAPACITY         8192
#define WINDOW_REGION_CAPACITY 3072
#define DESCRIBED_CAPACITY     (WINDOW_REGION_CAPACITY + 1 + CKPT_FILES_CONTENT_REGIONS)
#define PATH_CAPACITY          4096

/* Where the restorer enters the restored process, and with which stack. */
static struct {
    void (*entry)(struct ckpt_resume_info *info);
    void *stack;
} resume;
static struct ckpt_context *goal; /* of the last image */

static struct ckpt_arena arena;
static struct ckpt_snapshot snapshot;
static struct ckpt_range excluded[RANGE_CAPACITY];
static struct ckpt_region described[DESCRIBED_CAPACITY];

/* Lists the memory that is not the application's: the lower half, and the journal's clock. */
static int list_excluded(struct ckpt_failure *failure)
{
    const struct ckpt_range clock = ckpt_journal_excluded();
    int count = ckpt_runtime_lower_ranges(excluded, RANGE_CAPACITY);

    if (count == -EAGAIN) {
        return count;
    }
    if (count < 0 || count >= RANGE_CAPACITY) {
        return ckpt_refuse(failure, CKPT_REFUSAL_TOO_MANY_OBJECTS, -E2BIG,
                           "the MPI library has too many memory regions");
    }
    if (clock.end > clock.start) {
        excluded[count++] = clock;
    }
    return count;
}

/* Lists regions that describe themselves (the memory of windows, the content of files) and
 * the rank page, which keeps its place. Excludes them from the other regions, so that none is
 * listed twice. */
static int list_described(int *excluded_count, struct ckpt_failure *failure)
{
    const struct ckpt_region *contents;
    const size_t content_count = ckpt_files_content_regions(&contents);
    int count;

    ckpt_participants_before_image();
    count = ckpt_windows_regions(described, WINDOW_REGION_CAPACITY);

    if (count < 0 || *excluded_count + count + (int)content_count >= RANGE_CAPACITY) {
        return ckpt_refuse(failure, CKPT_REFUSAL_TOO_MANY_OBJECTS, -E2BIG,
                           "too many windows of shared memory");
    }
    CKPT_INVARIANT(count + 1 + (int)content_count <= DESCRIBED_CAPACITY);
    described[count++] = ckpt_rank_page_region();
    for (size_t i = 0; i < content_count; i++) {
        described[count++] = contents[i];
    }
    for (int i = 0; i < count; i++) {
        excluded[(*excluded_count)++] =
            (struct ckpt_range){described[i].start, described[i].end};
    }
    return count;
}

/* Inserts a region into the list, which is sorted by address and has room. */
static void insert(struct ckpt_region *regions, size_t *count,
                   const struct ckpt_region *region)
{
    size_t i = (*count)++;

    for (; i > 0 && regions[i - 1].start > region->start; i--) {
        regions[i] = regions[i - 1];
    }
    regions[i] = *region;
}

static int list_regions(int excluded_count, struct ckpt_failure *failure)
{
    struct ckpt_region *regions;
    size_t count;
    int more = list_described(&excluded_count, failure), error;

    if (more < 0) {
        return more;
    }
    error = ckpt_regions_scan(&arena, excluded, (size_t)excluded_count,
                              &regions, &count, failure);
    if (error == 0) {
        ckpt_file_content_mark(regions, count);
    }
    for (int i = 0; i < more && error == 0; i++) {
        insert(regions, &count, &described[i]);
    }
    CKPT_INVARIANT(error != 0 || (count >= (size_t)more && count <= UINT32_MAX));
    snapshot.regions = (uint64_t)(uintptr_t)regions;
    snapshot.region_count = (uint32_t)count;
    return error;
}

static const struct ckpt_region *saved_regions(void)
{
    return (const struct ckpt_region *)(uintptr_t)snapshot.regions;
}

void ckpt_process_image_resume(void (*entry)(struct ckpt_resume_info *info), void *stack)
{
    resume.entry = entry;
    resume.stack = stack;
}

struct ckpt_context *ckpt_process_image_goal(void)
{
    return goal;
}

/* A restart maps the regions one by one, in this order. A region that is listed twice would be
 * restored twice, and a restart does not find one that is out of order. */
static void require_disjoint_regions(void)
{
    const struct ckpt_region *regions = saved_regions();

    for (uint32_t i = 0; i < snapshot.region_count; i++) {
        CKPT_INVARIANT(regions[i].start < regions[i].end);
        CKPT_INVARIANT(regions[i].path < arena.strings_used);
        CKPT_INVARIANT(i == 0 || regions[i - 1].end <= regions[i].start);
    }
}

/* What this process knows of its image when it has described itself. */
static int check_image(struct ckpt_failure *failure)
{
    ckpt_image_fault((struct ckpt_region *)(uintptr_t)snapshot.regions,
                     snapshot.region_count, snapshot.rank);
    require_disjoint_regions();
    CKPT_INVARIANT(snapshot.working_directory < snapshot.strings_size &&
                   snapshot.executable < snapshot.strings_size);
    CKPT_INVARIANT(snapshot.file_count == 0 || snapshot.files != 0);
    CKPT_INVARIANT(snapshot.strings_size > 0 && arena.strings[0] == '\0');
    CKPT_INVARIANT(snapshot.resume_stack % 16 == 0);
    return ckpt_unsound_refuse(failure);
}

void ckpt_process_image_settle(void)
{
    ckpt_system_v_settle(saved_regions(), snapshot.region_count);
}

static int list_files(struct ckpt_failure *failure)
{
    struct ckpt_file *files;
    size_t count;
    int error;

    ckpt_files_keep_in(ckpt_runtime_getenv("CKPT_DIR"));
    error = ckpt_files_save(&arena, ckpt_own_descriptor, &files, &count,
                            failure);

    snapshot.files = (uint64_t)(uintptr_t)files;
    snapshot.file_count = (uint32_t)count;
    return error;
}

static void list_threads(void)
{
    const struct ckpt_thread *threads;

    snapshot.thread_count = (uint32_t)ckpt_threads_list(&threads);
    snapshot.threads = (uint64_t)(uintptr_t)threads;
}

static ckpt_string_t link_target(const char *path)
{
    static char target[PATH_CAPACITY];
    long length = ckpt_sys_readlink(path, target, sizeof(target) - 1);

    target[length > 0 ? length : 0] = '\0';
    return ckpt_arena_string(&arena, target);
}

/* Path of the program as it was started: after a restart /proc names ckpt-restart. */
static char executable[PATH_CAPACITY];

int ckpt_process_image_open(void)
{
    long length = ckpt_sys_readlink("/proc/self/exe", executable,
                                    sizeof(executable) - 1);

    executable[length > 0 ? length : 0] = '\0';
    return ckpt_arena_open(&arena);
}

static uint32_t read_umask(void)
{
    uint32_t mask = (uint32_t)ckpt_sys_umask(077);

    (void)ckpt_sys_umask((int)mask);
    return mask;
}

static unsigned live_count(enum ckpt_kind kind)
{
    struct ckpt_handle *handle = ckpt_live(kind);
    unsigned count = 0;

    for (; handle != NULL; handle = ckpt_live_next(handle)) {
        count++;
    }
    return count;
}

/* Writes the numbers of MPI objects and logged messages, for `ckpt inspect`. */
static void summarise(void)
{
    static char text[512];
    uint64_t messages, bytes;

    ckpt_log_totals(&messages, &bytes);
    ckpt_text_format(
        text, sizeof(text),
        "{\"communicators\":%u,\"windows\":%u,\"groups\":%u,\"datatypes\":%u,"
        "\"operations\":%u,\"requests\":%u,\"infos\":%u,"
        "\"error_handlers\":%u,\"files\":%u,\"logged_messages\":%l,\"logged_bytes\":%l}",
        live_count(CKPT_COMM), live_count(CKPT_WIN), live_count(CKPT_GROUP),
        live_count(CKPT_DATATYPE),
        live_count(CKPT_OP), live_count(CKPT_REQUEST), live_count(CKPT_INFO),
        live_count(CKPT_ERRHANDLER), live_count(CKPT_FILE), (long)messages, (long)bytes);
    snapshot.summary = (uint64_t)(uintptr_t)text;
    CKPT_INVARIANT(ckpt_text_ends(text, "}")); /* nothing was cut off */
    snapshot.summary_size = ckpt_text_length(text) + 1;
}

static void describe_process(void)
{
    snapshot.magic = CKPT_SNAPSHOT_MAGIC;
    snapshot.version = CKPT_SNAPSHOT_VERSION;
    snapshot.resume_entry = (uint64_t)(uintptr_t)resume.entry;
    snapshot.resume_stack = (uint64_t)(uintptr_t)resume.stack;
    snapshot.resume_thread_pointer = ckpt_thread_pointer_get();
    ckpt_process_id_save();
    snapshot.pid = (int32_t)ckpt_sys_getpid();
    snapshot.rank = (int32_t)ckpt_rank_page()->rank;
    snapshot.rank_count = (int32_t)ckpt_rank_page()->rank_count;
    CKPT_INVARIANT(snapshot.rank < snapshot.rank_count);
    snapshot.umask = read_umask();
    ckpt_attributes_save();
    snapshot.working_directory = link_target("/proc/self/cwd");
    snapshot.executable = ckpt_arena_string(&arena, executable);
    snapshot.excluded = ckpt_arena_string(&arena, ckpt_participants_excluded());
    ckpt_cpu_read(snapshot.cpu_features);
    ckpt_xsave_read(&snapshot.xsave);
    list_threads();
    summarise();
}

/* Saves pending signals before timers: see ckpt_timers_save(). */
static int list_signals(struct ckpt_failure *failure)
{
    int error = ckpt_pending_save(failure);

    ckpt_signals_save();
    return error != 0 ? error : ckpt_timers_save(&arena, failure);
}

int ckpt_process_image(struct ckpt_context *context,
                       struct ckpt_snapshot **snapshot_p,
                       struct ckpt_failure *failure)
{
    int count, error;

    CKPT_INVARIANT(ckpt_threads_are_frozen());
    error = ckpt_lazy_pages_await(failure);
    if (error != 0) {
        return error;
    }
    ckpt_arena_reset(&arena);
    goal = context;
    ckpt_threads_record_leader();
    ckpt_windows_save();
    count = list_excluded(failure);
    if (count < 0) {
        return count;
    }
    describe_process();
    error = ckpt_threads_check_registers(&snapshot.xsave, failure);
    if (error == 0) {
        error = ckpt_credentials_save(failure);
    }
    if (error == 0) {
        error = ckpt_interrupted_check(failure);
    }
    if (error == 0) {
        error = ckpt_thread_attributes_save(failure);
    }
    if (error == 0) {
        error = ckpt_process_layout_read(&arena, &snapshot.layout, failure);
    }
    if (error == 0) {
        error = ckpt_system_v_save(&arena, failure);
    }
    if (error == 0) {
        error = ckpt_children_refuse(&arena, ckpt_lower.owns_process, failure);
    }
    if (error == 0) {
        error = list_signals(failure);
    }
    if (error == 0) {
        error = list_files(failure);
    }
    ckpt_clock_stop(); /* after the timers' remaining times are read: no timer ends early */
    if (error == 0) {
        error = ckpt_file_content_save(failure);
    }
    if (error == 0) {
        error = ckpt_memory_policy_save(&arena, excluded, (size_t)count, failure);
    }
    if (error == 0) {
        error = ckpt_advice_save(&arena, excluded, (size_t)count, failure);
    }
    if (error == 0) { /* last: includes what the others put into the arena */
        error = list_regions(count, failure);
    }
    if (error == 0) {
        error = ckpt_system_v_require_attached(
            saved_regions(), snapshot.region_count, failure);
    }
    snapshot.strings = (uint64_t)(uintptr_t)arena.strings;
    snapshot.strings_size = arena.strings_used;
    *snapshot_p = &snapshot;
    return error == 0 ? check_image(failure) : error;
}

void ckpt_site_name(const void *site, char *text, size_t size)
{
    struct ckpt_failure ignored;
    struct ckpt_mapping mapping;
    const uint64_t address = (uint64_t)(uintptr_t)site;
    char *maps;
    size_t length;

    ckpt_text_format(text, size, "0x%x", (unsigned long)address);
    ckpt_arena_reset(&arena);
    if (ckpt_proc_read(&arena, "/proc/self/maps", &maps, &length, &ignored) != 0) {
        return;
    }
    while (ckpt_maps_next(&maps, &mapping) == 1) {
        if (address >= mapping.start && address < mapping.end) {
            ckpt_text_format(text, size, "%s+0x%x", mapping.name,
                             (unsigned long)(address - mapping.start +
                                             mapping.file_offset));
            return;
        }
    }
}
