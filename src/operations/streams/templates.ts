import { type Scheme, schemes } from '../../streams/uri.ts';

interface SchemeWords {
  readonly description: string;
  readonly hasCursor?: true;
}

/** What clients are told of each scheme, in the fixed order of the reference. Runs of rsync are known only to the call that started them. */
const words: Readonly<Record<Exclude<Scheme, 'rsync'>, SchemeWords>> = {
  shell: { description: 'Output of an interactive SSH shell', hasCursor: true },
  command: { description: 'Output of a command over SSH, stdout and stderr in blocks', hasCursor: true },
  transfer: { description: 'Progress of a file transfer' },
  session: { description: 'Health of an SSH session' },
  serial: { description: 'Output of a serial port', hasCursor: true },
  forward: { description: 'Events of a forwarded port', hasCursor: true },
  terminal: { description: 'Output of any terminal', hasCursor: true },
};

const texts: readonly Scheme[] = ['shell', 'command', 'serial', 'terminal'];

/** Of the body as it is read without `raw=true`. */
export const mimeTypeOf = (scheme: Scheme): string => (texts.includes(scheme) ? 'text/plain' : 'application/json');

export const templatesFor = (served: readonly Scheme[]) =>
  Object.entries(words)
    .filter(([scheme]) => served.includes(scheme as Scheme))
    .map(([name, { description, hasCursor }]) => ({
      uri_template: `${name}://{${name}_id}/${schemes[name as Scheme]}${hasCursor ? '{?cursor}' : ''}`,
      name,
      description,
      mime_type: mimeTypeOf(name as Scheme),
    }));
