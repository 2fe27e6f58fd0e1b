import { settings } from '../config.ts';
import type { Option } from '../faces/cli/args.ts';

/** What every verb takes (R-RPC-151). */
export const common: readonly Option[] = [
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

export const sessionOption: Option = {
  name: 'session',
  flag: '--session',
  form: 'value',
  help: 'Which session: its number or its name',
  metavar: 'session',
};

/** What may stand before the verb as well. */
export const globalOptions: readonly Option[] = [...common, sessionOption];
