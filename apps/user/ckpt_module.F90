! SPDX-License-Identifier: BSD-3-Clause
! ckpt_module.F90 - module ckpt, compiled with the program, as ckpt.f90
! requires.
#include "ckpt.f90"
