/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_journal.c - when this process records changes of files, and where.
 *
 * Under `ckpt run` each process of the job records them from its start, because a job
 * that fails before its first checkpoint begins again. Otherwise recording begins
 * with the first checkpoint, whose request names the directory.
 */
#include "cut/image/file_journal.h"

#include "base/text.h"
#include "ckpt/journal.h"
#include "cut/image/own_descriptors.h"
#include "journal/journal.h"
#include "link/rank_page.h"
#include "runtime/runtime.h"
#include "sys/syscall.h"
#include "task/credentials.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char directory[sizeof(((struct ckpt_message *)0)->text)];
static uint64_t mark; /* of the requested checkpoint; 0: it has none */

/* The variable in the program's environment. It is static, so that programs executed
 * later see a directory that this process learns later. */
static char variable[sizeof(CKPT_JOURNAL_VARIABLE "=") + PATH_MAX];

static char output[sizeof(CKPT_JOURNAL_OUTPUT_VARIABLE "=") + 64];

static void tell_children(const char *value)
{
    const size_t name = sizeof(CKPT_JOURNAL_OUTPUT_VARIABLE);

    ckpt_text_format(variable, sizeof(variable), CKPT_JOURNAL_VARIABLE "=%s", value);
    ckpt_text_copy(output, sizeof(output), CKPT_JOURNAL_OUTPUT_VARIABLE "=");
    ckpt_journal_held_output(output + name, sizeof(output) - name);
}

static int is_to_conceal(const char *given)
{
    char path[PATH_MAX];

    return given != NULL && *given != '\0' &&
           ckpt_text_format(path, sizeof(path), "%s/" CKPT_JOURNAL_CONCEALED, given) <
               sizeof(path) &&
           access(path, F_OK) == 0;
}

__attribute__((constructor)) static void open_from_start(void)
{
    const char *given = getenv(CKPT_JOURNAL_VARIABLE);
    struct ckpt_failure failure = {0};

    ckpt_journal_hold_output(getenv(CKPT_JOURNAL_OUTPUT_VARIABLE));
    tell_children(given == NULL ? "" : given);
    (void)pthread_atfork(NULL, NULL, ckpt_journal_forked);
    if (putenv(variable) != 0 || putenv(output) != 0) {
        (void)ckpt_fail(&failure, -ENOMEM, "no memory for the environment");
    } else if (ckpt_journal_prepare(&failure) == 0 &&
               (given == NULL || *given == '\0' ||
                ckpt_journal_open(given, -1, NULL, &failure) == 0)) {
        return;
    }
    fprintf(stderr, "ckpt: files will not roll back%s: %s\n",
            is_to_conceal(given) ? ", and outputs are not concealed" : "",
            failure.text);
}

void ckpt_file_journal_told(const struct ckpt_message *request)
{
    mark = request->as.request.files_mark;
    if (mark != 0) {
        (void)ckpt_text_copy(directory, sizeof(directory), request->text);
    }
}

/* Opens the journal late. Without it the program can be saved, but its files do not
 * roll back. */
static void open_late(int rank)
{
    static char line[600];
    static int is_told;
    struct ckpt_failure failure = {0};

    if (ckpt_journal_open(directory, rank, ckpt_own_descriptor,
                          &failure) == 0) {
        tell_children(directory);
    } else if (!is_told) {
        is_told = 1;
        (void)ckpt_sys_write(2, line,
                             ckpt_text_format(line, sizeof(line),
                                              "ckpt: files will not roll back: %s\n",
                                              failure.text));
    }
}

int ckpt_file_journal_mark(struct ckpt_failure *failure)
{
    const int rank = (int)ckpt_rank_page()->rank;

    if (mark == 0) {
        return 0;
    }
    if (!ckpt_journal_is_open()) {
        open_late(rank);
    }
    return ckpt_journal_mark(mark, rank, failure);
}

int ckpt_file_journal_resume(struct ckpt_failure *failure)
{
    const char *given = ckpt_runtime_getenv(CKPT_JOURNAL_VARIABLE);

    const int error = ckpt_journal_resume(given, (int)ckpt_rank_page()->rank,
                                          ckpt_own_descriptor,
                                          ckpt_credentials_are_own(), failure);

    tell_children(given == NULL ? "" : given);
    return error;
}
