# SPDX-License-Identifier: BSD-3-Clause
# lines.R - a log that is opened, appended to and closed in each step, and a state that is
# saved; a step that is missing, or came twice, shows.
steps <- as.integer(commandArgs(TRUE)[1])
value <- 0
for (step in 0:(steps - 1)) {
    cat("step", step, "value", value, "\n", file = "log", append = TRUE)
    if (file.exists("state.rds")) {
        state <- readRDS("state.rds")
        stopifnot(state$step == step - 1, state$value == value)
    }
    value <- (value * 31 + step) %% 1000003
    saveRDS(list(step = step, value = value), "state.rds")
    write.table(data.frame(step, value), "table.csv", append = TRUE, sep = ",", col.names = FALSE)
    cat("step", step, "\n")
    Sys.sleep(0.005)
}
cat("OK", value, "\n")
