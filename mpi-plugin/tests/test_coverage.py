# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the generator: no MPI function can be forgotten, and the wrappers have the right form.
Environment: CKPT_STANDIN, MPI_LIBRARY, MPI_PREPROCESSOR, MPIRUN, READELF, as the makefile sets
them."""

import dataclasses
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "generate"))

import check_standin  # noqa: E402
import exported  # noqa: E402
import fortran  # noqa: E402
import header as header_module  # noqa: E402
import library  # noqa: E402
import standard  # noqa: E402
import wrapper_files  # noqa: E402
import wrappers  # noqa: E402

GOLDEN = HERE / "test_coverage.golden"
FORTRAN_GOLDEN = HERE / "test_coverage_fortran.golden"

# One function of each kind of wrapper.
SMALL_HEADER = """
typedef struct ompi_communicator_t *MPI_Comm;
__attribute__((visibility("default"))) extern struct ompi_predefined_datatype_t ompi_mpi_int;
int PMPI_Type_size(MPI_Datatype type, int *size);
int MPI_Type_size(MPI_Datatype type, int *size);
int PMPI_Type_create_struct(int count, const int array_of_block_lengths[],
    const MPI_Aint array_of_displacements[], const MPI_Datatype array_of_types[],
    MPI_Datatype *newtype);
int MPI_Type_create_struct(int count, const int array_of_block_lengths[],
    const MPI_Aint array_of_displacements[], const MPI_Datatype array_of_types[],
    MPI_Datatype *newtype);
int PMPI_Group_free(MPI_Group *group) __attribute__((deprecated("(; no")));
int MPI_Group_free(MPI_Group *group);
int PMPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int PMPI_Ireduce(const void *sendbuf, void *recvbuf, int count,
    MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Request *request);
int MPI_Ireduce(const void *sendbuf, void *recvbuf, int count,
    MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Request *request);
int PMPI_File_iread(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
    MPI_Request *request);
int MPI_File_iread(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
    MPI_Request *request);
int PMPI_File_write_all_begin(MPI_File fh, const void *buf, int count,
    MPI_Datatype datatype);
int MPI_File_write_all_begin(MPI_File fh, const void *buf, int count,
    MPI_Datatype datatype);
int PMPI_T_pvar_get_num(int *num_pvar);
int MPI_T_pvar_get_num(int *num_pvar);
int PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest,
    int tag, MPI_Comm comm);
int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest,
    int tag, MPI_Comm comm);
"""
SMALL_MACROS = "#define MPI_INT OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_int)\n"


def small_header(more=""):
    return header_module.Header(SMALL_HEADER + more, SMALL_MACROS)


def wrapper_texts(header):
    functions = standard.wrapped(header, ["Send"])
    return "\n".join(wrappers.wrapper(function).text() for function in functions.values())


def prototype(declaration):
    """Declares both names of a function: `Send(int x)` as PMPI_ and MPI_."""
    return f"int PMPI_{declaration}; int MPI_{declaration};"


class Header(unittest.TestCase):
    def test_functions_data_and_macros_are_found(self):
        header = small_header()
        self.assertEqual(len(header.functions), 10)
        self.assertEqual(header.data, {"ompi_mpi_int": "struct ompi_predefined_datatype_t"})
        self.assertEqual(header.predefined, {"ompi_mpi_int": "MPI_Datatype"})
        suffixes = [p.suffix for p in header.functions["Type_create_struct"].parameters]
        self.assertEqual(suffixes, ["", "[]", "[]", "[]", ""])

    def test_function_without_profiling_name_is_refused(self):
        with self.assertRaisesRegex(header_module.HeaderError, "Lonely"):
            small_header("int MPI_Lonely(void);")


class Generation(unittest.TestCase):
    def generate(self, header):
        return wrapper_files.files(standard.wrapped(header, ["Send"]))

    def test_wrappers_are_as_recorded(self):
        self.assertEqual(wrapper_texts(small_header()), GOLDEN.read_text())

    def test_fortran_bindings_are_as_recorded(self):
        functions = standard.bound(small_header(), [])
        names = ("Allreduce", "Group_free", "Ireduce", "Send", "Type_create_struct")
        texts = [fortran.binding(functions[name]).text() for name in names]
        self.assertEqual("\n".join(texts), FORTRAN_GOLDEN.read_text())

    def test_fortran_array_of_requests_needs_a_hand(self):
        header = small_header(
            prototype("Startall(int count, MPI_Request array_of_requests[])")
        )
        with self.assertRaisesRegex(wrappers.WrapperError, "MPI_Startall: no Fortran"):
            wrapper_files.fortran_files(standard.bound(header, ["Send"]))

    def test_handwritten_function_is_left_out(self):
        self.assertNotIn("PMPI_Send(", "".join(self.generate(small_header()).values()))

    def test_function_unknown_to_the_standard_is_named(self):
        header = small_header(prototype("Frobnicate(MPI_Comm comm)"))
        with self.assertRaisesRegex(standard.StandardError, "MPI_Frobnicate is not known"):
            self.generate(header)

    def test_every_unknown_function_is_named(self):
        header = small_header(prototype("Foo(void)") + prototype("Bar(void)"))
        with self.assertRaisesRegex(standard.StandardError, "(?s)MPI_Bar.*MPI_Foo"):
            self.generate(header)

    def test_function_with_another_parameter_is_refused(self):
        header = small_header(prototype("Barrier(MPI_Comm comm, int more)"))
        with self.assertRaisesRegex(standard.StandardError, "MPI_Barrier has other"):
            self.generate(header)

    def test_handle_that_the_header_disagrees_with_is_refused(self):
        header = small_header(prototype("Barrier(MPI_Win comm)"))
        with self.assertRaisesRegex(standard.StandardError, "MPI_Barrier: MPI_Win comm"):
            self.generate(header)

    def test_handle_type_unknown_here_is_refused(self):
        header = small_header(prototype("Get_processor_name(MPI_Wand name, int *resultlen)"))
        with self.assertRaisesRegex(standard.StandardError, "no rule for the type"):
            self.generate(header)

    def test_new_communicator_needs_a_hand(self):
        header = small_header(prototype("Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)"))
        with self.assertRaisesRegex(wrappers.WrapperError, "MPI_Comm_dup: no rule"):
            self.generate(header)


class StandIn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        readelf = os.environ["READELF"]
        cls.header = header_module.read(os.environ["MPI_PREPROCESSOR"].split())
        cls.binding_symbols = exported.BindingSymbols.read(
            HERE.parent / "generate" / "binding_symbols.txt"
        )
        real = library.symbols(readelf, os.environ["MPI_LIBRARY"])
        cls.objects = exported.objects(cls.header, cls.binding_symbols, real)
        cls.symbols = library.symbols(readelf, os.environ["CKPT_STANDIN"])

    def complaints(self, **changes):
        """Returns complaints about the stand-in with some symbols changed, or (None) removed."""
        symbols = {**self.symbols, **changes}
        symbols = {name: symbol for name, symbol in symbols.items() if symbol is not None}
        return check_standin.complaints(
            self.header, self.binding_symbols, self.objects, symbols
        )

    def test_nothing_is_missing(self):
        self.assertGreater(len(self.header.functions), 400)
        self.assertGreater(len(self.objects), 100)
        self.assertEqual(self.complaints(), [])

    def test_removed_wrapper_is_noticed(self):
        self.assertEqual(self.complaints(MPI_Bcast=None), ["MPI_Bcast is missing"])
        self.assertEqual(self.complaints(PMPI_Bcast=None), ["PMPI_Bcast is missing"])

    def test_each_removed_function_is_noticed(self):
        for name in self.header.functions:
            self.assertEqual(self.complaints(**{f"PMPI_{name}": None}), [f"PMPI_{name} is missing"])

    def test_removed_fortran_name_is_noticed(self):
        fortran = {
            name: self.symbols[name]
            for name in ("ompi_waitall_f", "mpi_waitall__", "PMPI_WAITALL", "MPI_Waitall_f08")
        }
        standin = {name: self.symbols[name] for name in self.symbols if name not in fortran}
        self.assertEqual(check_standin.missing_fortran(fortran, self.symbols), [])
        self.assertEqual(check_standin.missing_fortran(fortran, standin), sorted(fortran))

    def test_name_of_the_application_is_noticed(self):
        """Rmpi has its own function mpi_send."""
        found = self.complaints(mpi_send=self.symbols["mpi_send_"])
        self.assertEqual(found, ["mpi_send may be a function of the application"])

    def test_undefined_function_is_noticed(self):
        imported = dataclasses.replace(self.symbols["MPI_Send"], defined=False)
        self.assertEqual(self.complaints(MPI_Send=imported), ["MPI_Send is missing"])

    def test_strong_name_is_noticed(self):
        strong = dataclasses.replace(self.symbols["MPI_Send"], weak=False)
        self.assertEqual(self.complaints(MPI_Send=strong), ["MPI_Send is not weak"])

    def test_object_of_another_size_is_noticed(self):
        small = dataclasses.replace(self.symbols["ompi_mpi_int"], size=8)
        self.assertIn("ompi_mpi_int has 8 bytes", self.complaints(ompi_mpi_int=small)[0])
        self.assertEqual(self.complaints(ompi_mpi_int=None), ["ompi_mpi_int is missing"])


class Calls(unittest.TestCase):
    """Runs the same program with the real library and with the stand-in."""

    def run_calls(self, *options):
        environment = {
            **os.environ,
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }
        with tempfile.TemporaryDirectory() as directory:
            result = subprocess.run(
                [os.environ["MPIRUN"], "--oversubscribe", "-np", "3", *options]
                + ["./test_coverage_calls", f"{directory}/file"],
                env=environment,
                text=True,
                capture_output=True,
                timeout=120,
                check=False,
            )
        self.assertEqual(
            (result.stdout, result.returncode), ("all right\n", 0), result.stderr
        )

    def test_with_the_real_library(self):
        self.run_calls()

    def test_with_the_stand_in(self):
        standin = Path(os.environ["CKPT_STANDIN"]).resolve()
        self.run_calls("-x", f"LD_PRELOAD={standin}", "-x", f"CKPT_LIBDIR={standin.parent}")


if __name__ == "__main__":
    unittest.main()
