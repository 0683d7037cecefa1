# SPDX-License-Identifier: BSD-3-Clause
"""Writes the Fortran bindings: ompi_x_f takes everything by reference and
calls PMPI_X of the stand-in with C arguments (fortran/fortran.h)."""

import supplement
from layout import Call, If, render

# MPI_X_f2c and MPI_X_c2f, by handle type.
CONVERSIONS = {
    "MPI_Comm": "Comm",
    "MPI_Group": "Group",
    "MPI_Datatype": "Type",
    "MPI_Op": "Op",
    "MPI_Request": "Request",
    "MPI_Win": "Win",
    "MPI_File": "File",
    "MPI_Info": "Info",
    "MPI_Errhandler": "Errhandler",
    "MPI_Message": "Message",
    "MPI_Session": "Session",
}


class FortranError(Exception):
    """The rules here do not cover a function; write it by hand."""


class Binding:
    """The binding of one function, built from its arguments."""

    def __init__(self, function):
        self.function = function
        self.name = function.name
        self.parameters = []
        self.lengths = []  # hidden parameters
        self.declarations = []
        self.passed = []
        self.needed = []  # pointers from malloc: checked for NULL before the call
        self.success = []
        self.last = []
        for argument in function.arguments:
            self._add(argument)

    def _add(self, argument):
        if argument.handle:
            self._add_handle(argument)
        elif argument.kind.startswith("STRING") and argument.kind != "STRING_LENGTH":
            self._add_string(argument)
        elif argument.kind in ("BUFFER", "WEIGHT"):
            convert = {"BUFFER": "buffer", "WEIGHT": "weights"}[argument.kind]
            self._pass(argument.declaration(), f"ckpt_fortran_{convert}({argument.name})")
        elif argument.kind == "STATUS":
            self._pass(f"MPI_Fint *{argument.name}", f"ckpt_fortran_status({argument.name})")
        elif argument.is_array or argument.type.endswith("*"):
            self._pass(argument.declaration(), argument.name)
        else:
            self._pass(f"const {argument.type} *{argument.name}", f"*{argument.name}")

    def _pass(self, parameter, value):
        self.parameters.append(parameter)
        self.passed.append(value)

    def _need_hand(self, argument):
        raise FortranError(
            f"MPI_{self.name}: no Fortran binding for {argument.declaration()}"
        )

    def _add_handle(self, argument):
        if argument.is_array:
            self._add_array(argument)
            return
        convert, name = CONVERSIONS[argument.handle], argument.name
        if argument.direction == "in":
            self._pass(f"const MPI_Fint *{name}", f"PMPI_{convert}_f2c(*{name})")
            return
        variable = f"c_{name}"
        back = f"*{name} = PMPI_{convert}_c2f({variable});"
        self._pass(f"MPI_Fint *{name}", f"&{variable}")
        if argument.direction == "out":
            self.declarations.append(f"{argument.handle} {variable};")
            self.success.append(back)
        else:
            self.declarations.append(
                f"{argument.handle} {variable} = PMPI_{convert}_f2c(*{name});"
            )
            self.last.append(back)

    def _array_length(self, argument):
        base = self.name.removesuffix("_init")
        base = base[1:].capitalize() if base.startswith("I") else base
        length = supplement.ARRAY_LENGTHS.get((base, argument.name))
        if length is None:
            if not argument.length:
                self._need_hand(argument)
            return f"*{argument.length}"
        length = length.replace("comm->", "PMPI_Comm_f2c(*comm)->")
        length = length.replace("(comm)", "(PMPI_Comm_f2c(*comm))")
        if argument.name == "sendtypes" and "peers" in length:
            return f"sendbuf == &mpi_fortran_in_place_ ? 0 : {length}"
        return length

    def _add_array(self, argument):
        if argument.direction != "in" or argument.handle != "MPI_Datatype":
            self._need_hand(argument)
        name, variable = argument.name, f"c_{argument.name}"
        items = [self._array_length(argument), name]
        self.declarations.append(f"MPI_Datatype *{variable};")
        self.needed.append((variable, Call(f"{variable} = ckpt_fortran_types(", items)))
        self._pass(f"const MPI_Fint *{name}", variable)

    def _add_string(self, argument):
        if argument.kind != "STRING":
            self._need_hand(argument)
        name, variable, length = argument.name, f"c_{argument.name}", f"{argument.name}_length"
        self.lengths.append(f"int {length}")
        if argument.direction == "in":
            self.declarations.append(f"char *{variable};")
            make = Call(f"{variable} = ckpt_fortran_string(", [name, length])
            self.needed.append((variable, make))
            self._pass(f"const char *{name}", variable)
        else:
            self.declarations.append(f"char {variable}[CKPT_FORTRAN_STRING];")
            set_string = Call("ckpt_fortran_string_set(", [name, length, variable])
            self.success.append(set_string)
            self._pass(f"char *{name}", variable)

    def _body(self):
        variables = [variable for variable, _ in self.needed]
        lines = [*self.declarations, "int code;", ""]
        lines += [statement for _, statement in self.needed]
        frees = [f"free({variable});" for variable in variables]
        if variables:
            missing = " || ".join(f"{variable} == NULL" for variable in variables)
            refuse = Call("ckpt_fortran_no_memory(", ["ierror", f'"MPI_{self.name}"'])
            lines.append(If(missing, [*frees, refuse, "return;"]))
        lines.append(Call(f"code = PMPI_{self.name}(", self.passed or [""]))
        if self.success:
            lines.append(If("code == MPI_SUCCESS", self.success))
        return [*lines, *self.last, *frees, "ckpt_fortran_return(ierror, code);"]

    def text(self):
        lower = self.name.lower()
        parameters = [*self.parameters, "MPI_Fint *ierror", *self.lengths]
        head = Call(f"void ompi_{lower}_f(", parameters, ")")
        names = Call("CKPT_FORTRAN_NAMES(", [lower, lower.upper(), self.name])
        return "\n".join(
            [*head.lines(0), "{", *render(self._body(), 1), "}", *names.lines(0), ""]
        )


def binding(function):
    """Returns the Binding of a Wrapped function."""
    return Binding(function)
