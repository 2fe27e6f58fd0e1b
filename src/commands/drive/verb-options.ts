import type { AnyOperation } from '../../engine/call/operation.ts';
import type { Option } from '../../faces/cli/args.ts';
import { fieldsOf, flagsOf, isAboutSession } from '../../faces/cli/fields.ts';
import { common, sessionOption } from '../global-options.ts';

const passthroughOption: Option = {
  name: 'passthrough',
  flag: '--passthrough',
  form: 'switch',
  help: "Exit with the command's own code",
};

/** All that a verb takes: what it reads, what its help tells and what completion offers. */
export const optionsOf = (op: AnyOperation): Option[] => [
  ...flagsOf(fieldsOf(op)),
  ...(isAboutSession(op) ? [sessionOption] : []),
  ...(op.passthrough ? [passthroughOption] : []),
  ...common,
];
