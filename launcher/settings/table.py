# SPDX-License-Identifier: BSD-3-Clause
"""table.py - the one table of all settings: options, variables, defaults, help, manual text.

From it follow the options of ckpt and ckptd, their variables and defaults, what a tune file and
a restart hand on, and the manual pages. setting.py describes the fields. A page lists a command's
options in the order of this table.
"""

from setting import AGENT, KEPT, LAUNCHER, NEVER, PROCESS, RECORDED, RESTART, TESTS
from setting import Internal, Setting

JOB = ("run", "tune", "ckptd")
READ_CHECKPOINTS = ("checkpoint", "gc", "inspect", "list", "restart", "status", "trace", "verify")
RULE_JOBS = ("migrate", "resume", "swap")
ANY_NUMBER = 2**64 - 1
INT_MAX = 2**31 - 1
# Defaults that several commands share.
DIRECTORY = "./ckpt"
CHECKPOINTS = "2"
ROLLBACK = "rollback"

SETTINGS = (
    Setting(
        "--dir",
        on=JOB,
        type="directories",
        value="DIR[,SLOW]",
        mdoc="Ar DIR Ns Oo , Ns Ar SLOW Oc",
        default=DIRECTORY,
        readers=(LAUNCHER, AGENT, PROCESS),
        restart=RECORDED,
        help="Directory of the checkpoints, or a fast and a slow one; checkpoints are copied "
        "to the slow one",
        manual="""\
Directory of the checkpoints.
The default is
.Pa ./ckpt
in the working directory of the processes.
If
.Ar SLOW
is given, checkpoints are copied to it while the job runs on
.Po
.Xr ckpt 7 ,
.Sx TIERS
.Pc .
""",
    ),
    Setting(
        "--levels",
        on=("run", "tune"),
        type="levels",
        value="LEVEL[:every|:TIME],...",
        mdoc="Ar LEVEL Ns Oo : Ns Ar WHEN , Ns Ar ... Oc",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Where checkpoints are kept: memory or local of each node; partner, parity or "
        "rsLOSSES, which survive lost nodes; disk:TIME, the directory",
        manual="""\
Where checkpoints are kept.
.Ql memory
or
.Ql local
is a directory of each node
.Pq Pa /dev/shm/ckpt-UID , /var/tmp/ckpt-UID ,
or the first directory of
.Fl -dir .
.Ql partner ,
.Ql parity
or
.Ql rsLOSSES
is optional.
With it checkpoints survive the loss of one of two nodes, one of eight nodes, or
.Ql LOSSES
of eight nodes;
.Ql /NODES
after it replaces the eight.
.Ql disk: Ns Ar TIME
is the directory that all nodes see.
At most one checkpoint each
.Ar TIME
is copied to it.
This level is mandatory: the directory holds the record of which node has which piece, and
a job that leaves its nodes continues from it
.Po
.Xr ckpt 7 ,
.Sx TIERS
.Pc .
""",
    ),
    Setting(
        "--copy-interval",
        on=("ckptd",),
        type="duration",
        value="TIME",
        default="0",
        readers=(AGENT,),
        restart=KEPT,
        help="Time between two checkpoints that are copied to SLOW, at least",
        manual="""\
Least time between two checkpoints that are copied to
.Ar SLOW .
The default is 0: each checkpoint is copied.
""",
    ),
    Setting(
        "--redundancy",
        on=("ckptd",),
        type="redundancy",
        value="SCHEME",
        default="none",
        readers=(AGENT,),
        restart=KEPT,
        help="How nodes protect each other's pieces in a FAST of their own: none, partner, "
        "parity or rsLOSSES, with /NODES of a group",
        manual="""\
How nodes protect each other's pieces in local directories:
.Ql none
(the default),
.Ql partner ,
.Ql parity
or
.Ql rsLOSSES .
.Ql /NODES
after it sets the size of a group.
""",
    ),
    Setting(
        "--domains",
        on=JOB,
        type="path",
        value="FILE",
        readers=(AGENT,),
        restart=KEPT,
        help="File that says which nodes fail together: lines NODE... : DOMAIN, or Slurm's "
        "topology.conf",
        manual="""\
Nodes that fail together, one failure domain per line.
Nodes of a domain do not protect each other, as far as possible.
The lines have the form
.Ql NODE... : DOMAIN ,
or the file is Slurm's
.Pa topology.conf .
""",
    ),
    Setting(
        "--fabric",
        on=JOB,
        type="fabric",
        value="PROVIDER",
        default="auto",
        readers=(AGENT, RESTART),
        restart=KEPT,
        help="Network over which nodes read each other's pieces: auto, off (TCP), or a "
        "provider of libfabric",
        manual="""\
The network over which nodes read each other's pieces:
.Ql auto
(a network with remote memory access, if there is one),
.Ql off
.Pq TCP ,
or a provider of libfabric.
If the network fails, the nodes use TCP.
""",
    ),
    Setting(
        "--interval",
        on=JOB,
        type="interval",
        value="TIME",
        default="0",
        readers=(AGENT,),
        restart=KEPT,
        help="Take a checkpoint every TIME: 90, 10m, 1.5h, or auto",
        manual="""\
Take a checkpoint every
.Ar TIME :
.Ql 90
(seconds),
.Ql 10m ,
.Ql 1.5h ,
or
.Ql auto .
With
.Ql auto
the agent chooses the interval that minimises the run time of the job, from the measured cost of a
checkpoint and
.Fl -mtbf .
With 0, the default, checkpoints are taken only on request.
""",
    ),
    Setting(
        "--mtbf",
        on=JOB,
        type="duration_above_zero",
        value="TIME",
        readers=(AGENT,),
        restart=KEPT,
        help="Mean time between failures, for --interval auto [observed]",
        manual="""\
The mean time between failures for
.Fl -interval Cm auto .
Without this option
the agent estimates it from the launches of the job, initially one day.
""",
    ),
    Setting(
        "--name",
        on=JOB,
        type="job_name",
        value="NAME",
        readers=(LAUNCHER, AGENT),
        restart=RECORDED,
        help="Name of the job",
        manual="""\
Name of the job: letters, digits and
.Ql ._- .
The default is the program's name and a process id.
""",
        also={
            "run": """\
In a batch job it is the program's name and the id of the batch job
.Pq Sx BATCH JOBS .
""",
        },
    ),
    Setting(
        "--protocol",
        on=JOB,
        type="protocol",
        value="PROTOCOL",
        default="sns",
        readers=(LAUNCHER, AGENT, PROCESS),
        restart=KEPT,
        help="How the ranks agree on a checkpoint: sns, cl, ns, auto or independent",
        manual="""\
How the ranks agree on a checkpoint:
.Ql sns
(the default) is Sync-and-Stop: all ranks stand still.
.Ql cl
is Chandy-Lamport and
.Ql ns
is network sweeping: each rank is saved on its own, and messages that cross the cut
are logged.
.Ql auto
is
.Ql ns
at present.
.Ql independent
is
.Ql auto ,
and each rank also takes its own checkpoints in between.
.Pp
In Chandy-Lamport the ranks tell each other how many messages are under way; in
network sweeping the agents of the nodes do.
Sync-and-Stop is used where these protocols do not apply: for windows, MPI files, several threads
in MPI at once, and memory or connections shared by ranks.
With every protocol except
.Ql sns
each communicator is created twice.
""",
        also={
            "run": """\
.Pp
With
.Ql independent ,
if one rank of a job on one node dies, only that rank goes back, to its own last checkpoint, and
catches up.
The others continue from where they are.
Ranks on several nodes take no such checkpoints; a message says so.
This needs Open MPI's mpirun and Linux 6.15.
The whole job goes back to its newest checkpoint elsewhere, or if the rank has since communicated
by other means than windows of MPI_Win_allocate and MPI_Win_allocate_shared.
""",
        },
    ),
    Setting(
        "--windows",
        on=("run", "tune"),
        type="word",
        value="WHEN",
        default="staged",
        words=("staged", "direct"),
        readers=(PROCESS,),
        restart=KEPT,
        help="When puts are in their target's memory (independent): staged, with the next "
        "synchronisation, or direct, at once",
        manual="""\
With
.Fl -protocol Cm independent :
when a put to a window of MPI_Win_allocate reaches the memory of its target.
.Ql staged
(the default): when the origin synchronises;
.Ql direct :
at once.
The info
.Ql ckpt_direct
.Pq true or false
sets it for one window.
The puts of a killed rank stay in the memory of the target.
So direct puts suit programs whose puts before a synchronisation do not depend on the time, or on
anything else that differs in a replay.
""",
    ),
    Setting(
        "--components",
        on=("run", "tune", "restart"),
        type="word",
        value="WHICH",
        default="former",
        words=("former", "search"),
        readers=(PROCESS,),
        restart=KEPT,
        help="Components of Open MPI after a restart: former, those of the job until then, or "
        "search, as at a first start",
        manual="""\
Which components (pml, btl, mtl) Open MPI opens when the job is restarted.
.Ql former
(the default): a rank opens only those that its library had chosen before, if the library, its
settings, the devices of the node and the number of ranks there are the same.
Then MPI_Init takes a small part of the time.
.Ql search :
the library opens all that are installed, and chooses again.
Parameters that the user or the launcher sets are not changed.
""",
    ),
    Setting(
        "--stagger",
        on=JOB,
        type="stagger",
        value="WHICH",
        default="auto",
        readers=(AGENT,),
        restart=KEPT,
        help="Ranks saved one after the other: no, node, storage, job or auto",
        manual="""\
Which ranks are saved one after the other, so that each rank stands still only while
it is saved itself:
.Ql node :
the ranks of a node;
.Ql storage :
the ranks of all nodes whose checkpoints are on one file server, and otherwise (on local
disks and parallel file systems) the ranks of a node;
.Ql job :
all ranks;
.Ql no :
none;
.Ql auto
(the default): as
.Ql storage ,
if in the last checkpoint fewer than half of the ranks waited for others, and few messages were
logged.
Ranks that wait for others are saved first.
The turns then alternate between nodes, and on each node between its NUMA nodes.
With Sync-and-Stop all ranks stand still from the beginning; nodes whose ranks would
take turns write one after the other.
""",
    ),
    Setting(
        "--sweep-dimensions",
        on=JOB,
        type="number",
        value="N",
        default="0",
        most=32,
        readers=(AGENT,),
        restart=KEPT,
        help="Dimensions of the mesh of nodes; 0: a hypercube",
        manual="""\
Network sweeping uses a mesh of the nodes with
.Ar N
dimensions, at most 32.
With 0, the default, it uses a hypercube.
""",
    ),
    Setting(
        "--key",
        on=JOB,
        type="key",
        value="FILE",
        readers=(LAUNCHER, AGENT, RESTART),
        restart=NEVER,
        help="File with the key that checkpoints are encrypted with, or |COMMAND that prints it",
        manual="""\
Encrypt and sign checkpoints with the key in this file, or with the key that
.Ql \\(baCOMMAND
prints.
No other user may be able to read the file.
A restart refuses checkpoints that were made without the key
.Po
.Xr ckpt 7 ,
.Sx KEYS
.Pc .
""",
        also={
            "run": """\
Files do not roll back with a key, so
.Fl -files Cm ignore
must be given.
""",
            "ckptd": """\
The agent does not start if it cannot read the key.
""",
        },
    ),
    Setting(
        "--codec",
        on=JOB,
        type="codec",
        value="CODEC",
        default="zstd",
        readers=(AGENT,),
        restart=KEPT,
        help="Compression: none, lz4, zstd, zstd:LEVEL or auto",
        manual="""\
Compression:
.Ql none ,
.Ql lz4 ,
.Ql zstd
(the default),
.Ql zstd:LEVEL
or
.Ql auto .
With
.Ql auto
the agent chooses for each piece of memory the codec that makes the checkpoint shortest, from the
measured speeds of the file system and the codecs.
""",
    ),
    Setting(
        "--snapshot",
        on=JOB,
        type="snapshot",
        value="METHOD",
        default="auto",
        readers=(AGENT,),
        restart=KEPT,
        help="How long ranks stand still: stop, memory, cow, cll or auto",
        manual="""\
When a rank that is being saved may run on.
.Ql stop :
when its memory has been compressed and is on its way to the file.
.Ql memory :
when its memory has been copied into the agent's memory.
.Ql cow :
when a copy of the process exists that shares its pages.
The kernel copies a page when the rank writes to it before it is saved.
.Ql cll :
when its pages are write-protected.
The agent copies a page when the rank writes to it before it is saved
.Pq Fl -pool , Fl -granule .
This needs userfaultfd: root, CAP_SYS_PTRACE, or the sysctl
vm.unprivileged_userfaultfd set to 1.
Without userfaultfd, or if the rank has memory that devices write to, the agent uses
.Ql cow
and logs that once.
If the program gives memory back in free(3) before it is saved, the checkpoint is taken once
more with
.Ql cow .
.Ql auto
(the default) is
.Ql cll ,
or
.Ql cow
with
.Fl -incremental .
.Pp
Ranks always stand still while the agent reads memory that they share, and files that they have
changed in memory.
A rank is saved with
.Ql stop
if the agent cannot copy it, or if there is too little memory for
.Ql memory ;
the agent's log says why.
""",
    ),
    Setting(
        "--keep-copies",
        on=JOB,
        type="word",
        value="WHETHER",
        default="auto",
        words=("auto", "no", "yes"),
        readers=(AGENT, PROCESS),
        restart=KEPT,
        help="Keep frozen copies of the ranks until the next checkpoint, to recover in place: "
        "auto, yes or no",
        manual="""\
Whether the ranks make copies of themselves at each checkpoint that stay until the next one is
committed:
.Ql yes ,
.Ql no ,
or
.Ql auto
(the default).
If a rank dies under
.Cm ckpt run ,
the copies of all ranks take the place of the ranks, on the node and in the job that run already.
Nothing is read from the checkpoint.
Files that the job has changed since are rolled back as at a restart.
With
.Fl -protocol Cm independent
the ranks have copies of their own.
Then only the copy of the rank that has died takes its place, and is replayed.
The files stay as they are.
This needs a job on one node, Sync-and-Stop or independent checkpoints, and Linux 6.15.
Where it cannot be done, the job is restarted from the checkpoint.
The copies share with the ranks all memory that the ranks have not written since; so they take as
much memory as the ranks write between two checkpoints.
.Pp
With
.Ql auto
copies are kept if
.Cm ckpt run
can do this with the launcher,
.Fl -files
is
.Ql rollback ,
.Fl -snapshot
is
.Ql auto
or
.Ql cow ,
and there is room: the ranks' own memory, twice, fits into three quarters of the memory that is
available to the machine and to the control group of a batch system.
This is decided at each checkpoint.
The copies end when programs wait for memory, and
.Nm ckpt Cm status
says why none are kept.
With
.Ql yes
only the kernel ends them, before anything else, when memory runs out.
.Pp
Checkpoints whose copies are kept are taken as with
.Fl -snapshot Cm cow .
""",
    ),
    Setting(
        "--standby",
        on=JOB,
        type="word",
        value="WHETHER",
        default="no",
        words=("no", "yes"),
        readers=(AGENT,),
        restart=KEPT,
        help="Let kept copies begin MPI beforehand, so that a recovery in place takes less time: "
        "yes or no",
        manual="""\
Whether copies that
.Fl -keep-copies
keeps begin MPI in a world of their own at once, and wait there:
.Ql yes ,
or
.Ql no
(the default).
If a rank dies, they only have to go on.
This costs the ranks the processor time of
.Fn MPI_Init
after each checkpoint and each recovery, and the memory of an MPI library for each rank.
Where no copies are kept, it has no effect.
""",
    ),
    Setting(
        "--pool",
        on=JOB,
        type="bytes",
        value="BYTES",
        default="0",
        readers=(AGENT,),
        restart=KEPT,
        help="Memory of a node for copies of pages that ranks write to before they are saved "
        "(cll); 0: up to a quarter of the free memory",
        manual="""\
Memory of a node for copies of pages that ranks write to before they are saved, with
.Ql cll
.Po
.Ql 64M ,
.Ql 1G
.Pc .
The default, and the meaning of 0, is 256M.
The agent then takes more while the pool is at most a quarter of what would be
available without it, also to the control group (a batch system's limit of memory).
When the pool is full, ranks wait for the file.
After the checkpoint the agent releases all but 256M.
""",
    ),
    Setting(
        "--granule",
        on=JOB,
        type="granule",
        value="BYTES",
        default="64K",
        readers=(AGENT,),
        restart=KEPT,
        help="Bytes that are copied at once (cll): 4K to 1M, a power of two",
        manual="""\
Bytes that are copied at once with
.Ql cll :
a power of two from 4K to 1M, by default 64K.
""",
    ),
    Setting(
        "--share-pages",
        on=JOB,
        type="auto_switch",
        value="WHEN",
        default="auto",
        readers=(AGENT,),
        restart=KEPT,
        help="Store pages that are alike on a node once: auto, on or off",
        manual="""\
Store pages once that occur several times in a rank or in the ranks of a node:
.Ql on ,
.Ql off ,
or
.Ql auto
(the default).
With
.Ql auto
the agent samples one page in 16.
If a sixteenth of the sample occurs more than once, it shares pages from the next checkpoint on.
""",
    ),
    Setting(
        "--direct-io",
        on=JOB,
        type="auto_switch",
        value="WHEN",
        default="auto",
        readers=(AGENT,),
        restart=KEPT,
        help="Write past the page cache: auto, on or off",
        manual="""\
Write large chunks past the page cache
.Pq O_DIRECT :
.Ql on ,
.Ql off ,
or
.Ql auto
(the default): on a local disk that the agent measures to be clearly faster this way, after the
first
checkpoint.
""",
    ),
    Setting(
        "--write-rate",
        on=JOB,
        type="bytes",
        value="BYTES",
        default="0",
        readers=(AGENT,),
        restart=KEPT,
        help="Write at most so many bytes per second on a node: 200M, 1G; 0: no limit",
        manual="""\
A node writes at most this many bytes per second
.Po
.Ql 200M ,
.Ql 1G
.Pc
to checkpoints.
0, the default, sets no limit.
Ranks stand still all that time, except with
.Fl -snapshot Cm memory ,
.Cm cow
or
.Cm cll .
""",
    ),
    Setting(
        "--incremental",
        on=JOB,
        type="number",
        value="N",
        default="0",
        implied="16",
        readers=(AGENT, PROCESS),
        restart=KEPT,
        help="Incremental: up to N checkpoints with only the changed pages after each full "
        "one; without a value: 16",
        manual="""\
Incremental checkpoints: after each full one, up to
.Ar N
(without a value 16) with only the pages that changed since the last checkpoint.
With 0, the default, each checkpoint is a full one.
A kept checkpoint keeps those that it is based on.
Not with
.Fl -levels :
all checkpoints of a chain would have to survive together.
""",
    ),
    Setting(
        "--keep",
        on=JOB,
        type="number",
        value="N",
        default=CHECKPOINTS,
        least=1,
        readers=(AGENT,),
        restart=KEPT,
        help="Checkpoints to keep of the job",
        manual="""\
Committed checkpoints to keep; older ones are removed after each commit.
The default is 2.
""",
    ),
    Setting(
        "--timeout",
        on=JOB,
        type="duration",
        value="TIME",
        default="30m",
        readers=(AGENT,),
        restart=KEPT,
        help="Give up a checkpoint that takes longer than TIME",
        manual="""\
Give up a checkpoint that takes longer than this.
The job runs on.
The default is 30m.
""",
    ),
    Setting(
        "--metrics",
        on=JOB,
        type="path",
        value="FILE",
        readers=(AGENT,),
        restart=KEPT,
        help="Keep a file with metrics of the job for Prometheus; %h is the host, %j the job",
        manual="""\
Maintain a file with metrics of the job in the text format of Prometheus, as
.Ql ckpt status --prometheus
prints them
.Pq Xr ckpt-status 1 ,
for the textfile collector of node_exporter
.Ql ( /var/lib/prometheus/node-exporter/%j.prom ) .
In
.Ar FILE
.Ql %h
stands for the host of rank 0 and
.Ql %j
for the job.
The agent replaces the file at each change and every 15 seconds.
All users can read it.
It remains after the job has ended, and gives that state.
If the agent cannot write the file, it logs that once.
""",
    ),
    Setting(
        "--max-restarts",
        on=("run",),
        type="number",
        value="N",
        default="10",
        most=INT_MAX,
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Give up after N restarts",
        manual="""\
Give up after this many restarts.
The default is 10.
""",
    ),
    Setting(
        "--files",
        on=("run",),
        type="word",
        value="HOW",
        default=ROLLBACK,
        words=("rollback", "check", "ignore", "conceal"),
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="What becomes of files that were changed since the checkpoint: rollback, check or "
        "ignore; conceal: others do not see them before the next one, and they roll back",
        manual="""\
What happens to files that the job has changed since the checkpoint.
.Ql rollback
(the default) restores them, open or closed.
.Ql check
changes nothing, and refuses the restart if a file that the job has written differs.
.Ql ignore
leaves them as they are.
.Ql conceal
restores them, too, and conceals what the job writes.
Other processes see files, names and lines on standard output when the next checkpoint commits that
survives the loss of the nodes, or when the job ends.
They see them in the order in which the job has produced them, and never see rolled-back changes.
A restart from a checkpoint older than the last revealed one is refused.
.Ql conceal
cannot be combined with
.Fl -protocol Cm independent .
.Pp
A restart checks all files before it changes one.
If it cannot roll a file back, it changes nothing and names the file.
""",
    ),
    Setting(
        "--back-off",
        on=("run",),
        type="duration",
        value="TIME",
        default="1s",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Wait before a second restart from one checkpoint; doubled each time",
        manual="""\
Time to wait before a second restart from one checkpoint.
The time doubles before each further restart, up to a minute.
The default is 1s.
""",
    ),
    Setting(
        "--no-fresh-start",
        on=("run",),
        type="flag",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Do not start over if a job is lost before its first checkpoint",
        manual="""\
Never run the command from its beginning again, for a program whose effects outside must not happen
twice.
""",
    ),
    Setting(
        "--unprotected",
        on=("run",),
        type="word",
        value="WHAT",
        default="go",
        words=("go", "stop"),
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="What becomes of a job that cannot be saved for an interval: go on, or stop",
        manual="""\
What to do, with
.Fl -interval ,
with a job that cannot be saved because the checkpoint directory has vanished, is full, cannot be
written to, or is so slow that a checkpoint takes longer than the interval.
.Ql go
(the default): the job runs on, and each interval another checkpoint is tried.
.Ql stop :
the command gets SIGTERM, and SIGKILL after 10 seconds, when this has lasted for an interval and a
second checkpoint has failed.
The exit code is then 75 if the job can continue from a checkpoint.
Either way
.Nm ckpt run
reports it on standard error;
.Xr ckpt-status 1
and the metrics show since when the job is unprotected.
""",
    ),
    Setting(
        "--ranks",
        letter="-n",
        on=("run",),
        type="number",
        value="N",
        most=65535,
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Start N ranks of PROGRAM on this node, without mpirun",
        manual="""\
Start
.Ar N
ranks of
.Ar PROGRAM
on this node, without
.Xr mpirun 1
.Pq Sx WITHOUT MPIRUN .
""",
    ),
    Setting(
        "--bind-to",
        on=("run",),
        type="word",
        value="WHAT",
        words=("core", "numa", "socket", "none"),
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="What each rank is bound to, with -n: core, numa, socket or none",
        manual="""\
With
.Fl n :
bind each rank to a
.Ql core ,
to the processors of a NUMA node
.Pq Ql numa
or of a
.Ql socket ,
or to nothing
.Pq Ql none .
Without this option, at most two ranks are bound to cores, and more to NUMA nodes, or to sockets if
there are more of those.
If there are more ranks than cores, none is bound.
Only processors on which
.Nm ckpt run
may run itself are used.
""",
    ),
    Setting(
        "--spares",
        on=("run",),
        type="number",
        value="N",
        default="0",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Hold back the last N nodes of the command",
        manual="""\
Reserve the last
.Ar N
nodes that the command names, to replace lost nodes.
The default is 0.
""",
    ),
    Setting(
        "--min-nodes",
        on=("run",),
        type="number",
        value="N",
        default="1",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Give up if fewer nodes are left",
        manual="""\
Give up if fewer nodes are left.
The default is 1: the nodes that are left get more ranks.
""",
    ),
    Setting(
        "--swap-signal",
        on=("run",),
        type="signals",
        value="SIGNAL,...",
        mdoc="Ar SIGNAL Ns Oo , Ns Ar ... Oc",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Signals on which the job is swapped out, until SIGCONT",
        manual="""\
Signals that swap the job out as
.Xr ckpt-swap 1
does, until SIGCONT.
""",
    ),
    Setting(
        "--migrate-signal",
        on=("run",),
        type="signals",
        value="SIGNAL,...",
        mdoc="Ar SIGNAL Ns Oo , Ns Ar ... Oc",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Signals on which the job leaves nodes that --nodes-file does not list",
        manual="""\
Signals on which
.Nm ckpt run
reads
.Fl -nodes-file
and migrates the job as
.Xr ckpt-migrate 1
does.
With one checkpoint, the job leaves the nodes that are not in the file for free nodes that are.
Nodes that are left over become spares; nodes outside the file are no longer used.
If the migration is impossible,
.Nm ckpt run
prints the reason on standard error and the job stays where it is.
For a job that is swapped out, the signal changes only the nodes on which it resumes.
""",
    ),
    Setting(
        "--nodes-file",
        on=("run",),
        type="path",
        value="FILE",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Lists the nodes that the job may use, one a line",
        manual="""\
Lists the nodes that the job may use from then on, one per line; # begins a comment.
The command must name each of them, as a node in use or as one reserved by
.Fl -spares .
""",
    ),
    Setting(
        "--resume",
        on=("run",),
        type="auto_switch",
        value="WHEN",
        default="auto",
        implied="on",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Begin with the newest checkpoint of the job: on, off, or auto, if the batch "
        "system has started it again",
        manual="""\
Start from the newest usable checkpoint of the job of this name, if there is one, instead of from
the
command:
.Ql on
(the meaning of the option without a value),
.Ql off ,
or
.Ql auto
(the default): if the batch system says that it has restarted the job.
If there are checkpoints but none is usable, nothing is started.
""",
    ),
    Setting(
        "--warning-signal",
        on=("run",),
        type="signals",
        value="SIGNAL,...",
        mdoc="Ar SIGNAL Ns Oo , Ns Ar ... Oc",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Signals that announce the end: save the job and end it",
        manual="""\
Signals that announce the end of the allocation, from
.Ql USR1 ,
.Ql USR2 ,
.Ql TERM ,
.Ql HUP ,
.Ql INT
and
.Ql QUIT .
.Nm ckpt run
takes a checkpoint, ends the job with it, and exits with 75.
Further such signals have no effect meanwhile.
If the job cannot be saved,
.Nm ckpt run
prints the reason, passes the signal on to the command as without this option, and restarts nothing;
earlier checkpoints remain.
By default no signal announces the end.
""",
    ),
    Setting(
        "--requeue",
        on=("run",),
        type="text",
        value="COMMAND",
        implied="yes",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Have the batch system start the job again that was warned (=COMMAND: by that)",
        manual="""\
After a warning signal, ask the batch system to restart the job.
.Nm ckpt run
runs
.Ar COMMAND
in a shell if it is given, and otherwise
.Ql scontrol requeue
(Slurm) or
.Ql qrerun
(PBS).
It does not ask if the job could not be saved and has no newer checkpoint than the one it
started with, because the job would never end.
Under Slurm it still asks if the job has to make room for another one.
""",
    ),
    Setting(
        "--dir",
        on=READ_CHECKPOINTS,
        type="directories",
        value="DIR[,SLOW]",
        mdoc="Ar DIR Ns Oo , Ns Ar SLOW Oc",
        default=DIRECTORY,
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Directory of the checkpoints, or a fast and a slow one; checkpoints are copied "
        "to the slow one",
        manual="""\
Directory of the checkpoints, or a fast directory and a slow one to which checkpoints are copied.
The default is
.Pa ./ckpt .
""",
    ),
    Setting(
        "--dir",
        on=RULE_JOBS,
        type="directories",
        value="DIR[,SLOW]",
        mdoc="Ar DIR Ns Oo , Ns Ar SLOW Oc",
        default=DIRECTORY,
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Directory of the checkpoints, as given to ckpt run",
        manual="""\
Directory of the checkpoints, as given to
.Xr ckpt-run 1 .
The default is
.Pa ./ckpt .
""",
    ),
    Setting(
        "--kill",
        on=("checkpoint",),
        type="flag",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Kill all ranks once the checkpoint is committed",
        manual="""\
Kill all ranks once the checkpoint is committed.
No rank runs between the checkpoint and its end.
With two directories the ranks are killed when the checkpoint is in the slow one.
.Xr ckpt-run 1
does not restart the job, and exits with 75.
""",
    ),
    Setting(
        "--keep",
        on=("gc",),
        type="number",
        value="N",
        default=CHECKPOINTS,
        least=1,
        readers=(LAUNCHER,),
        restart=KEPT,
        help="Committed checkpoints to keep of each job",
        manual="""\
Committed checkpoints to keep of each job.
The default is 2.
""",
    ),
    Setting(
        "--dry-run",
        on=("gc",),
        type="flag",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Print only what would go",
        manual="""\
Print only what would be removed.
""",
    ),
    Setting(
        "--from",
        on=("migrate",),
        type="text",
        value="NODE",
        required=True,
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Node that is to be free",
        manual="""\
The node that the job leaves.
""",
    ),
    Setting(
        "--to",
        on=("migrate",),
        type="text",
        value="NODE",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Node in its place [a spare one]",
        manual="""\
The node that replaces it; the launcher's command need not name it.
The default is the first spare node.
""",
    ),
    Setting(
        "--mpirun",
        on=("restart",),
        type="text",
        value="PROGRAM",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Launcher to start [the recorded one]",
        manual="""\
Start this launcher instead of the recorded one: another installation or version of
Open MPI, or mpiexec of MPICH.
Between Open MPI, MPICH and srun,
.Nm
translates the recorded variables and the working directory for the other launcher.
It names and refuses an option that has no counterpart there.
In that case give all options after
.Fl - .
""",
    ),
    Setting(
        "--verify",
        on=("restart",),
        type="word",
        value="HOW",
        default="quick",
        words=("none", "quick", "full"),
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="How much to read first: none, quick or full",
        manual="""\
How much to verify before the launcher starts:
.Ql none
(the manifest and the sizes of files),
.Ql quick
(also everything except the saved memory; the default), or
.Ql full .
If you name no particular checkpoint and the newest one is unusable,
.Nm
says so and uses an older one.
Each rank verifies the data that it loads in any case.
""",
    ),
    Setting(
        "--lazy",
        on=("run", "tune", "restart"),
        type="word",
        value="HOW",
        default="no",
        implied="auto",
        words=("no", "auto", "always"),
        readers=(LAUNCHER, RESTART),
        restart=KEPT,
        help="Restart before all memory is read; it comes when it is touched: no, auto or always",
        manual="""\
Whether a restarted program runs before all of its memory is read.
With
.Ql auto
(or without a value) large private memory comes when the program touches it, and the rest
behind that.
Where that is not possible, a message says why, and all memory is read first.
With
.Ql always
the restart is refused then.
.Ql no
is the default.
The data are verified as they come: damage ends the job, with a message that names the place.
A checkpoint waits until all memory is there.
This needs CAP_SYS_PTRACE, for example root, and no
.Fl -protocol Ns =independent .
""",
    ),
    Setting(
        "--key",
        on=("inspect", "verify"),
        type="key",
        value="FILE",
        readers=(LAUNCHER,),
        restart=NEVER,
        help="File with the key that checkpoints are encrypted with, or |COMMAND that prints it",
        manual="""\
File with the key of the checkpoint, or
.Ql \\(baCOMMAND
that prints the key
.Po
.Xr ckpt 7 ,
.Sx KEYS
.Pc .
""",
    ),
    Setting(
        "--key",
        on=("restart",),
        type="key",
        value="FILE",
        readers=(LAUNCHER,),
        restart=NEVER,
        help="File with the key that checkpoints are encrypted with, or |COMMAND that prints it",
        manual="""\
File with the key of the checkpoint, or
.Ql \\(baCOMMAND
that prints the key.
A checkpoint that was made without this key is refused
.Po
.Xr ckpt 7 ,
.Sx KEYS
.Pc .
""",
    ),
    Setting(
        "--files",
        on=("restart",),
        type="word",
        value="HOW",
        default=ROLLBACK,
        words=("rollback", "check", "ignore"),
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="What becomes of files that were changed since the checkpoint: rollback, check or "
        "ignore",
        manual="""\
What happens to files that the job has changed since the checkpoint.
.Ql rollback
(the default) restores them, open or closed.
.Ql check
changes nothing, and refuses the restart if a file that the job has written differs.
.Ql ignore
leaves them as they are.
A restart checks all files before it changes one.
If it cannot roll a file back, it changes nothing and names the file.
""",
    ),
    Setting(
        "--force",
        on=("restart",),
        type="flag",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Start even if the job seems to be running",
        manual="""\
Take the job over from its owner, a process that may still run.
If the owner does run, there are two copies of the job, which write the same files.
Only the new copy takes checkpoints.
""",
    ),
    Setting(
        "--print",
        on=("restart",),
        type="flag",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Print the command only",
        manual="""\
Print the command instead of starting it.
""",
    ),
    Setting(
        "--print",
        on=("tune",),
        type="flag",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Print the text, not the path",
        manual="""\
Print the text instead of a path, and write nothing.
""",
    ),
    Setting(
        "--rank",
        on=("inspect",),
        type="number",
        value="RANK",
        most=INT_MAX,
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Everything about one rank",
        manual="""\
Show everything about one rank.
""",
    ),
    Setting(
        "--svg",
        on=("trace",),
        type="text",
        value="FILE",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Draw the space-time diagram",
        manual="""\
Draw the space-time diagram into
.Ar FILE .
""",
    ),
    Setting(
        "--json",
        on=("checkpoint",),
        type="flag",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Print everything known, as JSON",
        manual="""\
Print the name, size, times and cost of the checkpoint as JSON.
The cost includes messages, markers, and how long ranks stood still.
""",
    ),
    Setting(
        "--json",
        on=("inspect",),
        type="flag",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Print as JSON",
        manual="""\
Print the output as JSON.
""",
    ),
    Setting(
        "--json",
        on=("list",),
        type="flag",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Print as JSON",
        manual="""\
Print an array of objects as JSON.
With two directories each object says where the checkpoint is complete
.Pq in_fast , in_slow .
Each object says whether the pieces of the checkpoint are on nodes
.Pq on_nodes .
""",
    ),
    Setting(
        "--json",
        on=("status",),
        type="flag",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Print as JSON",
        manual="""\
Print a JSON array of objects, each with a member
.Ql running .
""",
    ),
    Setting(
        "--json",
        on=("trace",),
        type="flag",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Print the events as JSON",
        manual="""\
Print all events as JSON, one per line.
""",
    ),
    Setting(
        "--prometheus",
        on=("status",),
        type="flag",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Print metrics of the jobs that run on this host, for Prometheus",
        manual="""\
Print metrics of all jobs on this host, whatever their directory, in the text
format of Prometheus, version 0.0.4
.Pq Sx METRICS .
With
.Ar JOB
print only the metrics of that job.
""",
    ),
    Setting(
        "--watch",
        on=("status",),
        type="duration_above_zero",
        value="TIME",
        implied="1",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Show one job until it ends, updated every TIME; without a value: every second",
        manual="""\
Show all details of one job
.Pq Ar JOB , No or the only job that runs in the directory ,
every
.Ar TIME
.Pq 1 second ,
until the job ends or you press Ctrl-C.
On a terminal the command replaces the lines; otherwise it prints them each time, after an empty
line.
When a launch of the job fails, the command waits for the next launch, as long as the
.Xr ckpt-run 1
that may start it runs.
If mpirun is on another host, the command watches only the present launch.
""",
    ),
    Setting(
        "--pmix",
        on=("checkpoint",),
        type="flag",
        readers=(LAUNCHER,),
        restart=RECORDED,
        help="Ask by way of the PMIx server in mpirun, not the agent",
        manual="""\
Ask the PMIx server in mpirun instead of the agent; the server passes the request on to rank 0.
Use this on the node of mpirun when rank 0 is on another node.
.Ar JOB
is then the process id of mpirun.
Only mpirun of Open MPI 5.0 accepts such a request, once for each job.
This option cannot be combined with
.Fl -kill
or
.Fl -json .
The command waits as long as the job runs: a job that was not started with
.Nm ckpt
gives no answer.
""",
    ),
    Setting(
        "--restart-job",
        on=("ckptd",),
        type="text",
        value="NAME",
        readers=(AGENT,),
        restart=NEVER,
        help="Job that this launch goes on with",
        manual="""\
Job that this launch continues.
""",
    ),
    Setting(
        "--restart-number",
        on=("ckptd",),
        type="number",
        value="N",
        default="0",
        most=ANY_NUMBER,
        readers=(AGENT,),
        restart=NEVER,
        help="Checkpoint it was restarted from",
        manual="""\
Checkpoint from which this launch was restarted.
0, the default: it was not.
""",
    ),
    Setting(
        "--supervisor",
        on=("ckptd",),
        type="text",
        value="FILE",
        readers=(AGENT,),
        restart=RECORDED,
        help="File that says where ckpt run is to be found",
        manual="""\
File with the address of the
.Xr ckpt-run 1
that has started the job.
The agent reports to it how ranks end.
""",
    ),
    Setting(
        "--owner",
        on=("ckptd",),
        type="text",
        value="TOKEN",
        readers=(AGENT,),
        restart=NEVER,
        help="Token of the launch, by which its agent takes the job over from its command",
        manual="""\
Token of the launch.
With it the agents of the launch take over the ownership of the job, from the command that starts it
and from each other.
""",
    ),
    Setting(
        "--incarnation",
        on=("ckptd",),
        type="number",
        value="N",
        default="0",
        most=ANY_NUMBER,
        readers=(AGENT,),
        restart=NEVER,
        help="Which launch of the job this is: agents of different ones do not talk to each other",
        manual="""\
Number of this launch of the job.
The default, 0, is for launches without a count.
Agents of different incarnations do not talk to each other.
""",
    ),
    Setting(
        "--host",
        on=("ckptd",),
        type="text",
        value="NAME",
        readers=(AGENT, RESTART),
        restart=RECORDED,
        help="Name of this node",
        manual="""\
Name of this node.
""",
    ),
    Setting(
        "--nodes",
        on=("ckptd",),
        type="number",
        value="N",
        default="0",
        most=INT_MAX,
        readers=(AGENT,),
        restart=RECORDED,
        help="Nodes of the job; 0: found out from the launcher",
        manual="""\
Number of nodes of the job.
With 0, the default, the agent gets it from the launcher.
""",
    ),
    Setting(
        "CKPT_RUN_DIR",
        type="path",
        readers=(LAUNCHER, AGENT, PROCESS),
        restart=KEPT,
        manual="""\
Directory of the agents' sockets; the default is
.Pa ${XDG_RUNTIME_DIR:-/tmp}/ckpt-UID .
""",
    ),
    Setting(
        "CKPT_FILE_LIMIT",
        type="bytes",
        readers=(PROCESS,),
        restart=KEPT,
        manual="""\
Size limit, in bytes or with the unit K, M or G, of files whose contents are saved.
It applies to files that are open for reading and writing, deleted files, and files in memory
(memfd), but
not to MPI files.
The default is the free space of the checkpoint directory.
""",
    ),
    Setting(
        "CKPT_SIGNAL",
        type="number",
        least=1,
        most=64,
        readers=(PROCESS,),
        restart=KEPT,
        manual="""\
Number of the signal that a checkpoint uses, for programs that use the default signal
themselves.
""",
    ),
    Setting(
        "CKPT_LIBMPI",
        type="path",
        readers=(PROCESS,),
        restart=KEPT,
        manual="""\
Path of the real MPI library, if it is not found.
""",
    ),
    Setting(
        "CKPT_LIBDIR",
        type="path",
        readers=(LAUNCHER, PROCESS),
        restart=RECORDED,
        manual="""\
Directory of the run-time parts.
""",
    ),
    Setting(
        "CKPT_LOG_LEVEL",
        type="word",
        words=("trace", "debug", "info", "warning", "warn", "error", "err", "critical", "off"),
        default="info",
        readers=(AGENT,),
        restart=KEPT,
        manual="""\
How much the agents log:
.Ql trace ,
.Ql debug ,
.Ql info
(the default),
.Ql warning ,
.Ql error ,
.Ql critical
or
.Ql off .
""",
    ),
    Setting(
        "CKPT_LOG_LIMIT",
        type="number",
        most=ANY_NUMBER,
        default="0",
        readers=(PROCESS,),
        restart=KEPT,
        manual="""\
With
.Ev CKPT_PROTOCOL Ns =independent :
bytes of each of the two rings in which a rank logs what it puts into windows.
The default, 0, is 64 MiB.
""",
    ),
    Setting(
        "CKPT_BARRIER_ALIGNED",
        type="word",
        words=("yes", "no"),
        default="yes",
        readers=(PROCESS,),
        restart=KEPT,
        manual="""\
With
.Ev CKPT_PROTOCOL Ns =independent :
whether ranks that have a reason for a checkpoint wait for the next barrier.
.Ql yes
is the default; with
.Ql no
each rank takes its checkpoint at once.
""",
    ),
)

# Variables that ckpt sets for its own processes, and those of tests. Users do not set them.
INTERNALS = (
    Internal("CKPT_NON_MPI", (PROCESS,), RECORDED, "The process that is saved without MPI."),
    Internal("CKPT_APPEND", (LAUNCHER,), RECORDED, "Output files that a new launcher continues."),
    Internal(
        "CKPT_COMPONENTS_FAILED", (PROCESS,), NEVER, "The former components may have failed."
    ),
    Internal("CKPT_GATHER", (RESTART,), RECORDED, "File through which nodes find the gatherer."),
    Internal("CKPT_INPUT", (PROCESS,), RECORDED, "What becomes of the launch's standard input."),
    Internal("CKPT_WORLD_LIBRARY", (AGENT,), NEVER, "PMIx library of the worlds of ckpt-launch."),
    Internal("CKPT_OUTPUT", (PROCESS,), RECORDED, "The launcher's standard output and error."),
    Internal("CKPT_JOURNAL", (PROCESS,), RECORDED, "Directory of the job's file journal."),
    Internal("CKPT_JOURNAL_OUTPUT", (PROCESS,), RECORDED, "Output held by the file journal."),
    Internal("CKPT_KEEP_GOING", (LAUNCHER,), NEVER, "ckpt-launch goes on when ranks end."),
    Internal("CKPT_STARTED", (PROCESS,), RECORDED, "Socket that hears of started programs."),
    Internal("CKPT_RUN_COMMAND", (LAUNCHER,), KEPT, "Identity of the command of ckpt run."),
    Internal("CKPT_RESTART_SALT", (RESTART,), NEVER, "Salt of the checkpoint's encryption."),
    Internal("CKPT_RESTART_LAYOUT", (RESTART,), NEVER, "How often the addresses did not fit."),
    Internal("CKPT_FAULT", (LAUNCHER, AGENT, PROCESS, RESTART), RECORDED, "Fault to inject."),
    Internal("CKPT_GUARDS_SINCE", (TESTS,), RECORDED, "Commit since which guards look at changes."),
    Internal("CKPT_FUZZ_DECODER", (TESTS,), RECORDED, "Decoder to fuzz."),
    Internal("CKPT_FUZZ_ROUNDS", (TESTS,), RECORDED, "Mutations of each datagram."),
    Internal("CKPT_FUZZ_SECONDS", (TESTS,), RECORDED, "Duration of a fuzz test."),
    Internal("CKPT_FUZZ_SEED", (TESTS,), RECORDED, "First seed of a fuzz test."),
    Internal("CKPT_FUZZ_SEEDS", (TESTS,), RECORDED, "Directory for the seeds of a fuzzer."),
    Internal("CKPT_MEMBERSHIP_FIRST", (TESTS,), RECORDED, "First seed of random views."),
    Internal("CKPT_MEMBERSHIP_SEEDS", (TESTS,), RECORDED, "Number of seeds of random views."),
    Internal("CKPT_REDRAW", (TESTS,), RECORDED, "Redraws the diagrams of the documents."),
    Internal("CKPT_STANDIN", (TESTS,), RECORDED, "Library of the coverage test."),
    Internal("CKPT_STAND_IN", (TESTS,), RECORDED, "Socket of the stand-in of the agent."),
    Internal("CKPT_TEST_BUILD", (TESTS,), RECORDED, "Build directory of the tests."),
    Internal("CKPT_TEST_FULL", (TESTS,), RECORDED, "Runs tests at full length."),
    Internal("CKPT_TEST_INSTALL", (TESTS,), RECORDED, "Installation that is tested."),
    Internal("CKPT_TEST_MPICH", (TESTS,), RECORDED, "Installation of MPICH."),
    Internal("CKPT_TEST_MPIRUN", (TESTS,), RECORDED, "mpirun of a unit test."),
    Internal("CKPT_TEST_TIMEOUT", (TESTS,), RECORDED, "Seconds until a test gives up."),
    Internal("CKPT_TEST_WORLD", (TESTS,), RECORDED, "Marks the new world of a test."),
)
