// The command line: one table of options, one file per subcommand.
#pragma once

namespace qwick::cli {

// Returns the exit status: 0, 1 (the command failed), 2 (wrong usage, or a file that can't be used).
int run(int argc, char** argv);

}  // namespace qwick::cli
