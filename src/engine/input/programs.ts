import { timings } from '../waiting/timings.ts';

const { defaultGapMs } = timings.submit;
/** How long a program must be left alone between the text and Enter. Registries of programs may say otherwise. */
const gaps: Readonly<Record<string, number>> = {
  // Its burst filter swallows Enter for about 120 ms.
  codex: 150,
  claude: 400,
};

export const pauseOf = (program: string | undefined): number => gaps[program ?? ''] ?? defaultGapMs;
