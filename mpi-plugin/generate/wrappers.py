# SPDX-License-Identifier: BSD-3-Clause
"""Writes the wrappers: PMPI_X of the stand-in calls PMPI_X of the lower half
with every handle translated."""

import supplement
from exported import KINDS
from layout import Call, If, render

_NULL_HANDLES = {
    "MPI_Comm": "MPI_COMM_NULL",
    "MPI_Group": "MPI_GROUP_NULL",
    "MPI_Datatype": "MPI_DATATYPE_NULL",
    "MPI_Op": "MPI_OP_NULL",
    "MPI_Request": "MPI_REQUEST_NULL",
    "MPI_Win": "MPI_WIN_NULL",
    "MPI_File": "MPI_FILE_NULL",
    "MPI_Info": "MPI_INFO_NULL",
    "MPI_Errhandler": "MPI_ERRHANDLER_NULL",
    "MPI_Message": "MPI_MESSAGE_NULL",
    "MPI_Session": "MPI_SESSION_NULL",
}

# Outputs that only a wrapper written by hand can make.
_NEVER_MADE = (
    "MPI_Comm",
    "MPI_Errhandler",
    "MPI_Message",
    "MPI_Op",
    "MPI_Request",
    "MPI_Session",
    "MPI_Win",
)

# Handles whose objects have an error handler.
_WITH_ERRHANDLER = ("MPI_Comm", "MPI_Win", "MPI_File")


class WrapperError(Exception):
    """The rules here do not cover a function; write it by hand."""


class Wrapper:
    """The wrapper of one function, built from its arguments.

    Order of the code: declarations, checks (before ckpt_begin), prepared (after it),
    the call, success or failure, last, result.
    """

    def __init__(self, function):
        self.function = function
        self.name = function.name
        self.mpi_name = f"MPI_{function.name}"
        self.declarations = []
        self.checks = []
        self.prepared = []
        self.passed = []  # argument expressions of the call
        self.success = []
        self.failure = []
        self.last = []
        for argument in function.arguments:
            self._add(argument)
        self._finish()

    def _finish(self):
        """Adds code that concerns all arguments together."""

    def _add(self, argument):
        if not argument.handle:
            self.passed.append(argument.name)
        elif argument.is_array:
            self._add_array(argument)
        elif argument.direction == "in":
            self.passed.append(f"CKPT_LOWER({argument.name})")
        elif argument.direction == "out":
            self._add_output(argument)
        else:
            self._add_freed(argument)

    def _need_hand(self, argument):
        raise WrapperError(f"{self.mpi_name}: no rule for {argument.declaration()}")

    def _refuse(self, target, code):
        return Call("return ckpt_error(", [target, code, f'"{self.mpi_name}"'])

    def _lower(self, argument):
        """Declares a variable for the lower handle behind a pointer argument. The
        library itself reports the error of a NULL pointer."""
        variable = f"lower_{argument.name}"
        self.declarations.append(f"{argument.handle} {variable};")
        self.passed.append(f"CKPT_UNLESS_NULL({argument.name}, &{variable})")
        return variable

    def _adopted(self, argument, variable):
        """Returns the statement that gives the application an object of ours."""
        maker, items = "ckpt_adopt", [KINDS[argument.handle], variable]
        if argument.handle in _NEVER_MADE:
            self._need_hand(argument)
        origin = [f'"{self.mpi_name}"', "CKPT_SITE"]
        return Call(f"*{argument.name} = {maker}(", [*items, *origin])

    def _add_output(self, argument):
        """Adds a new object. If the library fails it writes a null handle."""
        variable = self._lower(argument)
        self.declarations[-1] = f"{argument.handle} {variable} = NULL;"
        self.success.append(self._adopted(argument, variable))
        null = f"*{argument.name} = {_NULL_HANDLES[argument.handle]};"
        self.failure.append(If(f"{variable} != NULL", [null]))

    def _add_freed(self, argument):
        if not self.name.endswith(("_free", "_close")):
            self._need_hand(argument)
        variable = self._lower(argument)
        if argument.handle == "MPI_Info":  # freed twice: see lower_null
            freed = f"{argument.name} != NULL && CKPT_LOWER(*{argument.name}) == NULL"
            self.checks.append(If(freed, [self._refuse("NULL", "MPI_ERR_INFO")]))
        given = f"CKPT_UNLESS_NULL({argument.name}, CKPT_LOWER(*{argument.name}))"
        self.prepared.append(f"{variable} = {given};")
        self.success += [
            f"ckpt_release(*{argument.name});",
            f"*{argument.name} = {_NULL_HANDLES[argument.handle]};",
        ]

    def _translated(self, argument, count, no_memory):
        """Declares an array of lower handles; returns it and the statements
        that fill it. no_memory: statements for the case without memory."""
        variable, buffer = f"lower_{argument.name}", f"buffer_{argument.name}"
        self.declarations.append(f"void *{buffer}[CKPT_TRANSLATE_LOCAL], **{variable};")
        self.last.insert(0, Call("ckpt_translated_done(", [count, variable, buffer]))
        items = [count, f"(void *const *){argument.name}", buffer, "CKPT_TRANSLATE_LOCAL"]
        return variable, [
            Call(f"{variable} = ckpt_translate(", items),
            If(f"{variable} == NULL", no_memory),
        ]

    def _add_array(self, argument):
        if argument.direction != "in" or not argument.length:
            self._need_hand(argument)
        no_memory = [self._return("MPI_ERR_NO_MEM")]
        variable, statements = self._translated(argument, argument.length, no_memory)
        self.prepared += statements
        self.passed.append(
            f"({argument.handle} *)CKPT_UNLESS_NULL({argument.name}, {variable})"
        )

    def _error_object(self):
        argument = self.function.first(*_WITH_ERRHANDLER)
        if argument is None or argument.direction == "out":
            return "NULL"
        if argument.direction == "in":
            return argument.name
        return f"CKPT_UNLESS_NULL({argument.name}, *{argument.name})"

    def _return(self, code):
        return Call("CKPT_RETURN(", [self._error_object(), code, f'"{self.mpi_name}"'])

    def _begin(self):
        return ["ckpt_begin();"]

    def _call(self):
        return Call("CKPT_CALL(", ["code", self.name, *self.passed])

    def _result(self):
        return [self._return("code")]

    def _body(self):
        outcome = [If("code == MPI_SUCCESS", self.success, self.failure)] if self.success else []
        return [
            *self.declarations,
            "int code;",
            "",
            *self.checks,
            *self._begin(),
            *self.prepared,
            self._call(),
            *outcome,
            *self.last,
            *self._result(),
        ]

    def text(self):
        parameters = [a.declaration() for a in self.function.arguments] or ["void"]
        head = Call(f"{self.function.result} PMPI_{self.name}(", parameters, ")")
        lines = [*head.lines(0), "{", *render(self._body(), 1), "}"]
        return "\n".join([*lines, f"CKPT_ALIAS({self.name});", ""])


class RefusedWrapper(Wrapper):
    """A call that is not supported at all."""

    def _add(self, argument):
        self.declarations.append(f"(void){argument.name};")

    def _body(self):
        if self.function.result != "int":
            refusal = "return 0;"
        elif self.name.startswith("T_"):
            refusal = "return MPI_T_ERR_NOT_SUPPORTED;"
        else:
            refusal = self._refuse(self._error_object(), "MPI_ERR_UNSUPPORTED_OPERATION")
        return [f"/* {supplement.REFUSED[self.name]} */", *self.declarations, refusal]


class EarlyWrapper(Wrapper):
    """A function on infos, which is allowed before MPI has begun."""

    def _finish(self):
        names = [argument.name for argument in self.function.arguments]
        early = Call(f"return ckpt_early_{self.name}(", names)
        self.checks.insert(0, If("__builtin_expect(ckpt_info_is_early(), 0)", [early]))


class RemoteWrapper(Wrapper):
    """Access to the memory of another rank, within an epoch. Outside of an epoch the
    lower half still checks the arguments. It also does so for windows with
    independent checkpoints, on which our code operates."""

    def _finish(self):
        self.declarations.append("int outside;")
        names = [argument.name for argument in self.function.arguments]
        own = [Call(f"code = ckpt_independent_{self.name}(", names),
               If("code != CKPT_ACCESS_WRONG", [f'CKPT_RETURN(win, code, "{self.mpi_name}");'])]
        self.prepared.append(If("ckpt_window_is_independent(win)", own))
        items = ["win", "&target_rank", "&target_disp"]
        # After ckpt_begin: no restart may come between this and the call.
        self.prepared.append(Call("outside = ckpt_window_access(", items))

    def _body(self):
        body = super()._body()
        after = 1 + next(i for i, line in enumerate(body) if line is self.made)
        return [*body[:after], If("code == MPI_SUCCESS", ["code = outside;"]), *body[after:]]

    def _call(self):
        self.made = super()._call()
        return self.made

    def _adopted(self, argument, variable):
        if argument.handle != "MPI_Request":
            self._need_hand(argument)
        origin = [f'"{self.mpi_name}"', "CKPT_SITE"]
        return Call(f"*{argument.name} = ckpt_request_remote(", [variable, *origin])


class ToolWrapper(Wrapper):
    """MPI_T without handles: allowed before MPI_Init, and errors call no handler."""

    def _finish(self):
        condition = "ckpt_require_lower() != 0"
        self.checks.append(If(condition, ["return MPI_T_ERR_NOT_INITIALIZED;"]))

    def _result(self):
        return ["ckpt_end();", "return code;"]


class CollectiveWrapper(Wrapper):
    """A blocking collective: enters through the gate of the clock. A restart
    may enter the call again, and the lower handles then differ."""

    def __init__(self, function):
        self.base_name = self._base_name(function.name)
        self.rule = supplement.COLLECTIVES[self.base_name]
        self.type_counts = []
        super().__init__(function)
        refusal = self._refuse("NULL", "MPI_ERR_COMM")
        valid = If("!ckpt_communicator_valid(comm)", [refusal])
        self.checks[:0] = [valid, *self._independent(), *self._split()]

    def _independent(self):
        """Barriers of all ranks can be replayed (independent/calls/sync.h)."""
        if self.name != "Barrier":
            return []
        own = ["ckpt_begin();", "code = ckpt_sync_barrier();",
               f'CKPT_RETURN(comm, code, "{self.mpi_name}");']
        return [If("ckpt_independent != NULL && comm == MPI_COMM_WORLD", own)]

    def _split(self):
        """If several threads are in MPI at once: the nonblocking form, and a wait."""
        self.declarations.append("MPI_Request request;")
        names = [argument.name for argument in self.function.arguments]
        items = self._begin_and_wait(names)
        instead = supplement.SOMETHING.get(self.base_name)
        if instead:
            begun = self._begin_and_wait([instead.get(name, name) for name in names])
            items.insert(0, If("comm->inter && count == 0", begun))
        return [If("ckpt_collective_is_split(comm)", items)]

    def _begin_and_wait(self, names):
        start = Call(f"code = PMPI_I{self.name[0].lower()}{self.name[1:]}(", [*names, "&request"])
        return [start, "return ckpt_collective_wait(code, &request);"]

    @staticmethod
    def _base_name(name):
        """Returns the name of the blocking form."""
        return name

    def _is_rooted(self):
        return any(argument.name == "root" for argument in self.function.arguments)

    def _significant(self, argument):
        """Returns a type argument. It may be invalid on a rank without such a block, and
        beside MPI_IN_PLACE."""
        text = argument.name
        if argument.root_only:
            text = f"ckpt_at_root(comm, root, {text})"
        elif argument.name in ("sendtype", "recvtype") and self._is_rooted():
            text = f"ckpt_where_root_is_served(comm, root, {text})"
        buffer = argument.name.replace("type", "buf")
        if buffer == self.rule.in_place and buffer != argument.name:
            text = f"ckpt_unless_beside_place({buffer}, {text})"
        return text

    def _add(self, argument):
        if argument.handle == "MPI_Datatype" and not argument.is_array:
            self.passed.append(f"CKPT_LOWER({self._significant(argument)})")
        else:
            super()._add(argument)

    def _add_count(self, argument):
        """Declares and sets the length of an array of types; 0 if the types are
        ignored because the operation is in place."""
        count = f"n_{argument.name[:4]}"
        length = supplement.ARRAY_LENGTHS[self.base_name, argument.name]
        buffer = argument.name.replace("types", "buf")
        if buffer == self.rule.in_place:
            length = f"{buffer} == MPI_IN_PLACE ? 0 : {length}"
        self.declarations.append(f"int {count};")
        self.checks.append(f"{count} = {length};")
        self.type_counts.append(count)
        return count

    def _pass_array(self, count, argument, array):
        self.passed.append(f"ckpt_translate_again({count}, {argument.name}, {array})")

    def _add_array(self, argument):
        count = self._add_count(argument)
        no_memory = [*self.last, self._refuse("comm", "MPI_ERR_NO_MEM")]
        variable, statements = self._translated(argument, count, no_memory)
        self.checks += statements
        self._pass_array(count, argument, variable)

    def _begin(self):
        return []  # CKPT_COLLECTIVE_CALL begins

    def _call(self):
        redo = "CKPT_COLLECTIVE_REDO"
        if self.rule.consumes:
            redo = f"ckpt_redo_unless_in_place({self.rule.in_place})"
        return Call("CKPT_COLLECTIVE_CALL(", ["code", "comm", redo, self.name, *self.passed])


class NonblockingWrapper(CollectiveWrapper):
    """A nonblocking collective: describes the call (struct ckpt_nonblocking),
    and has a function that begins it from the description."""

    # Parameters of both sides at once: side and member for each.
    _SHARED = {
        "buffer": ("receive", "buffer"),
        "count": ("both", "count"),
        "datatype": ("both", "type"),
    }
    _ENDS = {"buf": "buffer", "count": "count", "counts": "counts", "displs": "displs",
             "type": "type", "types": "types"}  # fmt: skip

    def __init__(self, function):
        self.sides = {"send": {}, "receive": {}}
        self.others = []
        self.begun = function.name
        super().__init__(function)

    @staticmethod
    def _base_name(name):
        return name[1:].capitalize()

    def _place(self, argument):
        """Returns the side and member that hold a parameter, or None."""
        name = argument.name
        if name in self._SHARED:
            return self._SHARED[name]
        if name == "displs":  # the counts come before it
            return ("send" if "counts" in self.sides["send"] else "receive", "displs")
        for start, side in {"send": "send", "recv": "receive", "s": "send", "r": "receive"}.items():
            member = self._ENDS.get(name.removeprefix(start))
            if name.startswith(start) and member:
                return (side, member)
        return None

    def _split(self):
        return []

    def _value(self, argument, member):
        if member == "buffer":
            return f"(void *){argument.name}"
        return self._significant(argument) if member == "type" else argument.name

    def _passed(self, argument, side, member):
        if member == "types":
            return f"ckpt_lower_types(&call->{side})"
        field = f"call->{side}.{member}"
        return f"CKPT_LOWER({field})" if argument.handle else field

    def _add(self, argument):
        place = self._place(argument)
        if argument.name == "request":
            self.passed.append("request")
        elif place:
            side, member = place
            for name in self.sides if side == "both" else [side]:
                self.sides[name][member] = self._value(argument, member)
            if member == "displs" and argument.type == "const MPI_Aint":
                self.sides[side]["aint_displs"] = "1"
            self.passed.append(self._passed(argument, side.replace("both", "receive"), member))
        else:
            if argument.name not in ("op", "root", "comm"):
                self._need_hand(argument)
            field = "communicator" if argument.name == "comm" else argument.name
            self.others.append(f".{field} = {argument.name}")
            value = f"call->{field}"
            self.passed.append(f"CKPT_LOWER({value})" if argument.handle else value)

    def _finish(self):
        pass

    def _blocks(self, side, blocks):
        buffer = {"send": "sendbuf", "receive": "recvbuf"}[side]
        if self.rule.in_place == buffer:
            return f"ckpt_unless_in_place({buffer}, {blocks})"
        return blocks

    def _side(self, side, blocks):
        members = self.sides[side]
        if self.base_name.startswith("Reduce_scatter") and side == "send":
            shared = {k: v for k, v in self.sides["receive"].items() if k in ("count", "counts")}
            members = {**members, **shared}
        if "buffer" not in members:
            return []
        items = [f".blocks = {self._blocks(side, blocks)}"]
        items += [f".{name} = {value}" for name, value in members.items()]
        return [Call(f"call.{side} = (struct ckpt_side){{", items, "};")]

    def _description(self):
        rule = self.rule
        items = [f".begin = begin_{self.name}", *self.others]
        items.append(f".flow = CKPT_FLOW_{rule.flow}")
        if rule.consumes:
            items += [".in_receive = sendbuf == MPI_IN_PLACE", ".consumes = 1"]
            items += [".own_block = 1"] if rule.own_block else []
        elif self.base_name == "Bcast":
            items.append(".in_receive = 1")
        return [
            Call("call = (struct ckpt_nonblocking){", items, "};"),
            *self._side("send", rule.send),
            *self._side("receive", rule.receive),
        ]

    def _body(self):
        return [
            "struct ckpt_nonblocking call;",
            "",
            *self.checks,
            *self._description(),
            self._end(),
        ]

    def _end(self):
        arguments = ["&call", "request", f'"{self.mpi_name}"', "CKPT_SITE"]
        return Call("return ckpt_nonblocking_start(", arguments)

    def text(self):
        parameters = ["const struct ckpt_nonblocking *call", "MPI_Request *request"]
        head = Call(f"static int begin_{self.name}(", parameters, ")")
        body = render([Call(f"return CKPT_FUNCTION({self.begun})(", self.passed)], 1)
        return "\n".join([*head.lines(0), "{", *body, "}", "", super().text()])


class PersistentWrapper(NonblockingWrapper):
    """A persistent collective (MPI 4.0, section 6.13): each start begins the
    nonblocking one."""

    @staticmethod
    def _base_name(name):
        return name.removesuffix("_init")

    def __init__(self, function):
        super().__init__(function)
        self.begun = f"I{self.base_name[0].lower()}{self.base_name[1:]}"

    def _add(self, argument):
        if argument.name != "info":
            super()._add(argument)

    def _end(self):
        arguments = ["&call", f"make_{self.name}", "info", "request"]
        arguments += [f'"{self.mpi_name}"', "CKPT_SITE"]
        return Call("return ckpt_persistent_init(", arguments)

    def text(self):
        """Adds the function that makes the library's own request."""
        parameters = ["const struct ckpt_nonblocking *call", "MPI_Info info"]
        parameters.append("MPI_Request *request")
        head = Call(f"static int make_{self.name}(", parameters, ")")
        passed = [*self.passed[:-1], "info", self.passed[-1]]
        body = render([Call(f"return CKPT_FUNCTION({self.name})(", passed)], 1)
        lines = [*head.lines(0), "{", *body, "}", "", super().text().rstrip()]
        return "\n".join([*lines, f"CKPT_EXTENSION({self.name});", ""])


class FileWrapper(Wrapper):
    """A call on an open file; collective ones use the clock of the file's own
    communicator."""

    _COMMUNICATOR = "fh->open->communicator"

    def __init__(self, function):
        self.rule = supplement.FILE_CALLS.get(function.name, supplement.FileCall())
        super().__init__(function)

    def _finish(self):
        # For a handle that is not an open file the library reports the error.
        failed = [
            "ckpt_begin();",
            Call("CKPT_CALL(", ["code", self.name, *self.passed]),
            Call("CKPT_RETURN(", ["MPI_FILE_NULL", "code", f'"{self.mpi_name}"']),
        ]
        self.checks.insert(0, If("ckpt_mpi_file_of(fh) == NULL", failed))
        if self.rule.moves:
            self.success.append("ckpt_mpi_file_moved(fh);")
        if self.rule.shares:
            self.success.append("ckpt_mpi_file_shares(fh);")

    def _adopted(self, argument, variable):
        if argument.handle != "MPI_Request":
            return super()._adopted(argument, variable)
        items = [variable, "fh", f'"{self.mpi_name}"', "CKPT_SITE"]
        return Call(f"*{argument.name} = ckpt_request_file(", items)

    def _begin(self):
        return super()._begin() if not self.rule.collective else []  # CKPT_COLLECTIVE_* begins

    def _call(self):
        if not self.rule.collective:
            return super()._call()
        if self.function.first("MPI_Request"):
            items = ["code", self._COMMUNICATOR, self.name, *self.passed]
            return Call("CKPT_COLLECTIVE_START(", items)
        return self._collective(self.name, self.passed)

    def _collective(self, name, passed):
        redo = "CKPT_COLLECTIVE_REDO" if self.rule.redo else "CKPT_COLLECTIVE_ONCE"
        items = ["code", self._COMMUNICATOR, redo, name, *passed]
        return Call("CKPT_COLLECTIVE_CALL(", items)


class SplitBeginWrapper(FileWrapper):
    """Begins a split collective: runs all of it now, and keeps the outcome."""

    def __init__(self, function):
        self.whole = function.name.removesuffix("_begin")
        super().__init__(function)

    def _finish(self):
        self.rule = supplement.FILE_CALLS[self.whole]
        super()._finish()
        self.declarations.append("MPI_Status status;")
        self.checks += [
            "code = ckpt_mpi_file_split_begin(fh);",
            If("code != MPI_SUCCESS", [self._refuse("fh", "code")]),
        ]
        items = ["fh", f'"{self.whole}"', "&status"]
        self.success.append(Call("ckpt_mpi_file_split_began(", items))

    def _call(self):
        return self._collective(self.whole, [*self.passed, "&status"])


class SplitEndWrapper(FileWrapper):
    """Ends a split collective: returns the kept outcome."""

    def _body(self):
        whole = self.name.removesuffix("_end")
        end = Call("code = ckpt_mpi_file_split_end(", ["fh", f'"{whole}"', "status"])
        failed = If("code != MPI_SUCCESS", [self._refuse("fh", "code")])
        buffer = ["(void)buf; /* was filled when it began */"]
        return ["int code;", "", *buffer, *self.checks, end, failed, "return code;"]


def wrapper(function):
    """Returns the Wrapper of a function, by what the function does."""
    name = function.name
    if name in supplement.REFUSED:
        return RefusedWrapper(function)
    if name.startswith("T_"):
        return ToolWrapper(function)
    if name.startswith("File_") and function.first("MPI_File") is not None:
        if name.endswith("_begin"):
            return SplitBeginWrapper(function)
        return SplitEndWrapper(function) if name.endswith("_end") else FileWrapper(function)
    if name in supplement.EARLY:
        return EarlyWrapper(function)
    if name in supplement.REMOTE:
        return RemoteWrapper(function)
    if name in supplement.COLLECTIVES:
        return CollectiveWrapper(function)
    if name.endswith("_init") and name.removesuffix("_init") in supplement.COLLECTIVES:
        return PersistentWrapper(function)
    if name.startswith("I") and name[1:].capitalize() in supplement.COLLECTIVES:
        return NonblockingWrapper(function)
    return Wrapper(function)
