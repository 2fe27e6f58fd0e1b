import { settings } from '../config.ts';
import type { Option } from '../faces/cli/args.ts';

/** Options of every verb. */
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

/** Options that may also stand before the verb. */
export const globalOptions: readonly Option[] = [...common, sessionOption];
