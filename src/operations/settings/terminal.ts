import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';
import { Lines, scrollbackBounds, TermProgram } from '../../engine/settings/files.ts';
import { type PersonSettings, personSettings } from '../../engine/settings/settings.ts';
import { FileError, fileError } from '../file-error.ts';

const Scrollback = z.object({
  lines: z.number().int(),
  default: z.number().int(),
  max: z.number().int(),
  requires_restart_for_existing_panes: z.literal(true).describe('A larger number counts for open sessions, too'),
  error: FileError,
});

export const scrollbackOf = (settings: PersonSettings): z.output<typeof Scrollback> => ({
  lines: settings.scrollback,
  default: scrollbackBounds.usual,
  max: scrollbackBounds.most,
  requires_restart_for_existing_panes: true,
  ...fileError(settings.problem('scrollback')),
});

const aboutScrollback = ({ lines, error }: z.output<typeof Scrollback>): string =>
  `${lines} rows above the screen can be read.${error === undefined ? '' : `\n${error}`}`;

export const getScrollback = operation({
  title: 'Scrollback',
  cliDefault: true,
  summary: 'How many rows above the screen can be read.',
  access: 'observe',
  http: [
    { method: 'GET', path: '/api/scrollback' },
    { method: 'GET', path: '/api/settings/scrollback' },
  ],
  input: z.strictObject({}),
  output: Scrollback,
  run: async ({ engine }) => scrollbackOf(engine.service(personSettings)),
  render: aboutScrollback,
});

export const setScrollback = operation({
  title: 'Set the scrollback',
  summary: 'How many rows above the screen can be read. A smaller number is for sessions that open after it.',
  access: 'administer',
  destructive: false,
  idempotent: true,
  openWorld: false,
  http: [
    { method: 'POST', path: '/api/scrollback' },
    { method: 'PUT', path: '/api/settings/scrollback' },
  ],
  input: z.strictObject({ lines: Lines.describe('Rows') }),
  output: Scrollback,
  positional: ['lines'],
  about: ({ lines }) => ({ detail: String(lines) }),
  async run({ input, engine }) {
    const settings = engine.service(personSettings);
    settings.setScrollback(input.lines);
    return scrollbackOf(settings);
  },
  render: aboutScrollback,
});

const Compat = z.object({ term_program: z.string(), error: FileError });

const compatOf = (settings: PersonSettings): z.output<typeof Compat> => ({
  term_program: settings.termProgram,
  ...fileError(settings.problem('compat')),
});

const aboutCompat = ({ term_program, error }: z.output<typeof Compat>): string =>
  `TERM_PROGRAM=${term_program}${error === undefined ? '' : `\n${error}`}`;

export const getCompat = operation({
  title: 'Compatibility',
  cliDefault: true,
  summary: 'What programs in new sessions are told of their terminal: TERM_PROGRAM.',
  access: 'observe',
  http: [
    { method: 'GET', path: '/api/compat' },
    { method: 'GET', path: '/api/settings/compat' },
  ],
  input: z.strictObject({}),
  output: Compat,
  run: async ({ engine }) => compatOf(engine.service(personSettings)),
  render: aboutCompat,
});

export const setCompat = operation({
  title: 'Set the compatibility',
  summary: 'Tell programs in new sessions of this machine that their terminal is another one.',
  access: 'administer',
  destructive: false,
  idempotent: true,
  openWorld: false,
  http: [
    { method: 'POST', path: '/api/compat' },
    { method: 'PUT', path: '/api/settings/compat' },
  ],
  input: z.strictObject({ term_program: TermProgram.describe('The value of TERM_PROGRAM') }),
  output: Compat,
  positional: ['term_program'],
  about: ({ term_program }) => ({ detail: term_program }),
  async run({ input, engine }) {
    const settings = engine.service(personSettings);
    settings.setTermProgram(input.term_program);
    return compatOf(settings);
  },
  render: aboutCompat,
});
