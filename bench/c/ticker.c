// Prints lines that say when they were written: `tick <nanoseconds of the monotonic clock>.`, so many, so far apart.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int count = atoi(argv[1]);
  useconds_t pause = atoi(argv[2]);
  char line[64];
  usleep(200000);
  while (count-- > 0) {
    usleep(pause);
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int length = snprintf(line, sizeof line, "tick %lld.\n", t.tv_sec * 1000000000LL + t.tv_nsec);
    if (write(1, line, length) != length) return 1;
  }
  usleep(100000);
  return 0;
}
