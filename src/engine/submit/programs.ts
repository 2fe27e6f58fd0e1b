/** How long a program must be left alone between the text and Enter. Registries of programs may say otherwise. */
const gaps: Readonly<Record<string, number>> = {
  // Its burst filter swallows Enter for about 120 ms.
  codex: 150,
  claude: 400,
};

const defaultGapMs = 80;

export const gapOf = (program: string | undefined): number => gaps[program ?? ''] ?? defaultGapMs;

const shells = new Set([
  'sh',
  'bash',
  'dash',
  'ash',
  'busybox',
  'zsh',
  'fish',
  'ksh',
  'mksh',
  'tcsh',
  'csh',
  'nu',
  'pwsh',
]);

/** Shells read a line at a time and lose no Enter. A login shell is called `-bash`. */
export const isShell = (program: string | undefined): boolean => shells.has((program ?? '').replace(/^-/, ''));

const carriers = new Set([
  'ssh',
  'mosh-client',
  'telnet',
  'tmux',
  'screen',
  'docker',
  'podman',
  'kubectl',
  'su',
  'sudo',
]);

/** Shows what runs elsewhere, which may well be a shell. */
export const isCarrier = (program: string | undefined): boolean => program === undefined || carriers.has(program);
