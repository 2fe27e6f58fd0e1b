import type { Engine } from '../../engine/engine.ts';

/** Closes what servers that died had been recording. After their terminals were resumed: those recordings go on. */
export async function recoverLogs({ logs, log }: Engine): Promise<void> {
  const recovered = (await logs?.library.recover()) ?? 0;
  if (recovered > 0) log?.(`Recovered recordings of servers that died: ${recovered}.`);
}
