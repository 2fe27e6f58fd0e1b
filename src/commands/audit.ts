import { places } from '../config.ts';
import { verifyTrail } from '../engine/call/audit/verify.ts';
import { isOn, UsageError } from '../faces/cli/args.ts';
import { cleanAnswer, toJson } from '../faces/cli/clean.ts';
import { styleFor } from '../faces/cli/style.ts';
import type { Invocation } from './command.ts';

/** `fairlead audit verify`: checks whether the trail was edited. */
export async function audit({ settings, env, words, flags, stdout }: Invocation): Promise<number> {
  if (words.length !== 1 || words[0] !== 'verify') throw new UsageError('Say what to do: fairlead audit verify');
  const found = verifyTrail(places(settings, env).home);
  const whole = found.faults.length === 0;
  if (isOn(flags, 'json')) stdout.write(toJson({ ok: whole, ...found }));
  else {
    const { green, red, yellow } = styleFor(stdout, env);
    for (const { file, line, reason } of found.gaps)
      stdout.write(`${yellow('!')} ${cleanAnswer(`${file}:${line}: ${reason}`)}\n`);
    for (const { file, line, reason } of found.faults)
      stdout.write(`${red('✗')} ${cleanAnswer(`${file}:${line}: ${reason}`)}\n`);
    const counts = `${found.records} records by ${found.writers} ${found.writers === 1 ? 'server' : 'servers'}`;
    stdout.write(
      whole ? `${green('✓')} ${counts}: nothing was changed\n` : `${counts}: ${found.faults.length} faults\n`,
    );
  }
  return whole ? 0 : 1;
}
