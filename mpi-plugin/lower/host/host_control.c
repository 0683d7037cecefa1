/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_control.c - send commands to the agent, as `ckpt` does.
 */
#include "config.h"
#include "lower/host/host_control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Parts of the line with the agent's final answer. Inside a string value the
 * quotation marks would have a backslash. */
#define DONE     "\"event\":\"result\""
#define NOT_DONE "\"event\":\"error\""
#define NAME     "\"name\":\""
#define REASON   "\"error\":\""

/* Connects to the control socket. flags: SOCK_NONBLOCK if the caller must not
 * wait for an agent that accepts no connections. Returns a descriptor or
 * -errno. */
static int open_control(const char *path, int flags)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd, error;

    if (strlen(path) >= sizeof(address.sun_path)) {
        return -ENAMETOOLONG;
    }
    strcpy(address.sun_path, path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    if (fd < 0) {
        return -errno;
    }
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        error = -errno;
        close(fd);
        return error;
    }
    return fd;
}

/* Sends a line, which fits into an empty socket buffer. Returns 0 or -errno. */
static int send_line(int fd, const char *line)
{
    const ssize_t sent = send(fd, line, strlen(line), MSG_NOSIGNAL);

    return sent < 0 ? -errno : (size_t)sent == strlen(line) ? 0
                                                            : -EMSGSIZE;
}

int ckpt_host_control_tell(const char *path, const char *line)
{
    const int fd = open_control(path, SOCK_NONBLOCK);
    int error;

    if (fd < 0) {
        return fd;
    }
    error = send_line(fd, line);
    close(fd);
    return error;
}

/* Copies the string after `start` to `text`; "" if `start` is not in the
 * line. */
static void copy_text(const char *line, const char *start, char *text, size_t size)
{
    const char *from = strstr(line, start);
    size_t length = 0;

    from = from == NULL ? "" : from + strlen(start);
    for (; *from != '\0' && *from != '"' && length + 1 < size; from++) {
        if (*from == '\\' && from[1] != '\0') {
            from++;
        }
        text[length++] = *from;
    }
    text[length] = '\0';
}

/* Reads lines up to the final answer. */
static int await_answer(FILE *agent, char *text, size_t size)
{
    char *line = NULL;
    size_t room = 0;
    int answer = -EPIPE; /* the agent has died */

    while (answer == -EPIPE && getline(&line, &room, agent) >= 0) {
        if (strstr(line, DONE) != NULL) {
            copy_text(line, NAME, text, size);
            answer = 0;
        } else if (strstr(line, NOT_DONE) != NULL) {
            copy_text(line, REASON, text, size);
            answer = -ECANCELED;
        }
    }
    free(line);
    return answer;
}

int ckpt_host_control_ask(const char *path, const char *line, char *text,
                          size_t size)
{
    const int fd = open_control(path, 0);
    FILE *agent;
    int error;

    snprintf(text, size, "the agent does not answer");
    if (fd < 0) {
        return fd;
    }
    agent = fdopen(fd, "r");
    if (agent == NULL) {
        close(fd);
        return -ENOMEM;
    }
    error = send_line(fd, line);
    if (error == 0) {
        error = await_answer(agent, text, size);
    }
    fclose(agent);
    return error;
}
