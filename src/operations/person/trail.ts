import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { recordId } from '../../engine/call/audit/pages.ts';
import type { TrailRecord } from '../../engine/call/audit/records.ts';
import { auditTrail } from '../../engine/call/audit/trail.ts';
import { operation, stream } from '../../engine/call/operation.ts';
import { onAbort } from '../../system/on-abort.ts';

const Row = z.object({
  id: z.string(),
  number: z.number().int().describe('Its place in the chain of its run'),
  run: z.string().describe('The server process that wrote it; each has a chain of its own'),
  at: z.string(),
  who: z.string(),
  origin: z.string(),
  peer: z.string().optional(),
  what: z.string().describe('The operation'),
  access: z.string(),
  target: z.string().optional().describe('The terminal'),
  outcome: z.enum(['done', 'failed', 'refused']),
  code: z.string().optional().describe('Why it failed or was refused'),
  detail: z.string().optional(),
  characters: z.number().int().optional().describe('Length of what a person typed'),
  duration_ms: z.number().int(),
  call: z.string().optional(),
  recording: z.object({ id: z.string(), t: z.number() }).optional().describe('Where it can be played'),
  hash: z.string(),
  prev: z.string().describe('Hash of the record before it; empty for the first of its run'),
});
type Row = z.output<typeof Row>;

const rowOf = (record: TrailRecord): Row => ({
  id: recordId(record),
  number: record.n,
  run: record.writer,
  at: record.at,
  who: record.caller,
  origin: record.origin,
  ...(record.peer !== undefined && { peer: record.peer }),
  what: record.operation,
  access: record.access,
  ...(record.terminal !== undefined && { target: record.terminal }),
  outcome: !record.allowed ? 'refused' : record.error === undefined ? 'done' : 'failed',
  ...(record.error !== undefined && { code: record.error }),
  ...(record.detail !== undefined && { detail: record.detail }),
  ...(record.characters !== undefined && { characters: record.characters }),
  duration_ms: record.durationMs,
  ...(record.call !== undefined && { call: record.call }),
  ...(record.place?.recording && { recording: { ...record.place.recording } }),
  hash: record.hash,
  prev: record.prev,
});

const filters = {
  who: z.string().max(200).optional().describe('Only by callers with this in their name'),
  what: z.string().max(200).optional().describe('Only operations with this in their name'),
  target: z.string().max(64).optional().describe('Only of this terminal'),
  day: z.iso.date().optional().describe('Only of this day, in UTC: 2026-01-31'),
};
type Filters = { readonly [name in keyof typeof filters]: string | undefined };

const fits =
  ({ who, what, target, day }: Partial<Filters>) =>
  ({ caller, operation: name, terminal, at }: TrailRecord): boolean =>
    holds(caller, who) &&
    holds(name, what) &&
    (target === undefined || terminal === target) &&
    (day === undefined || at.startsWith(day));

const holds = (text: string, part: string | undefined): boolean =>
  part === undefined || text.toLowerCase().includes(part.toLowerCase());

export const list = operation({
  title: 'List the audit trail',
  summary: 'List what is in the audit trail, the newest first: every change and every refusal of the last two weeks.',
  access: 'observe',
  cliDefault: true,
  input: z.strictObject({
    limit: z.number().int().min(1).max(1000).default(100).describe('At most so many'),
    before: z.string().max(128).optional().describe('Go on behind the record with this id'),
    ...filters,
  }),
  output: z.object({
    records: z.array(Row),
    next: z.string().optional().describe('Where to go on; absent at the beginning of the trail'),
    kept_since: z.string().optional().describe('The oldest day that is kept'),
  }),
  async run({ input, engine, signal }) {
    const { limit, before, day } = input;
    const query = { limit, before, day, fits: fits(input) };
    const { records, next, keptSince } = await engine.service(auditTrail).page(query, signal);
    return {
      records: records.map(rowOf),
      ...(next !== undefined && { next }),
      ...(keptSince !== undefined && { kept_since: keptSince }),
    };
  },
  render: ({ records, next, kept_since }) =>
    [
      ...records.map(line),
      ...(next === undefined ? [] : [`More: --before ${next}`]),
      kept_since === undefined ? 'Nothing is in the audit trail.' : `Kept since ${kept_since}.`,
    ].join('\n'),
});

const line = ({ number, at, who, what, target, outcome, code, detail }: Row): string =>
  [`#${number}`, at, who, what, target ?? '-', code === undefined ? outcome : `${outcome} (${code})`, detail ?? '']
    .join('  ')
    .trimEnd();

const Fault = z.object({
  file: z.string(),
  line: z.number().int(),
  reason: z.string(),
  record: Row.optional().describe('The record itself'),
  before: Row.optional().describe('The one before it in its chain'),
});

const mostFaults = 100;

export const verify = operation({
  title: 'Verify the audit trail',
  summary: 'Check whether the audit trail was edited: names every record that was changed, moved or removed.',
  access: 'observe',
  input: z.strictObject({
    max_age_s: z.number().int().min(0).max(86_400).default(0).describe('An earlier check will do if it is not older'),
  }),
  output: z.object({
    whole: z.boolean(),
    to: z.number().int().describe('The newest number of this run that was checked'),
    records: z.number().int(),
    runs: z.number().int(),
    checked_at: z.string(),
    faults: z.array(Fault),
    faults_total: z.number().int(),
    gaps: z.array(Fault).describe('Records that a server could not write: no tampering'),
  }),
  async run({ input, engine, signal }) {
    const trail = engine.service(auditTrail);
    // What is on disk and what is vouched for must be of the same moment.
    trail.vouch();
    const { found, at } = await trail.checks.within(input.max_age_s * 1000, new Date(engine.clock.now()), signal);
    const { records, writers, faults, gaps, ends } = found;
    return {
      whole: faults.length === 0,
      to: ends.get(trail.writer) ?? 0,
      records,
      runs: writers,
      checked_at: at.toISOString(),
      faults: faults.slice(0, mostFaults).map(({ record, before, ...fault }) => ({
        ...fault,
        ...(record && { record: rowOf(record) }),
        ...(before && { before: rowOf(before) }),
      })),
      faults_total: faults.length,
      gaps: gaps.slice(0, mostFaults).map((gap) => ({ ...gap })),
    };
  },
  exitCode: ({ whole }) => (whole ? 0 : 1),
  render: ({ whole, to, records, runs, checked_at, faults, faults_total, gaps }) =>
    [
      whole
        ? `Whole to #${to}, checked ${checked_at}: ${records} records of ${runs} runs.`
        : `Broken in ${faults_total} ${faults_total === 1 ? 'place' : 'places'}, checked ${checked_at}.`,
      ...faults.map((fault) => `${fault.file}:${fault.line}: ${fault.reason}`),
      ...gaps.map((gap) => `${gap.file}:${gap.line}: ${gap.reason}`),
    ].join('\n'),
});

const mostBytes = 16 << 20;

const exportDay = operation({
  title: 'Export a day of the audit trail',
  summary: 'The records of one day as JSON lines, byte for byte as they are on disk.',
  // Only an owner takes the trail away, and the trail says so.
  access: 'administer',
  readOnly: true,
  input: z.strictObject({ day: z.iso.date().describe('The day, in UTC') }),
  output: z.object({ name: z.string().describe('A file name for it'), records: z.number().int(), text: z.string() }),
  positional: ['day'],
  about: ({ day }) => ({ detail: day }),
  show: ({ text }) => text,
  async run({ input: { day }, engine }) {
    const trail = engine.service(auditTrail);
    const bytes = await trail.day(day, mostBytes);
    if (!bytes) {
      throw new FairleadError('not_found', `Nothing of ${day} is in the audit trail.`, {
        hint: `It has: ${trail.days.join(', ') || 'nothing'}.`,
      });
    }
    const text = bytes.toString('utf8');
    return { name: `fairlead-audit-${day}.jsonl`, records: text.split('\n').filter(Boolean).length, text };
  },
  render: ({ text }) => text,
});
export { exportDay as export };

const mostPending = 256;

export const watch = stream({
  title: 'Watch the audit trail',
  summary: 'Watch records as they are written. A reader that falls behind is told to list them again.',
  access: 'observe',
  input: z.strictObject(filters),
  item: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('record'), record: Row }),
    z.object({ kind: z.literal('behind') }),
  ]),
  async *run({ input, engine, signal }) {
    let pending: Row[] = [];
    let isBehind = false;
    let wake = (): void => {};
    const wanted = fits(input);
    using _added = engine.service(auditTrail).added.on((record) => {
      if (!wanted(record)) return;
      if (pending.push(rowOf(record)) > mostPending) {
        pending = [];
        isBehind = true;
      }
      wake();
    });
    using _end = onAbort(signal, () => wake());
    while (!signal.aborted) {
      const next = pending.shift();
      if (isBehind) {
        isBehind = false;
        pending = [];
        yield { kind: 'behind' as const };
      } else if (next) yield { kind: 'record' as const, record: next };
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  },
  render: (item) => (item.kind === 'record' ? `${line(item.record)}\n` : 'Some records were left out here.\n'),
});
