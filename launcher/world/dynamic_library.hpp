/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dynamic_library.hpp - a library that is opened at run time, because it belongs to a launcher or
 * may be missing.
 */
#pragma once

#include "common/error.hpp"

#include <dlfcn.h>

#include <string>

namespace ckpt
{

class DynamicLibrary
{
  public:
    /* path: as for dlopen(3). Throws Error. It stays open until the process ends, because
     * threads of the library may run until then. */
    explicit DynamicLibrary(const std::string &path)
        : path_(path), handle_(dlopen(path.c_str(), RTLD_NOW))
    {
        if (handle_ == nullptr) {
            fail("cannot load {}: {}", path, dlerror());
        }
    }

    /* Returns the function of that name. Throws Error if there is none. */
    template <typename Function>
    Function *function(const char *name) const
    {
        void *address = dlsym(handle_, name);
        if (address == nullptr) {
            fail("{} has no function {}", path_, name);
        }
        return reinterpret_cast<Function *>(address);
    }

  private:
    std::string path_;
    void *handle_;
};

} // namespace ckpt
