import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { remoteError } from '../../../contract/remote-errors.ts';
import { runProgram } from '../../../system/run-program.ts';
import type { ConfigQuery, RawSettings } from './match.ts';
import { said } from '../said.ts';

/** Generous: a `Match exec` in the user's own config may take its time. */
const limitMs = 5_000;
/** These may be given more than once, or hold several words. */
const wordLists: ReadonlySet<string> = new Set(['userknownhostsfile', 'globalknownhostsfile']);

/** The `ssh` on this path, if there is one. */
export async function findOpenSsh(path: string | undefined): Promise<string | undefined> {
  for (const folder of (path ?? '').split(delimiter)) {
    if (folder === '') continue;
    const program = join(folder, process.platform === 'win32' ? 'ssh.exe' : 'ssh');
    if (
      await access(program, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return program;
  }
  return undefined;
}

/**
 * What OpenSSH itself makes of its config. The host is checked by `plainHost` before it comes here, and stands behind
 * `--`: it can be no option. OpenSSH does for this what it does for any `ssh host`, the user's `Match exec` included.
 */
export async function askOpenSsh(
  program: string,
  { host, user, port }: ConfigQuery,
  options: { readonly file?: string; readonly env: Readonly<Record<string, string | undefined>> },
  signal: AbortSignal,
): Promise<RawSettings> {
  const args = [
    '-G',
    ...(options.file === undefined ? [] : ['-F', options.file]),
    ...(user === undefined ? [] : ['-l', user]),
    ...(port === undefined ? [] : ['-p', String(port)]),
    '--',
    host,
  ];
  const { ok, late, stdout, stderr } = await runProgram(program, args, { env: options.env, limitMs, signal });
  if (ok) return parse(stdout.toString());
  throw unusable(late ? 'it took longer than five seconds to read' : complaint(stderr.toString()));
}

function parse(text: string): RawSettings {
  const settings = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [, keyword, value] = /^(\S+) (.+)$/.exec(line) ?? [];
    if (keyword === undefined || value === undefined) continue;
    if (keyword === 'identityfile') settings.set(keyword, [...(settings.get(keyword) ?? []), value]);
    else settings.set(keyword, wordLists.has(keyword) ? value.split(' ') : [value]);
  }
  return settings;
}

/** The line that says what is wrong; the first may be about something else. */
function complaint(stderr: string): string {
  const lines = stderr.split(/\r?\n/).filter((line) => line.trim() !== '' && !/pseudo-terminal/i.test(line));
  return said(lines.find((line) => /line \d+|bad owner|permission/i.test(line)) ?? lines[0] ?? 'ssh -G failed');
}

const unusable = (why: string) => remoteError('CONNECTION_FAILED', `The SSH config cannot be used: ${why}.`);
