import { readFileSync } from 'node:fs';
import type { Command, Invocation, Surroundings } from './commands/command.ts';
import { globalOptions } from './commands/global-options.ts';
import { helpFor, overview } from './commands/help.ts';
import { commands } from './commands/index.ts';
import { flagName, readSettings, type Setting, settings } from './config.ts';
import { packageRoot } from './system/package-root.ts';
import { type Flag, parseArgs, UsageError } from './faces/cli/args.ts';
import { styleFor } from './faces/cli/style.ts';
import { closest } from './lib/closest.ts';

let serves = false;

/** The entry of the program. Each command loads its parts when it runs. */
async function main(given: readonly string[]): Promise<number> {
  const { stdin, stdout, stderr, env } = process;
  const { version } = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as {
    version: string;
  };
  const [name, ...rest] = globalsBehind(given);
  const style = styleFor(stdout, env);
  const around: Surroundings = { stdin, stdout, stderr, env, cwd: () => process.cwd(), version };
  if (name === '--version' || name === '-V' || name === 'version') return print(`${version}\n`);
  if (name === undefined || name === '--help' || name === '-h' || (name === 'help' && rest.length === 0)) {
    return print(overview(commands, version, style));
  }
  try {
    const wanted = name === 'help' ? rest[0] : name;
    const command = commands.find(
      ({ name, otherName }) => name === wanted || (wanted !== undefined && otherName === wanted),
    );
    if (!command) return await verb(wanted ?? '', name === 'help' ? ['--help'] : rest, around);
    if (name === 'help' || rest.includes('--help') || rest.includes('-h')) return print(helpFor(command, style));
    serves = command.serves === true;
    return await command.run({ ...around, ...understand(command, rest) });
  } catch (thrown) {
    const { tellFailure } = await import('./commands/failure.ts');
    return tellFailure(thrown, { name, argv: given }, around);
  }
}

/** `--instance x session list` as `session list --instance x`: options of every verb may stand before it. */
function globalsBehind(argv: readonly string[]): string[] {
  let at = 0;
  for (let word = argv[at]; word !== undefined; word = argv[at]) {
    const option = globalOptions.find(({ flag }) => word === flag || word.startsWith(`${flag}=`));
    if (!option) break;
    at += option.form === 'value' && word === option.flag ? 2 : 1;
  }
  const [name, ...rest] = argv.slice(at);
  if (name === undefined) return [...argv];
  const isVerb = rest.length > 0 && !commands.some((command) => command.name === name || command.otherName === name);
  return [name, ...rest.slice(0, isVerb ? 1 : 0), ...argv.slice(0, at), ...rest.slice(isVerb ? 1 : 0)];
}

function understand(command: Command, argv: readonly string[]): Pick<Invocation, 'settings' | 'flags' | 'words'> {
  const rows = command.settings.map((name) => [name, settings[name] as Setting] as const);
  const known: Flag[] = [
    ...(command.flags ?? []),
    ...rows
      .filter(([, row]) => row.flag !== false)
      .map(([name, { form, bare }]) => ({ name, flag: flagName(name), form, bare })),
  ];
  const { flags, words } = parseArgs(argv, known);
  if (words.length > 0 && command.takesWords !== true) {
    throw new UsageError(`fairlead ${command.name} takes no "${words[0]}".`);
  }
  const reader = { command: command.name, uses: command.settings };
  return { settings: readSettings(flags, process.env, reader), flags, words };
}

/** A verb of a running instance. The table of verbs is loaded only now. */
async function verb(name: string, rest: readonly string[], around: Surroundings): Promise<number> {
  const { drive, isNoun, nouns } = await import('./commands/drive/drive.ts');
  if (!isNoun(name)) throw unknownCommand(name, nouns());
  return await drive(name, rest, around);
}

function unknownCommand(word: string, nouns: readonly string[]): UsageError {
  const names = [...commands.map(({ name }) => name), ...nouns];
  const [near] = closest(word, names);
  return new UsageError(
    `There is no command "${word}".${near ? ` Did you mean ${near}?` : ''} Commands: ${names.join(', ')}. See: fairlead --help`,
  );
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

// A closed stdout, as in `fairlead --help | head -1`, is no error, and no reason for a server to end.
process.stdout.on('error', () => {
  if (!serves) process.exit(0);
});
process.exitCode = await main(process.argv.slice(2));
