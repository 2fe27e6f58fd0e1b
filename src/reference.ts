import { z } from 'zod';
import { flagName, type Setting, settings, variableName } from './config.ts';
import { errorTable } from './contract/errors.ts';
import { remoteErrors } from './contract/remote-errors.ts';
import {
  type AnyOperation,
  type AnyStream,
  type Book,
  entriesOf,
  hintsOf,
  operationId,
} from './engine/call/operation.ts';
import { everyBook } from './operations/index.ts';
import { shown, type SshVariable, sshVariables, unusedSshVariables } from './ssh-settings.ts';

/** The reference pages, made from the catalogue and the settings: file name → Markdown. */
export async function referencePages(): Promise<Record<string, string>> {
  const pages: Record<string, string> = { 'settings.md': settingsPage(), 'errors.md': errorsPage() };
  for (const book of await everyBook()) pages[`tools-${book.name}.md`] = bookPage(book);
  return pages;
}

const made = '<!-- Made by `npm run docs`. Change the catalogue, not this file. -->\n\n';
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const row = (...cells: string[]): string => `| ${cells.map(cell).join(' | ')} |`;

function bookPage(book: Book): string {
  const parts = [
    ...entriesOf(book.nouns).map(([id, op]) =>
      operationPart(op, book.forPerson ? id : (op.mcpName ?? id.replace('.', '_'))),
    ),
    ...entriesOf(book.streams ?? {}).map(([, op]) => streamPart(op)),
  ];
  return `${made}# ${book.name}\n\n${book.summary}\n\n${parts.join('\n')}`;
}

function operationPart(op: AnyOperation, name: string): string {
  const id = operationId(op);
  const facts = [`operation \`${id}\``, `access \`${op.access}\``, ...(hintsOf(op).destructive ? ['destructive'] : [])];
  return [
    `## ${name}`,
    '',
    op.summary,
    '',
    `${facts.join(', ')}.`,
    '',
    ...table('Input', op.input, 'input'),
    ...table('Output', op.output, 'output'),
  ].join('\n');
}

function streamPart(op: AnyStream): string {
  const head = [`## ${operationId(op)}`, '', op.summary, '', `A stream, access \`${op.access}\`.`, ''];
  const items = op.item instanceof z.ZodDiscriminatedUnion ? (op.item.options as z.ZodType[]) : [op.item as z.ZodType];
  return [
    ...head,
    ...table('Input', op.input, 'input'),
    ...items.flatMap((item) => table('Item', item, 'output')),
  ].join('\n');
}

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
}

function table(title: string, shape: z.ZodType, io: 'input' | 'output'): string[] {
  const schema = z.toJSONSchema(shape, { io, unrepresentable: 'any' }) as Schema;
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return [`${title}: none.`, ''];
  const lines = fields.map(([name, field]) => {
    const needed = schema.required?.includes(name) && field.default === undefined ? 'yes' : 'no';
    return io === 'input'
      ? row(`\`${name}\``, kind(field), needed, preset(field), field.description ?? '')
      : row(`\`${name}\``, kind(field), field.description ?? '');
  });
  const head =
    io === 'input'
      ? ['| Input | Type | Required | Default | |', '|---|---|---|---|---|']
      : [`| ${title} | Type | |`, '|---|---|---|'];
  return [...head, ...lines, ''];
}

const preset = (field: Schema): string => (field.default === undefined ? '' : `\`${JSON.stringify(field.default)}\``);

function kind(field: Schema): string {
  if (field.enum) return field.enum.map((word) => `\`${String(word)}\``).join(', ');
  if (field.anyOf) return field.anyOf.map(kind).join(' or ');
  if (field.type === 'array') return `list of ${kind(field.items ?? {})}`;
  const { minimum, maximum } = field;
  const bounds =
    maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? ` ${Math.max(minimum ?? 0, -maximum)}–${maximum}` : '';
  return `${field.type ?? 'any'}${bounds}`;
}

function settingsPage(): string {
  const rows = (Object.entries(settings) as [string, Setting][]).map(([name, setting]) => {
    const { default: value } = z.toJSONSchema(setting.schema, { io: 'output', unrepresentable: 'any' }) as Schema;
    const flag = setting.flag === false ? '(never a flag)' : `\`${flagName(name)}\``;
    return row(
      flag,
      [variableName(name), ...(setting.aliases ?? [])].map((one) => `\`${one}\``).join(', '),
      [value === undefined ? '' : `\`${JSON.stringify(value)}\``, ...others(setting)].join('; '),
      setting.help,
    );
  });
  return `${made}# Settings\n\nA flag wins over its variable, a variable over the default. Flags take \`--x v\` or \`--x=v\`.\nIn a variable, a repeatable setting is a comma-separated list: \`FAIRLEAD_ENV=A=1,B=2\`. For a value with a comma, use the flag:\n\`--env LIST=a,b\`.\n\n| Flag | Variable | Default | |\n|---|---|---|---|\n${rows.join('\n')}\n${sshPart()}`;
}

const others = ({ defaults = {} }: Setting): string[] =>
  Object.entries(defaults).map(([command, value]) => `\`${value}\` for \`fairlead ${command}\``);

const units: Readonly<Record<SshVariable['kind'], string>> = {
  seconds: 'seconds',
  milliseconds: 'milliseconds',
  bytes: 'size',
  count: 'number',
  switch: 'true, false',
  choice: 'word',
};

function sshPart(): string {
  const rows = [...sshVariables.values(), ...unusedSshVariables].map((one) =>
    row(`\`${one.variable}\``, units[one.kind], `\`${shown(one)}\``, bounds(one), one.help),
  );
  return `
## SSH, from the environment

The names of the SSH reference; with \`FAIRLEAD_\` in front they are ours and win. What cannot be read counts as not given, what is out of
range as the nearest bound; the log says so once. Sizes are bytes, or end in \`b\`, \`k\`, \`m\`, \`g\` or \`t\` and count in 1024s.
\`SSH_HOST_KEY_POLICY\` is read too, after the flag above; one that cannot be read is \`strict\`.

| Variable | Unit | Default | Range | |
|---|---|---|---|---|
${rows.join('\n')}
`;
}

function bounds({ kind, min, max, words, orZero }: SshVariable): string {
  if (kind === 'switch') return '';
  if (words) return words.join(', ');
  if (max >= 0x7fffffff) return `from ${min}`;
  return `${orZero ? '0, ' : ''}${min}–${kind === 'seconds' ? max / 1000 : max}`;
}

function errorsPage(): string {
  const rows = Object.entries(errorTable).map(([code, { http, rpc, exit, retry }]) =>
    row(`\`${code}\``, String(http), String(rpc), String(exit), retry ? 'yes' : 'no'),
  );
  return `${made}# Errors\n\nEvery failure is one of these. The structured part of an answer carries \`code\`, \`message\` and \`hint\`.\n\n| Code | HTTP | JSON-RPC | Exit | Worth a retry |\n|---|---|---|---|---|\n${rows.join('\n')}\n${remotePart()}`;
}

function remotePart(): string {
  const rows = Object.entries(remoteErrors).map(([code, { category, retry, error, cure }]) =>
    row(`\`${code}\``, category, retry, `\`${error}\``, cure),
  );
  return `
## In the SSH tools

They have the codes of their reference: \`REASON: [CODE] …\`, and \`code\`, \`category\` and \`retryable\` in the structured part. Retry: \`yes\` with back-off,
\`cond\` after a change, \`recover\` by itself, \`judge\` as you see fit.

| Code | Category | Retry | Is | What to do |
|---|---|---|---|---|
${rows.join('\n')}
`;
}
