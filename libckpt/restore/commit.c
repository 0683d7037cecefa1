/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * commit.c - writes the blob's plan, places the blob, and enters it.
 */
#include "restore/restore.h"

#include "base/invariant.h"
#include "restore/blob_args.h"
#include "restore/restore_state.h"
#include "sys/syscall.h"
#include "process/vdso.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <unistd.h>

/* The bytes of the blob, from blob_image.S. */
extern const unsigned char ckpt_blob_image[];
extern const unsigned char ckpt_blob_image_end[];

#define PAGE            4096u
#define BLOB_STACK_SIZE 65536u
/* Entries beyond one per region: for the blob's area, the message log, and the parts of the
 * vDSO, twice. */
#define EXTRA_ENTRIES 24u

/*
 * The blob's area: code | arguments, plan, resume info, environment | stack. The saved code
 * unmaps all of it.
 */
struct area {
    uint64_t start;
    uint64_t end;
    uint64_t code_size; /* whole pages */
    uint64_t next;      /* first byte not yet allocated */
    size_t entries;     /* length of each list of the plan */

    struct ckpt_blob_args *args;
    struct ckpt_range *kept;
    struct ckpt_blob_move *moves;
    struct ckpt_blob_map *maps;
    struct ckpt_blob_protection *protections;
    struct ckpt_range *lazy;
    struct ckpt_resume_info *info;
};

static uint64_t round_to_pages(uint64_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE;
}

static void *take(struct area *area, size_t size)
{
    void *memory = (void *)area->next;

    area->next += (size + 15) & ~(size_t)15;
    CKPT_INVARIANT((uint64_t)memory % 16 == 0 && area->next <= area->end - BLOB_STACK_SIZE);
    return memory;
}

static uint64_t environment_size(char *const environment[])
{
    uint64_t size = 2 * sizeof(char *) + 32;

    for (size_t i = 0; environment[i] != NULL; i++) {
        size += sizeof(char *) + strlen(environment[i]) + 1;
    }
    return size;
}

static void copy_environment(struct area *area, char *const environment[])
{
    size_t count = 0;
    char **copies;

    while (environment[count] != NULL) {
        count++;
    }
    copies = take(area, (count + 1) * sizeof *copies);
    area->info->environment = (uint64_t)copies;
    for (size_t i = 0; i < count; i++) {
        copies[i] = (char *)area->next;
        area->next += strlen(environment[i]) + 1;
        strcpy(copies[i], environment[i]);
    }
    CKPT_INVARIANT(area->next <= area->end - BLOB_STACK_SIZE);
    copies[count] = NULL;
}

static int open_area(struct ckpt_restore *restore, char *const environment[],
                     struct area *area, struct ckpt_failure *failure)
{
    uint64_t blob_size = (uint64_t)(ckpt_blob_image_end - ckpt_blob_image);
    size_t entries = restore->snapshot.region_count + EXTRA_ENTRIES;
    uint64_t data_size =
        sizeof *area->args + sizeof *area->info +
        entries * (sizeof *area->kept + sizeof *area->moves +
                   sizeof *area->maps + sizeof *area->protections + sizeof *area->lazy) +
        9 * 16 + environment_size(environment);
    uint64_t size;
    int error;

    area->entries = entries;
    area->code_size = round_to_pages(blob_size);
    size = area->code_size + round_to_pages(data_size) + BLOB_STACK_SIZE;
    CKPT_INVARIANT(blob_size > 0 && size > area->code_size + BLOB_STACK_SIZE);
    error = ckpt_restore_map(restore, size, &area->start, failure);
    if (error != 0) {
        return error;
    }
    area->end = area->start + size;
    area->next = area->start + area->code_size;
    memcpy((void *)area->start, ckpt_blob_image, blob_size);
    if (mprotect((void *)area->start, area->code_size, PROT_READ | PROT_EXEC) !=
        0) {
        return ckpt_fail(failure, -errno, "cannot make code executable: %s",
                         strerror(errno));
    }
    area->args = take(area, sizeof *area->args);
    area->info = take(area, sizeof *area->info);
    area->kept = take(area, entries * sizeof *area->kept);
    area->moves = take(area, entries * sizeof *area->moves);
    area->maps = take(area, entries * sizeof *area->maps);
    area->protections = take(area, entries * sizeof *area->protections);
    area->lazy = take(area, entries * sizeof *area->lazy);
    *area->args = (struct ckpt_blob_args){
        .kept = area->kept,
        .moves = area->moves,
        .maps = area->maps,
        .protections = area->protections,
        .lazy = area->lazy,
        .address_limit = CKPT_SPACE_END,
        .info = area->info,
    };
    return 0;
}

static void keep(struct area *area, uint64_t start, uint64_t end)
{
    CKPT_INVARIANT(area->args->kept_count < area->entries && start < end);
    area->kept[area->args->kept_count++] = (struct ckpt_range){start, end};
}

/* The message log keeps its address; the saved code unmaps it. */
static void keep_message_log(const struct ckpt_restore *restore,
                             struct area *area)
{
    area->info->message_log = restore->message_log;
    area->info->message_log_size = restore->message_log_size;
    if (restore->message_log != 0) {
        keep(area, restore->message_log,
             restore->message_log + round_to_pages(restore->message_log_size));
    }
}

static void move(struct area *area, uint64_t from, uint64_t to, uint64_t size)
{
    CKPT_INVARIANT(area->args->move_count < area->entries);
    CKPT_INVARIANT(from % PAGE == 0 && to % PAGE == 0 && size % PAGE == 0 && size > 0);
    area->moves[area->args->move_count++] =
        (struct ckpt_blob_move){from, to, size};
}

static int compare_ranges(const void *left, const void *right)
{
    const struct ckpt_range *a = left;
    const struct ckpt_range *b = right;

    return (a->start > b->start) - (a->start < b->start);
}

static void move_vdso(const struct ckpt_restore *restore, struct area *area,
                      uint64_t to)
{
    uint64_t now = ckpt_vdso_group_range(&restore->vdso).start;

    for (size_t i = 0; i < restore->vdso.part_count; i++) {
        const struct ckpt_range *part = &restore->vdso.parts[i];

        move(area, part->start, to + (part->start - now),
             part->end - part->start);
    }
}

static int overlap(const struct ckpt_range *a, const struct ckpt_range *b)
{
    return a->start < b->end && b->start < a->end;
}

/*
 * Decides the address of this kernel's vDSO. It is the same in each restart if possible, since
 * a signal handler of the program may have interrupted one of its functions. Otherwise the vDSO
 * moves only if it overlaps saved memory or the range before the saved vDSO.
 */
static int place_vdso(struct ckpt_restore *restore, struct area *area,
                      struct ckpt_failure *failure)
{
    struct ckpt_range group = ckpt_vdso_group_range(&restore->vdso);
    const struct ckpt_range *home = &restore->vdso_home;
    uint64_t image_offset = restore->vdso.image.start - group.start;
    uint64_t final = group.start;

    for (size_t i = 0; i < restore->vdso.part_count; i++) {
        keep(area, restore->vdso.parts[i].start, restore->vdso.parts[i].end);
    }
    if (restore->vdso.is_sealed) {
        /* it stays; check_sealed_vdso() has made sure that nothing else needs its place */
    } else if (restore->vdso_place.start != 0 &&
               !overlap(&group, &restore->vdso_place)) {
        final = restore->vdso_place.start;
        move_vdso(restore, area, final);
    } else if (ckpt_restore_uses(restore, group) || overlap(&group, home)) {
        final = ckpt_space_place(&restore->space, group.end - group.start, 0);
        if (final == 0) {
            return ckpt_fail(failure, -ENOMEM, "no room for the vDSO");
        }
        move_vdso(restore, area, final);
    }
    area->info->vdso = final + image_offset;
    return 0;
}

/*
 * A signal handler of the program may have interrupted a function of the saved vDSO. That
 * function then continues in the saved copy and reads the data pages before it. Zero pages
 * describe a clock without a fast path, so the function makes the system call.
 */
static void plan_vdso_data(const struct ckpt_restore *restore,
                           struct area *area)
{
    const struct ckpt_range data = {
        restore->vdso_home.start, restore->snapshot.layout.vdso_start};

    if (data.start < data.end && !ckpt_restore_uses(restore, data)) {
        CKPT_INVARIANT(area->args->map_count < area->entries);
        area->maps[area->args->map_count++] = (struct ckpt_blob_map){
            .start = data.start,
            .size = data.end - data.start,
            .protection = PROT_READ,
            .flags = MAP_PRIVATE | MAP_ANONYMOUS,
        };
    }
}

/* Redirects calls into the saved vDSO to this kernel's vDSO. The saved vDSO always stays, since
 * the program's clocks differ from the kernel's after a restart. */
static int plan_vdso(struct ckpt_restore *restore, struct area *area,
                     struct ckpt_failure *failure)
{
    const struct ckpt_process_layout *layout = &restore->snapshot.layout;
    const struct ckpt_range *image = &restore->vdso.image;
    uint64_t size = layout->vdso_end - layout->vdso_start;
    void *saved;
    int error;

    if (image->start == 0) {
        return size == 0 ? 0
                         : ckpt_refuse(failure, CKPT_REFUSAL_OTHER_KERNEL, -ENOTSUP,
                                       "this kernel offers no vDSO");
    }
    error = place_vdso(restore, area, failure);
    if (error != 0 || size == 0) {
        return error;
    }
    saved = ckpt_restore_bytes(restore, layout->vdso_start, size);
    if (saved == NULL) {
        return ckpt_refuse(failure, CKPT_REFUSAL_UNUSABLE_CHECKPOINT, -EINVAL,
                           "the image lacks the vDSO");
    }
    plan_vdso_data(restore, area);
    return ckpt_vdso_redirect(saved, size, (const void *)image->start,
                              image->end - image->start, area->info->vdso,
                              failure);
}

/* Plans memory without staged content, which the blob creates in place. */
static void plan_fresh_region(const struct ckpt_region *region,
                              struct area *area)
{
    int sharing =
        region->kind == CKPT_REGION_SHARED ? MAP_SHARED : MAP_PRIVATE;
    int growth = region->kind == CKPT_REGION_STACK ? MAP_GROWSDOWN : 0;

    CKPT_INVARIANT(area->args->map_count < area->entries);
    area->maps[area->args->map_count++] = (struct ckpt_blob_map){
        .start = region->start,
        .size = region->end - region->start,
        .protection = region->protection,
        .flags = (uint64_t)(sharing | growth | MAP_ANONYMOUS | MAP_NORESERVE),
    };
}

static void plan_lazy_region(const struct ckpt_region *region, struct area *area)
{
    plan_fresh_region(region, area);
    CKPT_INVARIANT(area->args->lazy_count < area->entries);
    CKPT_INVARIANT(area->info->lazy_faults >= 0 && area->info->page_server >= 0);
    area->lazy[area->args->lazy_count++] = (struct ckpt_range){region->start, region->end};
}

static void plan_staged_region(const struct ckpt_region *region,
                               const struct ckpt_stage *stage,
                               struct area *area)
{
    uint64_t size = region->end - region->start;
    uint32_t protection = stage->protection;

    keep(area, stage->address, stage->address + size);
    if (region->kind == CKPT_REGION_STACK) {
        protection = PROT_READ | PROT_WRITE;
        CKPT_INVARIANT(area->args->map_count < area->entries);
        area->maps[area->args->map_count++] = (struct ckpt_blob_map){
            .start = region->start,
            .size = size,
            .protection = protection,
            .flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN,
            .source = stage->address,
        };
    } else {
        move(area, stage->address, region->start, size);
    }
    if (region->protection != protection) {
        CKPT_INVARIANT(area->args->protection_count < area->entries);
        area->protections[area->args->protection_count++] =
            (struct ckpt_blob_protection){region->start, size,
                                          region->protection};
    }
}

static int plan_regions(struct ckpt_restore *restore, struct area *area,
                        struct ckpt_failure *failure)
{
    for (uint32_t i = 0; i < restore->snapshot.region_count; i++) {
        const struct ckpt_region *region = &restore->regions[i];
        struct ckpt_stage *stage = &restore->stages[i];
        void *unused;
        int error;

        if (region->kind == CKPT_REGION_FILE_CONTENT) {
            continue; /* the content is in its file */
        }
        if (stage->address == 0 && (region->kind == CKPT_REGION_FILE ||
                                    region->kind == CKPT_REGION_FILE_SHARED)) {
            error = ckpt_restore_stage(restore, i, 0, &unused, failure);
            if (error != 0) {
                return error;
            }
        }
        if (stage->is_lazy) {
            plan_lazy_region(region, area);
        } else if (stage->address == 0) {
            plan_fresh_region(region, area);
        } else {
            plan_staged_region(region, stage, area);
        }
    }
    return 0;
}

/* Makes the auxiliary vector that the kernel shows name the saved vDSO, through which the
 * program reads its clocks. A library that is loaded later then finds it, too. */
static void point_auxv_at_vdso(struct ckpt_restore *restore)
{
    const struct ckpt_process_layout *layout = &restore->snapshot.layout;
    Elf64_auxv_t *entry =
        ckpt_restore_bytes(restore, layout->auxv, layout->auxv_size);

    if (entry == NULL) {
        return;
    }
    for (size_t i = 0; i < layout->auxv_size / sizeof *entry; i++) {
        if (entry[i].a_type == AT_SYSINFO_EHDR) {
            entry[i].a_un.a_val = layout->vdso_start;
        }
    }
}

static void plan_layout(struct ckpt_restore *restore, struct area *area)
{
    const struct ckpt_snapshot *snapshot = &restore->snapshot;
    const struct ckpt_process_layout *layout = &snapshot->layout;
    const char *executable = restore->strings + snapshot->executable;

    point_auxv_at_vdso(restore);
    area->args->layout = (struct prctl_mm_map){
        .start_code = layout->start_code,
        .end_code = layout->end_code,
        .start_data = layout->start_data,
        .end_data = layout->end_data,
        .start_brk = layout->start_brk,
        .brk = layout->brk,
        .start_stack = layout->start_stack,
        .arg_start = layout->arg_start,
        .arg_end = layout->arg_end,
        .env_start = layout->env_start,
        .env_end = layout->env_end,
        .auxv = (__u64 *)layout->auxv,
        .auxv_size = (uint32_t)layout->auxv_size,
        .exe_fd = (uint32_t)open(executable, O_RDONLY | O_CLOEXEC),
    };
    area->args->thread_pointer = snapshot->resume_thread_pointer;
    area->args->resume_entry = snapshot->resume_entry;
    area->args->resume_stack = snapshot->resume_stack;
}

/* Returns 1 if the thread still runs code of this program. A joined thread may remain listed
 * for a moment, but has the exiting flag. */
static int is_running(const char *tid)
{
    const unsigned exiting = 0x4; /* the kernel's PF_EXITING */
    unsigned flags = exiting;
    char text[1024] = "";
    char path[64];
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", tid);
    file = fopen(path, "re");
    if (file != NULL) {
        size_t size = fread(text, 1, sizeof text - 1, file);
        const char *end_of_name = memrchr(text, ')', size);

        if (end_of_name != NULL) {
            sscanf(end_of_name, ") %*c %*d %*d %*d %*d %*d %u", &flags);
        }
        fclose(file);
    }
    return (flags & exiting) == 0;
}

/* Other threads would continue in memory that the blob removes. */
static int check_single_thread(struct ckpt_failure *failure)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    int count = 0;

    if (tasks == NULL) {
        return ckpt_fail(failure, -errno, "cannot read /proc/self/task: %s",
                         strerror(errno));
    }
    while ((entry = readdir(tasks)) != NULL) {
        count += entry->d_name[0] != '.' && is_running(entry->d_name);
    }
    closedir(tasks);
    if (count != 1) {
        return ckpt_refuse(failure, CKPT_REFUSAL_INTERNAL_ERROR, -EBUSY,
                           "the restart program has %d threads instead of one",
                           count);
    }
    return 0;
}

/* glibc reports the address of its area, but not its size: 32 bytes at first, later the size
 * that the kernel requests, in multiples of 32. Returns 0 or -errno. */
static int unregister_rseq(void)
{
    const size_t step = 32;
    const size_t longest = 512;
    char *area = (char *)__builtin_thread_pointer() + __rseq_offset;
    long result = 0;

    if (__rseq_size == 0) {
        return 0; /* not registered */
    }
    for (size_t size = step; size <= longest; size += step) {
        result = ckpt_sys_rseq(area, (uint32_t)size, RSEQ_FLAG_UNREGISTER,
                               RSEQ_SIG);
        if (result != -EINVAL) {
            break;
        }
    }
    return (int)result;
}

/*
 * Withdraws registrations of this program's libc with the kernel for memory that is about to be
 * removed. Signals stay blocked until the saved code sets its mask.
 */
static int withdraw_registrations(struct ckpt_failure *failure)
{
    uint64_t all = ~(uint64_t)0;
    uint64_t old;
    int error;

    ckpt_sys_sigprocmask(SIG_SETMASK, &all, &old);
    error = unregister_rseq();
    if (error != 0) {
        ckpt_sys_sigprocmask(SIG_SETMASK, &old, NULL);
        return ckpt_fail(failure, error,
                         "cannot unregister restartable sequences: %s",
                         strerror(-error));
    }
    ckpt_sys_set_robust_list(NULL, 3 * sizeof(void *));
    ckpt_sys_set_tid_address(NULL);
    return 0;
}

static void __attribute__((noreturn)) enter_blob(const struct area *area)
{
    __asm__ volatile("mov %0, %%rsp\n\t"
                     "call *%1\n\t"
                     "ud2"
                     :
                     : "r"(area->end), "r"(area->start), "D"(area->args)
                     : "memory");
    __builtin_unreachable();
}

/* The blob removes everything between these ranges. */
static void require_disjoint(const struct ckpt_blob_args *args)
{
    CKPT_INVARIANT(args->kept_count > 0);
    for (uint64_t i = 1; i < args->kept_count; i++) {
        CKPT_INVARIANT(args->kept[i - 1].end <= args->kept[i].start);
    }
}

int ckpt_restore_commit(struct ckpt_restore *restore, char *const environment[],
                        const struct ckpt_resume_info *info,
                        struct ckpt_failure *failure)
{
    struct area area = {0};
    int error;

    error = check_single_thread(failure);
    if (error != 0) {
        return error;
    }
    error = open_area(restore, environment, &area, failure);
    if (error != 0) {
        return error;
    }
    *area.info = *info;
    area.info->retained_start = area.start;
    area.info->retained_end = area.end;
    area.info->lazy_faults = restore->lazy_faults;
    area.info->page_server = restore->page_server;
    copy_environment(&area, environment);
    keep(&area, area.start, area.end);
    keep_message_log(restore, &area);
    error = plan_vdso(restore, &area, failure);
    if (error == 0) {
        error = plan_regions(restore, &area, failure);
    }
    if (error == 0) {
        plan_layout(restore, &area);
        qsort(area.kept, area.args->kept_count, sizeof *area.kept,
              compare_ranges);
        require_disjoint(area.args);
        error = ckpt_unsound_refuse(failure);
    }
    if (error == 0) { /* nothing fails from here on */
        error = withdraw_registrations(failure);
    }
    if (error != 0) {
        munmap((void *)area.start, area.end - area.start);
        return error;
    }
    enter_blob(&area);
}
