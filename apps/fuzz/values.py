# SPDX-License-Identifier: BSD-3-Clause
"""Good and bad values of the arguments of MPI functions, as C expressions.

Kinds are those of the machine-readable standard. Function names lack MPI_; a value for one
parameter of one function has the key "FUNCTION.PARAMETER".
"""

# Bad values of handles by C type: name of the case, expression.
BAD_HANDLES = {
    "MPI_Comm": [("null", "MPI_COMM_NULL"), ("freed", "freed_comm()")],
    "MPI_Group": [("null", "MPI_GROUP_NULL"), ("freed", "freed_group()")],
    "MPI_Datatype": [
        ("null", "MPI_DATATYPE_NULL"),
        ("freed", "freed_type()"),
        ("uncommitted", "good.uncommitted"),
    ],
    "MPI_Op": [
        ("null", "MPI_OP_NULL"),
        ("freed", "freed_op()"),
        ("of pairs", "MPI_MINLOC"),
    ],
    "MPI_Request": [("null", "MPI_REQUEST_NULL"), ("freed", "freed_request()")],
    "MPI_Win": [("null", "MPI_WIN_NULL"), ("freed", "freed_win()")],
    "MPI_File": [("null", "MPI_FILE_NULL"), ("freed", "freed_file()")],
    "MPI_Info": [("null", "MPI_INFO_NULL"), ("freed", "freed_info()")],
    "MPI_Errhandler": [
        ("null", "MPI_ERRHANDLER_NULL"),
        ("freed", "freed_errhandler()"),
    ],
    "MPI_Message": [
        ("null", "MPI_MESSAGE_NULL"),
        ("no process", "MPI_MESSAGE_NO_PROC"),
    ],
}
for _handle, _values in BAD_HANDLES.items():
    _values.append(("address 0", f"({_handle})0"))

# Objects of each type, all alive.
GOOD_HANDLES = {
    "MPI_Comm": "good.comm",
    "MPI_Group": "good.group",
    "MPI_Datatype": "MPI_INT",
    "MPI_Op": "MPI_SUM",
    "MPI_Request": "good.request",
    "MPI_Win": "good.win",
    "MPI_File": "good.file",
    "MPI_Info": "MPI_INFO_NULL",
    "MPI_Errhandler": "good.comm_handler",
    "MPI_Message": "stage_message()",
}
NULL_HANDLES = {handle: values[0][1] for handle, values in BAD_HANDLES.items()}

# Other types that are passed by value.
GOOD_OTHERS = {
    "MPI_T_cvar_handle": "good.cvar",
    "MPI_T_pvar_handle": "good.pvar",
    "MPI_T_pvar_session": "good.session",
    "MPI_T_enum": "good.choices",
}
BAD_OTHERS = {
    "MPI_T_cvar_handle": [("null", "MPI_T_CVAR_HANDLE_NULL")],
    "MPI_T_pvar_handle": [
        ("null", "MPI_T_PVAR_HANDLE_NULL"),
        ("all", "MPI_T_PVAR_ALL_HANDLES"),
    ],
    "MPI_T_pvar_session": [("null", "MPI_T_PVAR_SESSION_NULL")],
    "MPI_T_enum": [("null", "MPI_T_ENUM_NULL")],
}

# Integers by kind; every other kind has 1 as its good value.
GOOD_INTEGERS = {
    "RANK": "0",
    "RANK_NNI": "0",
    "TAG": "3",
    "KEYVAL": "good.comm_key",
    "LOGICAL": "0",
    "INDEX": "0",
    "KEY_INDEX": "0",
    "ASSERT": "0",
    "OFFSET": "0",
    "RMA_DISPLACEMENT_NNI": "0",
    "CAT_INDEX": "0",
    "CVAR_INDEX": "stage_cvar",
    "CVAR_INDEX_SPECIAL": "stage_cvar",
    "PVAR_INDEX": "stage_pvar",
    "PVAR_CLASS": "stage_pvar_class",
    "TOOLENUM_INDEX": "0",
    "POLYDISPLACEMENT_AINT_COUNT": "0",
    "POLYDISPLACEMENT_COUNT": "0",
    "POLYLOCATION": "0",
    "ERROR_CODE": "MPI_ERR_OTHER",
    "ERROR_CLASS": "MPI_ERR_OTHER",
    "LOCK_TYPE": "MPI_LOCK_SHARED",
    "ORDER": "MPI_ORDER_C",
    "SPLIT_TYPE": "MPI_COMM_TYPE_SHARED",
    "TYPECLASS": "MPI_TYPECLASS_REAL",
    "TYPECLASS_SIZE": "8",
    "UPDATE_MODE": "MPI_SEEK_SET",
    "ACCESS_MODE": "MPI_MODE_RDWR",
    "THREAD_LEVEL": "MPI_THREAD_SINGLE",
    "POLYDTYPE_PACK_SIZE": "4096",
    "POLYNUM_BYTES_NNI": "4096",
    "WINDOW_SIZE": "64",
    "WIN_ATTACH_SIZE": "64",
    "ALLOC_MEM_NUM_BYTES": "64",
    "MATH": "6",
    "INFO_VALUE_LENGTH": "10",
    "FILE_DESCRIPTOR": "0",
}
_MINUS = [("-1", "-1"), ("-99", "-99")]
BAD_INTEGERS = {
    "RANK": [
        ("-99", "-99"),
        ("beyond", "77"),
        ("none", "MPI_PROC_NULL"),
        ("root", "MPI_ROOT"),
    ],
    "RANK_NNI": [("-99", "-99"), ("beyond", "77"), ("any", "MPI_ANY_SOURCE")],
    "TAG": [("-99", "-99"), ("-2", "-2")],
    "KEYVAL": [
        ("invalid", "MPI_KEYVAL_INVALID"),
        ("unknown", "98765"),
        ("predefined", "MPI_TAG_UB"),
        ("freed", "freed_comm_key()"),
        ("of a datatype", "good.type_key"),
        ("of a window", "good.win_key"),
    ],
    "ALLOC_MEM_NUM_BYTES": [("-1", "-1"), ("0", "0")],
    "ERROR_CODE": [("-99", "-99"), ("beyond", "123456"), ("success", "0")],
    "ERROR_CLASS": [("-99", "-99"), ("beyond", "123456"), ("success", "0")],
    "ACCESS_MODE": [
        ("0", "0"),
        ("-1", "-1"),
        ("two", "MPI_MODE_RDONLY | MPI_MODE_RDWR"),
        ("exclusive", "MPI_MODE_RDONLY | MPI_MODE_EXCL"),
    ],
    "COLOR": [("undefined", "MPI_UNDEFINED"), *_MINUS],
    "SPLIT_TYPE": [("undefined", "MPI_UNDEFINED"), ("-99", "-99")],
    "KEY": [("-99", "-99")],
}
# Lengths of arrays: a too large one would read arbitrary memory.
BAD_INTEGERS.update(
    dict.fromkeys(
        ("ARRAY_LENGTH", "ARRAY_LENGTH_NNI", "ARRAY_LENGTH_PI"),
        [*_MINUS, ("0", "0")],
    )
)
BAD_INTEGER = [*_MINUS, ("0", "0"), ("large", "1000000")]

# The following is for single parameters of single functions.

_SELF_CART = (
    "Cart_coords", "Cart_get", "Cart_rank", "Cart_shift", "Cart_sub",
    "Cartdim_get",
)  # fmt: skip
_SELF_GRAPH = (
    "Graph_get", "Graph_neighbors", "Graph_neighbors_count", "Graphdims_get",
)  # fmt: skip
_SELF_DIST_GRAPH = (
    "Dist_graph_neighbors", "Dist_graph_neighbors_count",
    *(
        f"{i}eighbor_{what}"
        for i in ("N", "In")
        for what in (
            "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw",
        )
    ),
)  # fmt: skip

# Objects of another kind than usual.
GOOD = {
    **{f"{name}.comm": "good.cart" for name in _SELF_CART},
    **{f"{name}.comm": "good.graph" for name in _SELF_GRAPH},
    **{f"{name}.comm": "good.dist_graph" for name in _SELF_DIST_GRAPH},
    **{f"Type_{do}_attr.type": "good.type" for do in ("delete", "get", "set")},
    **{f"Type_{do}.type": "good.type" for do in ("commit", "free", "set_name")},
    **{
        f"Type_{do}_attr.type_keyval": "good.type_key"
        for do in ("delete", "get", "set")
    },
    **{
        f"Win_{do}_attr.win_keyval": "good.win_key"
        for do in ("delete", "get", "set")
    },
    "Type_free_keyval.type_keyval": "good.type_key",
    "Win_free_keyval.win_keyval": "good.win_key",
    "Win_set_errhandler.errhandler": "good.win_handler",
    "File_set_errhandler.errhandler": "good.file_handler",
    "Op_free.op": "good.op",
    "Win_attach.win": "good.dynamic_win",
    "Win_detach.win": "good.dynamic_win",
    "Grequest_complete.request": "good.general",
    "Info_set.info": "good.info",
    "Info_get.info": "good.info",
    "Info_get_valuelen.info": "good.info",
    "Info_get_nkeys.info": "good.info",
    "Info_get_nthkey.info": "good.info",
    "Info_delete.info": "good.info",
    "Info_dup.info": "good.info",
    "Info_free.info": "good.info",
    "Comm_set_info.info": "good.info",
    "Comm_dup_with_info.info": "good.info",
    "Win_set_info.info": "good.info",
    "File_set_info.info": "good.info",
    "Type_get_contents.mtype": "good.type",
    # Integers
    "Comm_split.color": "0",
    "Comm_split.key": "0",
    "Cart_shift.disp": "1",
    "Cart_create.ndims": "1",
    "Dims_create.nnodes": "6",
    "Type_create_darray.rank": "0",
    "Type_create_f90_integer.r": "9",
    "Type_get_contents.max_addresses": "0",
    "Add_error_string.errorcode": "added_code()",
    "Type_create_resized.extent": "8",
    "Type_create_hvector.stride": "8",
    "Type_hvector.stride": "8",
    "Fetch_and_op.op": "MPI_SUM",
    # Strings
    "Pack_external.datarep": '"external32"',
    "Pack_external_size.datarep": '"external32"',
    "Unpack_external.datarep": '"external32"',
    "File_set_view.datarep": '"native"',
    "File_open.filename": "stage_path",
    "File_delete.filename": "deletable()",
    "T_cvar_get_index.name": '"mpi_param_check"',
    "T_pvar_get_index.name": "stage_pvar_name",
    "T_category_get_index.name": '"opal"',
    # Arrays
    "Type_create_subarray.size_array": "stage_two",
    "Type_create_subarray.start_array": "stage_zeros",
    "Type_create_darray.gsize_array": "stage_two",
    "Type_create_darray.distrib_array": "block_distribution",
    "Type_create_darray.darg_array": "default_arguments",
    "Group_range_incl.ranges": "stage_ranges",
    "Group_range_excl.ranges": "stage_ranges",
    "Dims_create.dims": "stage_zeros",
    "Cart_rank.coords": "stage_zeros",
    # Others
    "T_cvar_handle_alloc.obj_handle": "NULL",
    "T_pvar_handle_alloc.obj_handle": "&good.comm",
    "Init.argc": "NULL",
    "Init.argv": "NULL",
    "Init_thread.argc": "NULL",
    "Init_thread.argv": "NULL",
    "Free_mem.base": "allocated()",
    "Win_detach.base": "attached()",
    "Comm_spawn.command": '"none"',
}
# Peers of point-to-point calls: MPI_PROC_NULL, so that no call waits.
NO_PEER = ("dest", "source")

# Arrays by kind, if not all ones.
ZERO_ARRAYS = (
    "POLYDISPLACEMENT", "POLYDISPLACEMENT_COUNT", "RANK", "RANK_NNI",
    "LOGICAL", "COORDINATE",
)  # fmt: skip

# Numbers whose value the library chooses.
CHOSEN_BY_LIBRARY = (
    "KEYVAL", "ERROR_CODE", "ERROR_CLASS", "STRING_LENGTH", "VERSION", "TOOLENUM_SIZE",
)  # fmt: skip

FUNCTIONS = {
    "MPI_Comm_copy_attr_function": "stage_copy_comm",
    "MPI_Copy_function": "stage_copy_comm",
    "MPI_Comm_delete_attr_function": "stage_delete_comm",
    "MPI_Delete_function": "stage_delete_comm",
    "MPI_Type_copy_attr_function": "stage_copy_type",
    "MPI_Type_delete_attr_function": "stage_delete_type",
    "MPI_Win_copy_attr_function": "stage_copy_win",
    "MPI_Win_delete_attr_function": "stage_delete_win",
    "MPI_User_function": "stage_reduce",
    "MPI_Grequest_query_function": "stage_query",
    "MPI_Grequest_free_function": "stage_free",
    "MPI_Grequest_cancel_function": "stage_cancel",
    "MPI_Datarep_extent_function": "stage_extent",
    "MPI_Datarep_conversion_function": "stage_convert",
    "MPI_Comm_errhandler_function": "stage_comm_error",
    "MPI_Handler_function": "stage_comm_error",
    "MPI_Win_errhandler_function": "stage_win_error",
    "MPI_File_errhandler_function": "stage_file_error",
}

# Statements before a call that only makes sense after another call.
FIRST = {
    "Win_unlock": "MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, good.win);",
    "Win_unlock_all": "MPI_Win_lock_all(0, good.win);",
    "Win_complete": "MPI_Win_start(good.group, 0, good.win);",
    "Win_wait": "MPI_Win_post(MPI_GROUP_EMPTY, 0, good.win);",
    "Win_test": "MPI_Win_post(MPI_GROUP_EMPTY, 0, good.win);",
    "Buffer_detach": "MPI_Buffer_attach(stage_areas[0], 4096);",
    "File_read_all_end": "MPI_File_read_all_begin(good.file, stage_areas[0], 1, MPI_INT);",
    "File_read_at_all_end": "MPI_File_read_at_all_begin(good.file, 0, stage_areas[0], 1, MPI_INT);",
    "File_read_ordered_end": "MPI_File_read_ordered_begin(good.file, stage_areas[0], 1, MPI_INT);",
    "File_write_all_end": "MPI_File_write_all_begin(good.file, stage_areas[0], 1, MPI_INT);",
    "File_write_at_all_end": (
        "MPI_File_write_at_all_begin(good.file, 0, stage_areas[0], 1, MPI_INT);"
    ),
    "File_write_ordered_end": (
        "MPI_File_write_ordered_begin(good.file, stage_areas[0], 1, MPI_INT);"
    ),
    **{
        name: "MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, good.win);"
        for name in (
            "Put", "Get", "Accumulate", "Get_accumulate", "Fetch_and_op",
            "Compare_and_swap", "Rput", "Rget", "Raccumulate",
            "Rget_accumulate", "Win_flush", "Win_flush_all",
            "Win_flush_local", "Win_flush_local_all",
        )
    },
    **{
        name: "MPI_Buffer_attach(stage_areas[3], 4096);"
        for name in ("Bsend", "Ibsend", "Bsend_init")
    },
}  # fmt: skip

# Good calls of these functions would start real work with other processes, which the process of a
# case cannot do. Only these parameters get bad values.
ONLY_BAD = {
    "Comm_spawn": ("root", "comm"),
    "Comm_spawn_multiple": ("root", "comm"),
    "Comm_accept": ("root", "comm"),
    "Comm_connect": ("root", "comm"),
    "Intercomm_create": (
        "local_comm", "local_leader", "bridge_comm", "peer_comm",
    ),
}  # fmt: skip

# Never called: these functions end the environment of the cases, or need a second process.
LEFT_OUT = (
    "Abort", "Comm_join", "Finalize", "Init", "Init_thread", "Pcontrol",
    "Open_port", "Close_port", "Publish_name", "Lookup_name",
    "Unpublish_name", "Wtime", "Wtick",
)  # fmt: skip
