# SPDX-License-Identifier: BSD-3-Clause
"""What the machine-readable standard does not say.

Functions are named without MPI_.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Collective:
    """A blocking collective operation.

    in_place: the parameter that may be MPI_IN_PLACE, or None.
    consumes: 1 if the call then overwrites its input before it is complete,
        so that it cannot be entered again after a restart.
    """

    in_place: str = None
    consumes: bool = False


_OUT_OF_PLACE = Collective()
_FROM_RECEIVE_BUFFER = Collective("sendbuf", True)

# MPI 3.1, chapter 5 and section 7.6. The nonblocking form of each has an I.
COLLECTIVES = {
    "Barrier": _OUT_OF_PLACE,
    # The root only reads its buffer; the others only write theirs.
    "Bcast": _OUT_OF_PLACE,
    # At the root, the own contribution lies inside the result.
    "Gather": _FROM_RECEIVE_BUFFER,
    "Gatherv": _FROM_RECEIVE_BUFFER,
    # In place means that the root does not receive; its input stays as it is.
    "Scatter": Collective("recvbuf", False),
    "Scatterv": Collective("recvbuf", False),
    # Algorithms rotate the blocks, the own one among them.
    "Allgather": _FROM_RECEIVE_BUFFER,
    "Allgatherv": _FROM_RECEIVE_BUFFER,
    # What is received replaces what is to be sent.
    "Alltoall": _FROM_RECEIVE_BUFFER,
    "Alltoallv": _FROM_RECEIVE_BUFFER,
    "Alltoallw": _FROM_RECEIVE_BUFFER,
    # The result replaces the own operand.
    "Reduce": _FROM_RECEIVE_BUFFER,
    "Allreduce": _FROM_RECEIVE_BUFFER,
    "Reduce_scatter": _FROM_RECEIVE_BUFFER,
    "Reduce_scatter_block": _FROM_RECEIVE_BUFFER,
    "Scan": _FROM_RECEIVE_BUFFER,
    "Exscan": _FROM_RECEIVE_BUFFER,
    # MPI_IN_PLACE is not allowed.
    "Neighbor_allgather": _OUT_OF_PLACE,
    "Neighbor_allgatherv": _OUT_OF_PLACE,
    "Neighbor_alltoall": _OUT_OF_PLACE,
    "Neighbor_alltoallv": _OUT_OF_PLACE,
    "Neighbor_alltoallw": _OUT_OF_PLACE,
}

# Calls of the library that end only when other ranks, or other threads of this
# one, have done something: these go on meanwhile. Functions of which ckpt calls
# another form (MPI_Recv, MPI_Wait ...) and those that only now and then wait for
# the network are not among them.
_MAY_WAIT = re.compile(
    "|".join(
        [
            *COLLECTIVES,
            r"Abort|Finalize|Buffer_detach",
            r"Comm_(accept|connect|create.*|disconnect|dup.*|join|spawn.*|split.*)",
            r"Intercomm_.*",
            r"(Cart|Graph|Dist_graph)_create.*|Cart_sub",
            r"Session_.*",
            r"(Publish|Unpublish|Lookup)_name|(Open|Close)_port",
            r"R?(put|get|accumulate|get_accumulate)|Put|Get|Accumulate|Get_accumulate"
            r"|Fetch_and_op|Compare_and_swap",
            r"Win_(?!.*(attr|name|keyval|errhandler|group|info|2)).*",
            r"File_(?!.*(attr|errhandler|group|info|2)).*",
        ]
    )
)


def may_wait(name):
    return _MAY_WAIT.fullmatch(name) is not None and not name.endswith("_keyval")


# Lengths of arrays of handles that the standard gives in prose only.
ARRAY_LENGTHS = {
    ("Alltoallw", "sendtypes"): "comm->peers",
    ("Alltoallw", "recvtypes"): "comm->peers",
    ("Neighbor_alltoallw", "sendtypes"): "ckpt_out_degree(comm)",
    ("Neighbor_alltoallw", "recvtypes"): "ckpt_in_degree(comm)",
}



@dataclass(frozen=True)
class FileCall:
    """A call on an open file (MPI 3.1, chapter 13).

    collective: all ranks that share the file make it together.
    redo: a rank may be saved inside it. Not while it has access to the file:
        the library may hold a lock on it, which saving would undo (closing any
        descriptor of a file gives up all locks of the process, fcntl(2)).
    moves: it moves the individual pointer.
    shares: it uses the shared pointer.
    """

    collective: bool = False
    redo: bool = False
    moves: bool = False
    shares: bool = False


def _file_calls():
    """By what the names say."""
    calls = {
        "seek": FileCall(moves=True),
        "seek_shared": FileCall(collective=True, shares=True),
        "get_position_shared": FileCall(shares=True),
    }
    for name in ("set_size", "sync"):
        calls[name] = FileCall(collective=True, redo=True)
    calls["preallocate"] = FileCall(collective=True)
    for access in ("read", "write"):
        for start in (access, "i" + access):
            calls[start] = FileCall(moves=True)
            calls[start + "_shared"] = FileCall(shares=True)
            calls[start + "_all"] = FileCall(collective=True, moves=True)
            calls[start + "_at_all"] = FileCall(collective=True)
        calls[access + "_ordered"] = FileCall(collective=True, shares=True)
    return {"File_" + name: call for name, call in calls.items()}


FILE_CALLS = _file_calls()

# Access to the memory of a window (MPI 3.1, section 11.3).
REMOTE = (
    "Put",
    "Get",
    "Accumulate",
    "Get_accumulate",
    "Fetch_and_op",
    "Compare_and_swap",
    "Rput",
    "Rget",
    "Raccumulate",
    "Rget_accumulate",
)

# Errors of these go to the handler of MPI_FILE_NULL (MPI 3.1, section 13.7).
ERRORS_TO_FILE_NULL = ("File_delete",)

# MPI_T handles are bound to an MPI object if the variable says so.
TOOL_BINDINGS = {
    "T_cvar_handle_alloc": "ckpt_cvar_bound(cvar_index)",
    "T_pvar_handle_alloc": "ckpt_pvar_bound(pvar_index)",
}

# While a program uses MPI_T it holds handles that no restart can make again.
TOOL_USE = {
    "T_init_thread": "ckpt_tool_opened(CKPT_SITE);",
    "T_finalize": "ckpt_tool_closed();",
}

# Calls that are refused, and why. They return MPI_ERR_UNSUPPORTED_OPERATION.
_CALLBACK = "the lower half cannot call functions of the application"
_SESSION = "the lower half is started by MPI_Init alone"
_PARTITIONED = "partitioned communication cannot be drained"
_PERSISTENT = "persistent collectives cannot be started again after a restart"
_NEW = "of MPI 4; not supported yet"
REFUSED = {
    "Comm_idup_with_info": _NEW,
    "Isendrecv": _NEW,
    "Isendrecv_replace": _NEW,
    "T_event_register_callback": _CALLBACK,
    "T_event_set_dropped_handler": _CALLBACK,
    "T_event_handle_free": _CALLBACK,
    "Session_create_errhandler": _SESSION,
    "Session_call_errhandler": _SESSION,
    "Session_c2f": _SESSION,
    "Session_f2c": _SESSION,
    "Session_finalize": _SESSION,
    "Session_get_errhandler": _SESSION,
    "Session_get_info": _SESSION,
    "Session_get_nth_pset": _SESSION,
    "Session_get_num_psets": _SESSION,
    "Session_get_pset_info": _SESSION,
    "Session_init": _SESSION,
    "Session_set_errhandler": _SESSION,
    "Session_set_info": _SESSION,
    "Group_from_session_pset": _SESSION,
    "Comm_create_from_group": _SESSION,
    "Intercomm_create_from_groups": _SESSION,
    "Parrived": _PARTITIONED,
    "Pready": _PARTITIONED,
    "Pready_list": _PARTITIONED,
    "Pready_range": _PARTITIONED,
    "Precv_init": _PARTITIONED,
    "Psend_init": _PARTITIONED,
    **{f"{name}_init": _PERSISTENT for name in COLLECTIVES},
}

# Functions removed in MPI 3.0 that have the parameters of another one.
SAME_AS = {
    "Type_hindexed": "Type_create_hindexed",
    "Type_hvector": "Type_create_hvector",
    "Type_struct": "Type_create_struct",
}

# Others: kind and direction of each parameter.
PARAMETERS = {
    "Type_extent": (("DATATYPE", "in"), ("XFER_NUM_ELEM", "out")),
    "Type_lb": (("DATATYPE", "in"), ("XFER_NUM_ELEM", "out")),
    "Type_ub": (("DATATYPE", "in"), ("XFER_NUM_ELEM", "out")),
}
