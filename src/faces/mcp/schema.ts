import type { Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';

type ObjectSchema = Tool['inputSchema'];
type JsonSchema = z.core.JSONSchema.BaseSchema;

/** What a caller may send, as JSON Schema 2020-12. The dialect is MCP's default, so it goes unsaid. */
export function inputSchema(schema: z.ZodType, allDefaults = false): ObjectSchema {
  const root = objectRoot(convert(schema, 'input', allDefaults));
  for (const field of Object.values(root.properties ?? {})) sayLimits(field as JsonSchema);
  return root;
}

/**
 * What comes back. More may be there, and nothing at the root is required that an error does not have too, because a failed
 * call answers under the same schema, and clients on the 1.x SDK check that answer against it.
 */
export function outputSchema(schema: z.ZodType, inErrors: readonly string[] = []): ObjectSchema {
  const root = convert(schema, 'output');
  for (const choice of [root.anyOf, root.oneOf]) choice?.push({ required: ['error'] });
  if (root.anyOf !== undefined || root.oneOf !== undefined) root.type = 'object';
  const required = (root.required ?? []).filter((name) => inErrors.includes(name));
  if (required.length > 0) root.required = required;
  else delete root.required;
  delete root.additionalProperties;
  return objectRoot(root);
}

function convert(schema: z.ZodType, io: 'input' | 'output', allDefaults = false): JsonSchema {
  const override: typeof quieter = (part) => quieter(part, allDefaults);
  const { $schema: _dialect, ...root } = z.toJSONSchema(schema, { io, target: 'draft-2020-12', override });
  return root as JsonSchema;
}

/** 2³²-1: as much as fits, which no caller runs into. */
const endless = 0xffff_ffff;

/**
 * Leaves out what helps no caller and costs tokens in every conversation: bounds that every number has or none meets, lengths
 * and patterns (an error tells them when they matter), defaults that are the usual ones, that names are strings, and closedness
 * no operation asked for.
 */
function quieter(
  { zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonSchema },
  allDefaults = false,
): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER || jsonSchema.minimum === 0) delete jsonSchema.minimum;
  if ((jsonSchema.maximum ?? 0) >= endless) delete jsonSchema.maximum;
  delete jsonSchema.minLength;
  delete jsonSchema.maxLength;
  delete jsonSchema.pattern;
  if (Object.keys(jsonSchema.propertyNames ?? {}).join() === 'type') delete jsonSchema.propertyNames;
  if (jsonSchema.default === false && !allDefaults) delete jsonSchema.default;
  const { def } = zodSchema._zod;
  if (def.type === 'object' && def.catchall === undefined) delete jsonSchema.additionalProperties;
}

/** Puts default (unless it is false, as usual) and bounds into the description: some clients show a model only that. */
function sayLimits(field: JsonSchema): void {
  const { description: said = '', default: value, minimum = 0, maximum } = field;
  const preset = typeof value === 'string' ? value : JSON.stringify(value);
  const words = [
    ...(preset === undefined || value === false || saysDefault(said, preset) ? [] : [`default ${preset}`]),
    ...(saysNumbers(said, [minimum, maximum]) ? [] : [range(minimum, maximum)]),
  ].join(', ');
  if (words === '') return;
  if (said === '') field.description = words;
  else field.description = said.endsWith(')') ? `${said.slice(0, -1)}, ${words})` : `${said} (${words})`;
}

const saysDefault = (said: string, value: string): boolean =>
  said.includes(`(${value})`) || said.includes(`default ${value}`);

/** That a number must not be negative goes without saying. */
const saysNumbers = (said: string, bounds: readonly (number | undefined)[]): boolean =>
  bounds.every((bound) => bound === undefined || bound === 0 || new RegExp(`\\b${bound}\\b`).test(said));

function range(least: number, most: number | undefined): string {
  if (most === undefined) return `at least ${least}`;
  return least === 0 ? `at most ${most}` : `${least} to ${most}`;
}

function objectRoot(root: JsonSchema): ObjectSchema {
  if (root.type !== 'object')
    throw new TypeError(`An MCP schema must be an object at its root, not ${JSON.stringify(root.type)}.`);
  return root as ObjectSchema;
}
