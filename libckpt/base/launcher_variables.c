/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher_variables.c - the table of what Open MPI's, MPICH's and Slurm's launchers set.
 */
#include "base/launcher_variables.h"

#include "base/text.h"

#include <stddef.h>

/* Settings that launchers make for one process of one launch. What the user has set (other
 * MCA parameters, CKPT_*, the application's variables) is not among them. */
static const struct {
    const char *prefix;
    const char *reason;
} of_launcher[] = {
    {"PMIX_", "the PMIx server's address, this process's namespace and rank"},
    {"PMI_", "the same for PMI-1 and PMI-2: Hydra and Slurm"},
    {"PMI2_", "the same"},
    {"HYDI_", "descriptors of Hydra's proxy"},
    {"MPI_LOCAL", "Hydra: number and count of this process on its node"},
    {"OMPI_MCA_orte_", "ORTE: its addresses, session directories, this process's place"},
    {"OMPI_MCA_ess", "ORTE: how this process finds its launch, its job and rank"},
    {"OMPI_MCA_pmix", "which PMIx components ORTE's server can serve"},
    {"OMPI_MCA_schizo", "for which launcher the process takes itself"},
    {"OMPI_MCA_mpi_oversubscribe", "whether a node has more ranks than processors"},
    {"OMPI_MCA_initial_wdir", "ORTE: where the launch began"},
    {"OMPI_MCA_shmem_RUNTIME_QUERY_hint", "ORTE: what its daemon has found"},
    {"OMPI_COMM_WORLD_", "this process's rank and place"},
    {"OMPI_UNIVERSE_SIZE", "size of the launch"},
    {"OMPI_APP_CTX_", "the programs of the launch"},
    {"OMPI_NUM_APP_CTX", "the same"},
    {"OMPI_FIRST_RANKS", "the same"},
    {"OMPI_COMMAND", "the command line of the launch"},
    {"OMPI_ARGV", "the same"},
    {"OMPI_FILE_LOCATION", "a session directory of the launch"},
    {"PRTE_LAUNCHED", "PRRTE: that it has started this process"},
    {"PRTE_MCA_ess", "PRRTE: how its daemons find the launch"},
    {"PRTE_MCA_prte_", "PRRTE: its addresses and session directories"},
};

int ckpt_is_of_launcher(const char *setting)
{
    if (ckpt_text_starts(setting, "PMIX_MCA_")) { /* users set these */
        return 0;
    }
    for (size_t i = 0; i < sizeof(of_launcher) / sizeof(of_launcher[0]); i++) {
        if (ckpt_text_starts(setting, of_launcher[i].prefix)) {
            return 1;
        }
    }
    return 0;
}
