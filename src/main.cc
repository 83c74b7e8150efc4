#include "cli/main.h"
int main(int argc, char** argv) {
  return qwick::cli::run(argc, argv);
}
