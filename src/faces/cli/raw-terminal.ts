import { spawnSync } from 'node:child_process';

/**
 * Hands the terminal over to a program elsewhere, byte by byte in both directions, until disposed of. Node's raw mode keeps
 * the output mode in which a line feed also returns the carriage; that belongs to the far terminal, which has done it.
 */
export function rawTerminal(stdin: NodeJS.ReadStream): Disposable {
  stdin.setRawMode(true);
  // Node knows no way to turn it off, and restores it with the rest. Without `stty` lines begin in the first column.
  spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] });
  return {
    [Symbol.dispose]() {
      stdin.setRawMode(false);
      stdin.pause();
    },
  };
}
