/* SPDX-License-Identifier: BSD-3-Clause */
/* COLLECTIVE: the application has one blocking collective. Each rank enters it as
 * soon as it may, and leaves when all have entered. A rank inside neither sends
 * nor receives, in the application or in the library. It may be cut there if it
 * was inside when all ranks were aligned; its image then is as if it had not
 * entered. */

#ifdef COLLECTIVE
/* A rank's gate is shut from the alignment until its own cut, or until the end of
 * the checkpoint. */
bool armed[RANKS];
bool entered[RANKS];
bool left[RANKS];
bool redo[RANKS]; /* the rank can be cut inside */

#define ALL_OF(list) (list[0] && list[1] && list[2])
#define OUTSIDE(me) (!entered[me] || left[me])
#define CAN_BE_CUT(me) (OUTSIDE(me) || redo[me])
#define IS_ALIGNED (!ALL_OF(entered) || ALL_OF(left))
#define ALL_HAVE_LEFT ALL_OF(left)

/* An open rank has receives that it must pass to the library before it enters.
 * It can do so only when it has all messages that its peers sent before their
 * cuts. */
#define HAS_ALL_OLD(me) \
    (COMPLETE(OTHER(me, 1), me) && COMPLETE(OTHER(me, 2), me))
#define MAY_ENTER(me) \
    (!entered[me] && !armed[me] && (!open[me] || HAS_ALL_OLD(me)))
#define MAY_LEAVE(me) (!OUTSIDE(me) && ALL_OF(entered))
#else
#define OUTSIDE(me) true
#define CAN_BE_CUT(me) true
#define IS_ALIGNED true
#define ALL_HAVE_LEFT true
#endif

/* Called by the coordinator when all ranks are aligned. In d_step. */
inline shut_gates()
{
#ifdef COLLECTIVE
    for (i : 0 .. RANKS - 1) {
        armed[i] = true;
        redo[i] = !OUTSIDE(i)
    }
#endif
    skip
}

inline open_gate(me)
{
#ifdef COLLECTIVE
    armed[me] = false;
#endif
    skip
}
