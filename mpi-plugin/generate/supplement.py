# SPDX-License-Identifier: BSD-3-Clause
"""Facts about MPI functions that the machine-readable standard does not have.

Functions are named without MPI_.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Collective:
    """A collective operation.

    send, receive: number of data blocks that this member sends and receives.
    flow: the members whose data a result depends on (enum ckpt_flow in
        cut/collectives/nonblocking.h).
    in_place: the parameter that may be MPI_IN_PLACE, or None.
    consumes: 1 if the call then overwrites its input before it is complete,
        so that a restart cannot enter it again.
    own_block: in place, only this member's own block is its input.
    """

    send: str
    receive: str
    flow: str
    in_place: str = None
    consumes: bool = False
    own_block: bool = False


def _consuming(send, receive, flow="ALL", own_block=False):
    """Returns a collective whose results replace its input if it is in place."""
    return Collective(send, receive, flow, "sendbuf", True, own_block)


_ALL = "comm->peers"
_GIVES_TO_ROOT = "ckpt_serves_root(comm, root)"
_TAKES_FROM_ROOT = _GIVES_TO_ROOT
_ALL_AT_ROOT = "ckpt_is_root(comm, root) ? comm->peers : 0"
_OUT, _IN = "ckpt_out_degree(comm)", "ckpt_in_degree(comm)"

# At the root, its own contribution is inside the result.
_GATHER = _consuming(_GIVES_TO_ROOT, _ALL_AT_ROOT, "TO_ROOT", own_block=True)
# In place means that the root does not receive; its input stays unchanged.
_SCATTER = Collective(_ALL_AT_ROOT, _TAKES_FROM_ROOT, "FROM_ROOT", "recvbuf")
# Algorithms rotate the blocks, including the member's own one.
_ALLGATHER = _consuming("1", _ALL, own_block=True)
# The received data replace the data to send.
_ALLTOALL = _consuming(_ALL, _ALL)
# The result replaces the member's operand. A member receives a part of the result, but
# in place its whole buffer is the operand.
_REDUCE_SCATTER = _consuming("comm->size", "comm->size")
# The result replaces the member's operand.
_SCAN = _consuming("1", "1", "SOME")
# MPI_IN_PLACE is not allowed.
_NEIGHBOR_ALLGATHER = Collective("1", _IN, "SOME")
_NEIGHBOR_ALLTOALL = Collective(_OUT, _IN, "SOME")

# MPI 3.1, chapter 5 and section 7.6. The nonblocking form of each begins with I, and
# the persistent one ends in _init.
COLLECTIVES = {
    "Barrier": Collective("0", "0", "ALL"),
    # The root only reads its buffer; the others only write theirs.
    "Bcast": Collective("0", "root == MPI_PROC_NULL ? 0 : 1", "FROM_ROOT"),
    "Gather": _GATHER,
    "Gatherv": _GATHER,
    "Scatter": _SCATTER,
    "Scatterv": _SCATTER,
    "Allgather": _ALLGATHER,
    "Allgatherv": _ALLGATHER,
    "Alltoall": _ALLTOALL,
    "Alltoallv": _ALLTOALL,
    "Alltoallw": _ALLTOALL,
    "Reduce": _consuming(_GIVES_TO_ROOT, "ckpt_is_root(comm, root) ? 1 : 0", "TO_ROOT"),
    "Allreduce": _consuming("1", "1"),
    "Reduce_scatter": _REDUCE_SCATTER,
    "Reduce_scatter_block": _REDUCE_SCATTER,
    "Scan": _SCAN,
    "Exscan": _SCAN,
    "Neighbor_allgather": _NEIGHBOR_ALLGATHER,
    "Neighbor_allgatherv": _NEIGHBOR_ALLGATHER,
    "Neighbor_alltoall": _NEIGHBOR_ALLTOALL,
    "Neighbor_alltoallv": _NEIGHBOR_ALLTOALL,
    "Neighbor_alltoallw": _NEIGHBOR_ALLTOALL,
}

# Library calls that return only after other ranks, or other threads of this rank, have
# acted. ckpt lets other threads run meanwhile. The list excludes functions that ckpt replaces by
# another form (MPI_Recv, MPI_Wait ...) and functions that only rarely wait for the
# network.
_MAY_WAIT = re.compile(
    "|".join(
        [
            *COLLECTIVES,
            r"Abort|Finalize|Buffer_detach",
            r"Comm_(accept|connect|create.*|disconnect|dup.*|join|spawn.*|split.*)",
            r"Intercomm_.*",
            r"(Cart|Graph|Dist_graph)_create.*|Cart_sub",
            r"(Publish|Unpublish|Lookup)_name|(Open|Close)_port",
            r"R?(put|get|accumulate|get_accumulate)|Put|Get|Accumulate|Get_accumulate"
            r"|Fetch_and_op|Compare_and_swap",
            r"Win_(?!.*(attr|name|keyval|errhandler|group|info|2)).*",
            r"File_(?!.*(attr|errhandler|group|info|2)).*",
        ]
    )
)


# Functions of MPI 4.0 that exist only in the upper half. It builds them on functions
# that all libraries have.
UPPER_ALONE = {
    *(f"{name}_init" for name in COLLECTIVES),
    "Comm_create_from_group",
    "Group_from_session_pset",
    "Info_create_env",
    "Info_get_string",
    "Intercomm_create_from_groups",
    "Isendrecv",
    "Isendrecv_replace",
    "Parrived",
    "Pready",
    "Pready_list",
    "Pready_range",
    "Precv_init",
    "Psend_init",
    "Session_finalize",
    "Session_get_errhandler",
    "Session_get_info",
    "Session_get_nth_pset",
    "Session_get_num_psets",
    "Session_get_pset_info",
    "Session_init",
    "Session_set_errhandler",
    "Session_set_info",
}


# Data that a blocking collective exchanges instead of none, if it runs as its
# nonblocking form. Open MPI's form ends at once for a member with a count of 0. That
# member is then one behind the others in the tags of their messages. In an
# intercommunicator the count of MPI_PROC_NULL is ignored, so that member cannot follow
# the others.
SOMETHING = {
    "Bcast": {"buffer": "ckpt_something", "count": "1", "datatype": "MPI_BYTE"},
    "Reduce": {
        "sendbuf": "ckpt_something",
        "recvbuf": "ckpt_something + 1",
        "count": "1",
        "datatype": "MPI_BYTE",
        "op": "MPI_BOR",
    },
}


def may_wait(name):
    return _MAY_WAIT.fullmatch(name) is not None and not name.endswith("_keyval")


# Lengths of arrays of handles that the standard gives only in prose.
ARRAY_LENGTHS = {
    ("Alltoallw", "sendtypes"): "comm->peers",
    ("Alltoallw", "recvtypes"): "comm->peers",
    ("Neighbor_alltoallw", "sendtypes"): "ckpt_out_degree(comm)",
    ("Neighbor_alltoallw", "recvtypes"): "ckpt_in_degree(comm)",
}



@dataclass(frozen=True)
class FileCall:
    """A call on an open file (MPI 3.1, chapter 13).

    collective: all ranks that share the file make the call together.
    redo: a rank may be saved inside the call. Not while it accesses the file:
        the library may hold a lock on it, which saving would release (closing any
        descriptor of a file releases all locks of the process, fcntl(2)).
    moves: the call moves the individual pointer.
    shares: the call uses the shared pointer.
    """

    collective: bool = False
    redo: bool = False
    moves: bool = False
    shares: bool = False


def _file_calls():
    """Returns the calls' properties, which follow from their names."""
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

# Allowed before MPI has begun (MPI 4.0, section 11.4.1).
EARLY = (
    "Info_create",
    "Info_delete",
    "Info_dup",
    "Info_free",
    "Info_get",
    "Info_get_nkeys",
    "Info_get_nthkey",
    "Info_get_valuelen",
    "Info_set",
)

# Calls that are refused, with the reason. They return MPI_ERR_UNSUPPORTED_OPERATION.
_CALLBACK = "the lower half cannot call functions of the application"
REFUSED = {
    "T_event_register_callback": _CALLBACK,
    "T_event_set_dropped_handler": _CALLBACK,
    "T_event_handle_free": _CALLBACK,
}

# Functions removed in MPI 3.0 that have the parameters of another function.
SAME_AS = {
    "Type_hindexed": "Type_create_hindexed",
    "Type_hvector": "Type_create_hvector",
    "Type_struct": "Type_create_struct",
}

# Other functions: kind and direction of each parameter.
PARAMETERS = {
    "Type_extent": (("DATATYPE", "in"), ("XFER_NUM_ELEM", "out")),
    "Type_lb": (("DATATYPE", "in"), ("XFER_NUM_ELEM", "out")),
    "Type_ub": (("DATATYPE", "in"), ("XFER_NUM_ELEM", "out")),
}
