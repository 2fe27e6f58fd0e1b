import { z } from 'zod';
import type { AnyEntry } from '../../engine/call/operation.ts';
import { type Option, UsageError } from './args.ts';

interface Property {
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Property[];
  readonly items?: Property;
  readonly properties?: object;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly description?: string;
}

/** An input of an operation as the command line knows it. */
export interface Field {
  readonly name: string;
  readonly flag: string;
  readonly short?: string | undefined;
  readonly kind: 'text' | 'number' | 'switch' | 'list' | 'pairs' | 'json';
  readonly required: boolean;
  readonly choices: readonly string[];
  readonly help: string;
}

/** Two names for the session a method is about; on the command line there is one. */
const sessionNames = ['id', 'session_id'];

/** Whether an operation is about one session. */
export const isAboutSession = (op: AnyEntry): boolean => {
  const names = Object.keys(propertiesOf(op).properties);
  return sessionNames.every((name) => names.includes(name));
};

/** Whether a field holds sessions besides the one an operation is about. */
export const holdsSessions = ({ name }: Field): boolean => name === 'session_id' || name === 'sessions';

export function fieldsOf(op: AnyEntry): Field[] {
  const { properties, required } = propertiesOf(op);
  const hidden = isAboutSession(op) ? sessionNames : [];
  return Object.entries(properties)
    .filter(([name]) => !hidden.includes(name))
    .map(([name, property]) => ({
      name,
      flag: `--${named(op.cliFlags, name) ?? name.replaceAll('_', '-')}`,
      short: letterOf(op, name),
      kind: kindOf(property),
      required: required.includes(name),
      choices: property.enum?.map(String) ?? [],
      help: helpOf(property),
    }));
}

const named = (table: object | undefined, name: string): string | undefined =>
  (table as Readonly<Record<string, string>> | undefined)?.[name];

function letterOf({ cliShort }: AnyEntry, name: string): string | undefined {
  const letter = named(cliShort, name);
  return letter === undefined ? undefined : `-${letter}`;
}

function propertiesOf(op: AnyEntry): { properties: Record<string, Property>; required: readonly string[] } {
  const schema = z.toJSONSchema(op.input as z.ZodType, { io: 'input', unrepresentable: 'any' }) as {
    properties?: Record<string, Property>;
    required?: readonly string[];
  };
  return { properties: schema.properties ?? {}, required: schema.required ?? [] };
}

function kindOf(property: Property): Field['kind'] {
  const shapes = [property, ...(property.anyOf ?? [])];
  const types = shapes.flatMap(({ type }) => type);
  if (types.includes('array')) return shapes.some(({ items }) => items?.type === 'object') ? 'json' : 'list';
  if (types.includes('object')) return shapes.some(({ properties }) => properties) ? 'json' : 'pairs';
  if (types.includes('string')) return 'text';
  if (types.includes('boolean')) return 'switch';
  return types.includes('number') || types.includes('integer') ? 'number' : 'text';
}

function helpOf({ description = '', default: preset }: Property): string {
  const parts = [
    description,
    preset === undefined || preset === false ? '' : `(${typeof preset === 'string' ? preset : JSON.stringify(preset)})`,
  ];
  return parts.filter((part) => part !== '').join(' ');
}

const forms = {
  switch: 'optional',
  list: 'list',
  pairs: 'list',
  json: 'value',
  text: 'value',
  number: 'value',
} as const;
const metavars = { list: 'value', pairs: 'NAME=value', json: 'JSON', text: 'text', number: 'number' } as const;

export const flagsOf = (fields: readonly Field[]): Option[] =>
  fields.map((field) => ({
    name: field.name,
    flag: field.flag,
    short: field.short,
    form: forms[field.kind],
    bare: 'true',
    only: field.kind === 'switch' ? ['true', 'false'] : undefined,
    metavar: metavarOf(field),
    help: [field.help, forms[field.kind] === 'list' ? 'repeatable' : '', field.required ? '(required)' : '']
      .filter((part) => part !== '')
      .join('; ')
      .replace('; (', ' ('),
  }));

function metavarOf({ name, kind, choices }: Field): string | undefined {
  if (kind === 'switch') return undefined;
  if (choices.length > 0) return choices.join('|');
  if (kind === 'text' && name === 'cwd') return 'dir';
  return kind === 'text' && (name === 'path' || name === 'shell') ? 'file' : metavars[kind];
}

/** The words of a flag, or of a position, as the value an operation takes. */
export function valueOf({ flag, kind }: Field, given: string | readonly string[]): unknown {
  if (kind === 'list') return listOf([given].flat());
  if (kind === 'pairs') return pairsOf(flag, [given].flat());
  const text = String(given);
  if (kind === 'json') return parsed(text, flag);
  if (kind === 'switch') {
    if (text !== 'true' && text !== 'false') throw new UsageError(`${flag} is true or false, not ${text}.`);
    return text === 'true';
  }
  if (kind !== 'number') return text;
  if (text.trim() === '' || !Number.isFinite(Number(text))) throw new UsageError(`${flag} is a number, not ${text}.`);
  return Number(text);
}

/** One value a flag. A single '' or '[]' is the empty list, a single list of texts in JSON that list. */
function listOf(given: readonly string[]): readonly string[] {
  const [only = '', ...more] = given;
  if (more.length > 0) return given;
  if (only === '') return [];
  const list = only.startsWith('[') ? tryJson(only) : undefined;
  return Array.isArray(list) && list.every((one) => typeof one === 'string') ? list : given;
}

function pairsOf(flag: string, given: readonly string[]): object {
  const [only = '', ...more] = given;
  if (more.length === 0 && (only === '' || only.startsWith('{'))) return parsed(only === '' ? '{}' : only, flag);
  return Object.fromEntries(given.map((pair) => splitPair(flag, pair)));
}

function parsed(text: string, flag: string): object {
  const value = tryJson(text);
  if (typeof value !== 'object' || value === null) throw new UsageError(`${flag} is JSON, which this is not: ${text}`);
  return value;
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function splitPair(flag: string, pair: string): [string, string] {
  const at = pair.indexOf('=');
  if (at <= 0) throw new UsageError(`${flag} is of the form NAME=value, not ${pair}.`);
  return [pair.slice(0, at), pair.slice(at + 1)];
}
