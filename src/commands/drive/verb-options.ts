import type { AnyEntry } from '../../engine/call/operation.ts';
import type { Option, ParsedArguments } from '../../faces/cli/args.ts';
import { fieldsOf, flagsOf, isAboutSession } from '../../faces/cli/fields.ts';
import { places, readSettings, type Environment } from '../../config.ts';
import { common, sessionOption } from '../global-options.ts';

const passthroughOption: Option = {
  name: 'passthrough',
  flag: '--passthrough',
  form: 'switch',
  help: "Exit with the command's own code",
};

const printOnly: Option = {
  name: 'print-only',
  flag: '--print-only',
  form: 'switch',
  help: 'Print the link instead of opening it in a browser',
};

/** All that a verb takes: what it reads, what its help tells and what completion offers. */
export const optionsOf = (op: AnyEntry): Option[] => [
  ...flagsOf(fieldsOf(op)),
  ...(isAboutSession(op) ? [sessionOption] : []),
  ...(op.passthrough ? [passthroughOption] : []),
  ...(op.page ? [printOnly] : []),
  ...common,
];

/** The home and the name of the instance that a verb is for. The variable names an instance of the home beside it, not of another. */
export function whereOf({ flags }: ParsedArguments, env: Environment): { home: string; instance: string | undefined } {
  const given = flags.get('home');
  const values = readSettings(new Map(given === undefined ? [] : [['home', String(given)]]), env, { uses: ['home'] });
  const instance = flags.get('instance')?.toString() ?? (given === undefined ? env['FAIRLEAD_INSTANCE'] : undefined);
  return { home: places(values, env).home, instance };
}
