import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { FairleadError } from '../../../src/contract/errors.ts';
import { AuditTrail, auditTrail } from '../../../src/engine/call/audit/trail.ts';
import { call, type Caller } from '../../../src/engine/call/call.ts';
import type { CallKey } from '../../../src/engine/call/idempotency.ts';
import { type AnyOperation, defineBook, operation } from '../../../src/engine/call/operation.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';
import type { Engine, EngineOptions } from '../../../src/engine/engine.ts';
import { personBook } from '../../../src/operations/person/index.ts';
import { ManualClock } from '../clocks/manual.ts';
import { EchoChannel } from '../echo-channel.ts';
import { engineWith } from '../engine.ts';

const epoch = Date.parse('2026-01-31T08:00:00Z');
const plain = { title: 'Test', summary: 'For tests.', render: () => '' } as const;

/** Agents and a person before an engine with a manual clock and terminals that only echo. */
export class Office implements AsyncDisposable {
  readonly home = mkdtempSync(join(tmpdir(), 'fairlead-office-'));
  readonly clock = new ManualClock(epoch);
  /** What `desk.write` was given, in the order in which it ran. */
  readonly written: string[] = [];
  /** The same when it began. */
  readonly begun: string[] = [];
  readonly engine: Engine;
  readonly trail: AuditTrail;
  /** `desk.write` waits for this. */
  gate: Promise<void> = Promise.resolve();
  readonly #desk = this.#book();

  constructor(options: Partial<EngineOptions> = {}) {
    this.trail = new AuditTrail(this.home, () => {});
    const open = async ({ size }: { readonly size: { readonly cols: number; readonly rows: number } }) => ({
      channel: new EchoChannel(size),
      program: 'echo',
      owner: 'owner',
    });
    this.engine = engineWith(
      this.home,
      { echo: open },
      { clock: this.clock, parts: [[auditTrail, () => this.trail]], ...options },
    );
    this.engine.audit.added.on((entry) => this.trail.add(entry));
  }

  agent(name: string, more: Partial<Caller> = {}): Caller {
    const client = { key: `name ${name}`, self: `name ${name} 1`, leaves: false };
    return { name, principal: 'owner', origin: 'mcp', peer: '127.0.0.1:5', may: () => true, client, ...more };
  }

  /** Answers as operations do, or with the error. */
  // oxlint-disable-next-line typescript/no-explicit-any
  async ask(id: string, input: object = {}, caller: Caller = localPerson, key?: CallKey): Promise<any> {
    const [noun = '', verb = ''] = id.split('.');
    const op = (this.#desk.nouns[noun] ?? personBook.nouns[noun])?.[verb] as AnyOperation;
    return await call(op, input, { engine: this.engine, caller, signal: new AbortController().signal, key });
  }

  /** The error of a call that must fail. */
  async refused(id: string, input: object, caller: Caller, key?: CallKey): Promise<FairleadError> {
    try {
      await this.ask(id, input, caller, key);
    } catch (error) {
      if (error instanceof FairleadError) return error;
      throw error;
    }
    throw new Error(`${id} was not refused`);
  }

  /** Lets time pass until it is done: a new terminal is given time for its prompt. */
  async soon<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const over = work.finally(() => {
      isOver = true;
    });
    over.catch(() => {});
    while (!isOver) {
      this.clock.advance(100);
      await this.settle();
    }
    return await over;
  }

  /** Lets everything happen that can without time. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine[Symbol.asyncDispose]();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }

  #book() {
    const input = z.strictObject({ text: z.string(), terminal: z.string().optional() });
    const write = operation({
      ...plain,
      access: 'control',
      keyed: true,
      input,
      output: z.object({ run: z.number(), exitCode: z.number().optional() }),
      commands: ({ text }) => [text],
      run: async ({ input: { text, terminal }, engine, caller, signal }) => {
        if (terminal !== undefined) await engine.sessions.forReading(terminal, caller, signal);
        this.begun.push(`${caller.name}: ${text}`);
        await this.gate;
        this.written.push(`${caller.name}: ${text}`);
        if (text === 'fail') throw new FairleadError('conflict', 'It is wet.');
        return { run: this.written.length, ...(text === 'exit 3' ? { exitCode: 3 } : {}) };
      },
    });
    const steps = operation({
      ...plain,
      access: 'control',
      input: z.strictObject({ lines: z.array(z.string()) }),
      output: z.object({}),
      run: async ({ input: { lines }, nextStep }) => {
        for (const [at, line] of lines.entries()) {
          if (at > 0) await nextStep();
          this.written.push(line);
          await this.gate;
        }
        return {};
      },
    });
    const read = operation({
      ...plain,
      access: 'observe',
      input: z.strictObject({ pattern: z.string().optional() }),
      output: z.object({ text: z.string() }),
      run: async () => ({ text: 'x'.repeat(100) }),
    });
    return defineBook({
      name: 'desk',
      summary: 'For tests.',
      nouns: { desk: { write, steps, read } },
      renderError: String,
    });
  }
}
