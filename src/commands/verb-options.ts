import { settings } from '../config.ts';
import type { AnyOperation } from '../engine/operation.ts';
import type { Option } from '../faces/cli/args.ts';
import { fieldsOf, flagsOf, isAboutSession } from '../faces/cli/fields.ts';

/** What every verb takes (R-RPC-151). */
const common: readonly Option[] = [
  { name: 'json', flag: '--json', form: 'switch', help: 'Answer as JSON, failures too' },
  {
    name: 'instance',
    flag: '--instance',
    form: 'value',
    help: 'Which instance; the active one by default',
    metavar: 'name',
  },
  { name: 'home', flag: '--home', form: 'value', help: settings.home.help, metavar: 'dir' },
];

const sessionOption: Option = {
  name: 'session',
  flag: '--session',
  form: 'value',
  help: 'Which session: its number or its name',
  metavar: 'session',
};

const passthroughOption: Option = {
  name: 'passthrough',
  flag: '--passthrough',
  form: 'switch',
  help: "Exit with the command's own code",
};

/** What may stand before the verb as well. */
export const globalOptions: readonly Option[] = [...common, sessionOption];

/** All that a verb takes: what it reads, what its help tells and what completion offers. */
export const optionsOf = (op: AnyOperation): Option[] => [
  ...flagsOf(fieldsOf(op)),
  ...(isAboutSession(op) ? [sessionOption] : []),
  ...(op.passthrough ? [passthroughOption] : []),
  ...common,
];
