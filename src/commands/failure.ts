import { SettingError } from '../config.ts';
import { errorTable, FairleadError } from '../contract/errors.ts';
import { visibleFacts, visibleLines } from '../contract/quote.ts';
import { diskError } from '../system/files/disk-trouble.ts';
import { UsageError } from '../faces/cli/args.ts';
import { toJson } from '../faces/cli/clean.ts';
import { styleFor } from '../faces/cli/style.ts';
import { RpcFailure } from '../faces/jsonrpc/client.ts';
import type { Surroundings } from './command.ts';

/** Prints a failure as text or JSON. Returns the exit code. */
export function tellFailure(
  thrown: unknown,
  { name, argv }: { readonly name: string; readonly argv: readonly string[] },
  { stdout, stderr, env }: Pick<Surroundings, 'stdout' | 'stderr' | 'env'>,
): number {
  if (wantsJson(argv)) stdout.write(toJson({ error: visibleFacts(facts(thrown)) }));
  else stderr.write(`${styleFor(stderr, env).red('fairlead:')} ${visibleLines(words(thrown, name))}\n`);
  return exitCode(thrown);
}

/** Words after -- belong to the command that is run. */
function wantsJson(argv: readonly string[]): boolean {
  const ours = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  return ours.some((word) => word === '--json' || word === '--json=true');
}

const isUsage = (thrown: unknown): thrown is Error => thrown instanceof UsageError || thrown instanceof SettingError;

const isDirectoryGone = (thrown: unknown): boolean =>
  (thrown as NodeJS.ErrnoException | undefined)?.syscall === 'uv_cwd';
const directoryGone = 'The directory this was started in is gone. Change to another one (cd ~) and try again.';

function words(thrown: unknown, name: string): string {
  if (isUsage(thrown)) {
    return thrown.message.includes('See: ') ? thrown.message : `${thrown.message}\nSee: fairlead ${name} --help`;
  }
  if (thrown instanceof RpcFailure) return withHint(thrown.error.message, thrown.error.data?.['hint']);
  if (thrown instanceof FairleadError) return withHint(thrown.message, thrown.hint);
  if (isDirectoryGone(thrown)) return directoryGone;
  const disk = diskError(thrown);
  if (disk !== undefined) return withHint(disk.message, disk.hint);
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}

/** Messages fixed by a reference have no full stop. */
function withHint(message: string, hint: unknown): string {
  const sentence = `${message}${/[.!?]$/.test(message) ? '' : '.'}`;
  return typeof hint === 'string' && !message.includes(hint) ? `${sentence} ${hint}` : sentence;
}

function facts(thrown: unknown): object {
  if (thrown instanceof RpcFailure) return thrown.error;
  if (thrown instanceof FairleadError) {
    const { code, message, hint } = thrown;
    return { code: -32603, message, data: { code: errorTable[code].rpc, ...(hint === undefined ? {} : { hint }) } };
  }
  if (isUsage(thrown)) return { code: -32602, message: thrown.message, data: { code: 'INVALID_PARAMS' } };
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return {
    code: -32603,
    message: isDirectoryGone(thrown) ? directoryGone : message,
    data: { code: 'INTERNAL' },
  };
}

/** Exit codes by the code in `error.data`. */
const exits = new Map<string, number>([
  ...Object.values(errorTable).map(({ rpc, exit }) => [rpc, exit] as const),
  ['BLOCKED_BY_POLICY', 5],
]);

function exitCode(thrown: unknown): number {
  if (isUsage(thrown)) return 2;
  if (thrown instanceof RpcFailure) return exits.get(String(thrown.error.data?.['code'])) ?? 1;
  return thrown instanceof FairleadError ? errorTable[thrown.code].exit : 1;
}
