/* SPDX-License-Identifier: BSD-3-Clause */
/* COLLECTIVE: one blocking collective in the life of the application, which all
 * enter as soon as they may and leave when all have entered. A rank that is inside
 * neither sends nor receives, below or above. It may be cut there if it was there
 * when all were aligned: as if it had not entered. */

#ifdef COLLECTIVE
/* From the alignment until its own cut, or the end, a rank's gate is shut. */
bool armed[RANKS];
bool entered[RANKS];
bool left[RANKS];
bool redo[RANKS]; /* it can be cut inside */

#define ALL_OF(list) (list[0] && list[1] && list[2])
#define OUTSIDE(me) (!entered[me] || left[me])
#define CAN_BE_CUT(me) (OUTSIDE(me) || redo[me])
#define IS_ALIGNED (!ALL_OF(entered) || ALL_OF(left))
#define ALL_HAVE_LEFT ALL_OF(left)

/* An open rank has receives that it must give to the library first, and cannot
 * before it has all that was sent before its peers' cuts. */
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

/* For the coordinator, when all are aligned. In d_step. */
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
