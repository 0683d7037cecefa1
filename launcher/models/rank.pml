/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank of a protocol that stops nobody. The protocol defines
 *   ASKED(me)               something beside a request asks it to be cut
 *   be_cut(me)              its cut
 *   SAVES(me)               it is cut and its image is not there yet,
 *   finish_saving(me)       but now it is
 *   marker_was_sent(me), marker_was_read(me), message_was_logged(me)
 *   forget(me)              the checkpoint is over;
 * and, if the coordinator may tell the counts,
 *   COUNTS_HAVE_COME(me), take_counts(me). */

#define RECEIVES(me, n) \
    d_step { ARRIVED(me, n) && ACCEPTS(me, n) -> get_message(me, n) }
#define LOGS(me, n) \
    d_step { OLD_ARRIVED(me, n) -> log_message(me, n); message_was_logged(me) }
#define READS_MARKER(me, n) \
    d_step { MARKER_READABLE(me, n) -> \
        read_marker(me, n); marker_was_read(me) }

active [RANKS] proctype rank()
{
end_running:
    do
    :: atomic { MAY_SEND(_pid) -> send_message(_pid) }
    :: RECEIVES(_pid, 1)
    :: RECEIVES(_pid, 2)
    :: LOGS(_pid, 1)
    :: LOGS(_pid, 2)
    :: READS_MARKER(_pid, 1)
    :: READS_MARKER(_pid, 2)
#if RANKS > 3
    :: RECEIVES(_pid, 3)
    :: LOGS(_pid, 3)
    :: READS_MARKER(_pid, 3)
#endif
    :: d_step { AWAKE(_pid) && ASKED(_pid) -> be_cut(_pid) }
    :: d_step { REQUESTED(_pid) -> order[_pid] ? REQUEST, _; be_cut(_pid) }
    :: d_step { REQUESTED_TWICE(_pid) -> order[_pid] ? REQUEST, _ }
    :: d_step { SAVES(_pid) -> finish_saving(_pid) }
    :: d_step { IS_OVER(_pid) -> forget(_pid); take_over(_pid) }
#ifdef COUNTS_HAVE_COME
    :: d_step { COUNTS_HAVE_COME(_pid) -> take_counts(_pid) }
#endif
#ifdef MUTANT_LATE_CUT
    :: d_step { NEW_ARRIVED(_pid, 1) -> get_new(_pid, 1); be_cut(_pid) }
    :: d_step { NEW_ARRIVED(_pid, 2) -> get_new(_pid, 2); be_cut(_pid) }
#endif
    od
}
