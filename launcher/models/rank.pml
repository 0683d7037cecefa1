/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank of a protocol that does not stop ranks. The protocol defines
 *   ASKED(me)               something other than a request asks the rank to be cut
 *   be_cut(me)              cuts the rank
 *   SAVES(me)               the rank is cut, and its image is not saved yet
 *   finish_saving(me)       the image is saved
 *   marker_was_sent(me), marker_was_read(me), message_was_logged(me)
 *   forget(me)              the checkpoint is over;
 * if the coordinator may send the counts:
 *   COUNTS_HAVE_COME(me), take_counts(me);
 * if there is a COLLECTIVE: come_out(me);
 * if the orders are not those of coordination.pml: MAY_OBEY(me), obey(me), and
 * CUT_IS_CANCELLED(me), which means that the first order is void.
 */

#define RECEIVES(me, n) \
    d_step { OUTSIDE(me) && ARRIVED(me, n) && ACCEPTS(me, n) -> \
        get_message(me, n) }
#define LOGS(me, n) \
    d_step { OUTSIDE(me) && OLD_ARRIVED(me, n) -> \
        log_message(me, n); message_was_logged(me) }
#define READS_MARKER(me, n) \
    d_step { OUTSIDE(me) && MARKER_READABLE(me, n) -> \
        read_marker(me, n); marker_was_read(me) }

active [RANKS] proctype rank()
{
end_running:
    do
    :: atomic { OUTSIDE(_pid) && MAY_SEND(_pid) -> send_message(_pid) }
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
#ifdef COLLECTIVE
    :: d_step { MAY_ENTER(_pid) -> entered[_pid] = true }
    :: d_step { MAY_LEAVE(_pid) -> left[_pid] = true; come_out(_pid) }
#endif
#ifdef MAY_OBEY
    :: d_step { MAY_OBEY(_pid) -> obey(_pid) }
    :: d_step { CUT_IS_CANCELLED(_pid) -> order[_pid] ? _, _ }
#else
    :: d_step { AWAKE(_pid) && ASKED(_pid) -> be_cut(_pid) }
    :: d_step { REQUESTED(_pid) -> order[_pid] ? REQUEST, _; be_cut(_pid) }
    :: d_step { REQUESTED_TWICE(_pid) -> order[_pid] ? REQUEST, _ }
    :: d_step { SAVES(_pid) -> finish_saving(_pid) }
    :: d_step { IS_OVER(_pid) -> forget(_pid); take_over(_pid) }
#endif
#ifdef COUNTS_HAVE_COME
    :: d_step { COUNTS_HAVE_COME(_pid) -> take_counts(_pid) }
#endif
#ifdef MUTANT_LATE_CUT
    :: d_step { NEW_ARRIVED(_pid, 1) -> get_new(_pid, 1); be_cut(_pid) }
    :: d_step { NEW_ARRIVED(_pid, 2) -> get_new(_pid, 2); be_cut(_pid) }
#endif
    od
}
