import { engineWith } from '../engine.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { z } from 'zod';
import { FairleadError } from '../../../src/contract/errors.ts';
import { type Caller, call } from '../../../src/engine/call/call.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { RecordingSettings } from '../../../src/engine/recording/log/settings.ts';
import { Redactor } from '../../../src/engine/redaction/redactor.ts';
import type { AnyOperation, Operation } from '../../../src/engine/call/operation.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { remoteErrorFacts, renderRemoteError } from '../../../src/operations/remote/errors.ts';
import type { SshConnector } from '../../../src/transports/ssh/sessions/connect.ts';
import type { ConnectedClient } from '../../../src/engine/call/connected-client.ts';
import { defaultStreamSettings, type StreamSettings } from '../../../src/streams/settings.ts';
import { Streams, streams } from '../../../src/streams/streams.ts';
import { resourceSources } from '../../../src/transports/ssh/resources/sources.ts';
import { Ssh, ssh } from '../../../src/transports/ssh/index.ts';
import { defaultSshSettings, type SshSettings } from '../../../src/transports/ssh/settings.ts';

export interface RemoteOptions {
  readonly connector: SshConnector;
  readonly settings?: Partial<SshSettings>;
  readonly streams?: Partial<StreamSettings>;
  readonly clock?: Clock;
}

export interface Answer {
  /** What a model reads. */
  readonly text: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

export interface AskOptions {
  readonly principal?: string;
  readonly signal?: AbortSignal;
  /** A connection of its own; without one the principal has no place to keep what it follows. */
  readonly connected?: ConnectedClient | undefined;
  /** Tools and resource schemes the caller has: all that advice can name. */
  readonly offers?: (name: string) => boolean;
}

/** An engine that can SSH, in this process, and calls as a client would make them. */
export class Remote implements AsyncDisposable {
  readonly engine: Engine;
  readonly #folder = mkdtempSync(join(tmpdir(), 'fairlead-remote-'));

  constructor({ connector, settings, streams: followed, clock = systemClock }: RemoteOptions) {
    const made = (): Ssh => new Ssh({ connector, settings: { ...defaultSshSettings, ...settings }, clock });
    const madeStreams = (engine: Engine): Streams =>
      new Streams(engine, { settings: { ...defaultStreamSettings, ...followed }, sources: resourceSources(engine) });
    const recording = new RecordingSettings({ root: this.#folder, clock, warn: () => {} });
    const redactor = new Redactor({ key: Buffer.alloc(32) });
    this.engine = engineWith(
      this.#folder,
      {},
      {
        parts: [
          [ssh, made],
          [streams, madeStreams],
        ],
        clock,
        logs: { root: this.#folder, home: this.#folder, version: '9', settings: recording, redactor: () => redactor },
      },
    );
  }

  get ssh(): Ssh {
    return this.engine.service(ssh);
  }

  get streams(): Streams {
    return this.engine.service(streams);
  }

  /** The facts of an answer that must not be an error. */
  async run<In extends z.ZodType, Out extends z.ZodType>(
    op: Operation<In, Out>,
    input: z.input<In>,
    { principal = 'me', signal = AbortSignal.timeout(60_000), offers = () => true, connected }: AskOptions = {},
  ): Promise<z.output<Out>> {
    return await call(op, input, {
      engine: this.engine,
      caller: { ...callerOf(principal), offers, connected },
      signal,
    });
  }

  /** An answer of either kind, as it is told. */
  async ask(op: AnyOperation, input: Readonly<Record<string, unknown>>, options: AskOptions = {}): Promise<Answer> {
    const tool = op.mcpName ?? '';
    try {
      const facts = (await this.run(op, input, options)) as Answer['facts'];
      return { text: op.render(facts) as string, facts };
    } catch (error) {
      if (!(error instanceof FairleadError)) throw error;
      return { text: renderRemoteError(error, tool), facts: remoteErrorFacts(error, tool) };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export const callerOf = (principal: string): Caller => ({
  name: `caller of ${principal}`,
  principal,
  origin: 'mcp',
  may: () => true,
});

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;

/** Ids and times replaced by their names: `<id1>`, `<id2>` in order of appearance, `<time>`. */
export function masked(text: string): string {
  const ids: string[] = [];
  return text
    .replaceAll(uuid, (id) => {
      if (!ids.includes(id)) ids.push(id);
      return `<id${ids.indexOf(id) + 1}>`;
    })
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?=Z|\+00:00)/g, '<time>')
    .replaceAll(/SHA256:[A-Za-z0-9+/]{43}/g, '<fingerprint>');
}

/** Text with the nonces of its fences replaced, too. */
export const plain = (text: string): string => masked(text).replaceAll(/(?<=^--- \w+ )\[[0-9a-f]{8}\]/gm, '[<nonce>]');
