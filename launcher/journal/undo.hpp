/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * undo.hpp - carries out the steps of a plan; the steps can be repeated.
 */
#pragma once

#include "common/fd.hpp"
#include "journal/kept_files.hpp"
#include "journal/plan.hpp"

namespace ckpt::journal
{

/*
 * Restores the content of the open file from a SIZE, DATA or CONTENT record. Throws Error.
 */
void bring_back_content(const Journal &journal, const Record &record, int file);

class Undo
{
  public:
    /* Both must outlive this object. */
    Undo(const Journal &journal, const Plan &plan);

    /*
     * Carries out the steps from redo.from on. The caller has written the redo record to the
     * disk. This function rewrites it before each rename of a directory, because earlier
     * steps cannot be repeated afterwards. Everything is on the disk at the end. Throws
     * Error; then the caller must repeat it.
     */
    void carry_out(RedoRecord &redo);

  private:
    void step(std::size_t i);
    void set_name(const Record &record, std::size_t i);
    void link_kept(const Record &record, const std::filesystem::path &temporary);
    void move_back(const Record &record);
    void note_remade(const Record &record);
    bool names(const std::string &path, const Record &record) const;
    void set_content(const Record &record, std::size_t i);
    std::string object_of(const Record &record, std::size_t i) const;
    void set_times_of_directories() const;
    void note_file_system(const std::string &path);
    void sync();

    const Journal &journal_;
    const Plan &plan_;
    const KeptFiles kept_;
    /* Steps that copy files, by path and inode of the original. */
    std::map<std::pair<std::string_view, std::uint64_t>, std::size_t> copies_;
    /* As in RedoRecord. */
    std::map<std::string, std::uint64_t> remade_;
    std::map<dev_t, Fd> file_systems_; /* changed ones; an open directory of each */
};

} // namespace ckpt::journal
