import { OutputLog } from '../../../src/engine/terminal/output-log.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { Emitter } from '../../../src/lib/emitter.ts';
import { EventLog } from '../../../src/streams/event-log.ts';
import type {
  AutoRelease,
  JsonContent,
  ResourceEnd,
  ResourceSource,
  StreamChange,
  StreamResource,
  TextContent,
} from '../../../src/streams/resource.ts';
import { logContent } from '../../../src/streams/terminal-source.ts';
import type { Scheme } from '../../../src/streams/uri.ts';

interface FakeOptions {
  readonly scheme?: Scheme;
  readonly key?: string;
  readonly owner?: string;
  readonly capacity?: number;
  readonly graceMs?: number;
  readonly leaks?: boolean;
}

/** A resource without a far side: a real log, and whatever a test makes happen to it. */
export class FakeResource implements StreamResource {
  readonly key: string;
  readonly scheme: Scheme;
  readonly owner: string | undefined;
  readonly description = 'a fake';
  readonly log: OutputLog;
  readonly eventLog: EventLog;
  readonly content: TextContent | JsonContent;
  readonly createdAt: number;
  readonly changed = new Emitter<StreamChange>();
  readonly held = new Emitter<void>();
  readonly release: AutoRelease | undefined;
  readonly leak: StreamResource['leak'];
  end: ResourceEnd | undefined;
  closes = 0;
  holders = 0;
  /** How many stop its producer now. */
  blocks = 0;
  readonly id: string;

  constructor(
    id: string,
    clock: Clock,
    { scheme = 'shell', key = id, owner, capacity, graceMs, leaks }: FakeOptions = {},
  ) {
    this.id = id;
    this.key = key;
    this.scheme = scheme;
    this.owner = owner;
    this.createdAt = clock.now();
    this.log = new OutputLog(capacity === undefined ? {} : { capacity });
    this.eventLog = new EventLog(clock, capacity ?? 1000);
    const close = async (): Promise<void> => {
      this.closes += 1;
      this.finish('closed');
    };
    this.release = graceMs === undefined ? undefined : { graceMs, close };
    this.leak = leaks ? { close } : undefined;
    this.content =
      scheme === 'shell' || scheme === 'terminal' || scheme === 'command' ? logContent(this.log) : this.#json();
  }

  get status(): string {
    return this.end ? 'closed' : 'open';
  }

  get lastSeq(): number {
    return this.content.type === 'text' ? this.log.appends : this.eventLog.end;
  }

  readonly isHeld = (): boolean => this.holders > 0;

  readonly onHeld = (listener: () => void): Disposable => this.held.on(listener);

  readonly block = (): Disposable => {
    this.blocks += 1;
    return { [Symbol.dispose]: () => void (this.blocks -= 1) };
  };

  onChange(listener: (change: StreamChange) => void): Disposable {
    return this.changed.on(listener);
  }

  say(text: string | Uint8Array): void {
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    this.log.append(bytes);
    this.changed.emit({ bytes: bytes.length, isFinal: false });
  }

  happen(fields: Readonly<Record<string, unknown>>): void {
    this.eventLog.append(fields);
    this.changed.emit({ bytes: 0, isFinal: false });
  }

  finish(reason: string): void {
    if (this.end) return;
    this.end = { reason };
    this.changed.emit({ bytes: 0, isFinal: true });
  }

  hold(by: number): void {
    this.holders += by;
    this.held.emit();
  }

  #json(): JsonContent {
    const { eventLog } = this;
    return {
      type: 'json',
      get start() {
        return eventLog.start;
      },
      get end() {
        return eventLog.end;
      },
      body: () => ({ last_seq: eventLog.end }),
      read: (span) => eventLog.read(span),
    };
  }
}

/** The resources of one scheme that a test made. */
export class FakeSource implements ResourceSource {
  readonly scheme: Scheme;
  readonly missing = 'SHELL_NOT_FOUND';
  readonly all: FakeResource[] = [];
  readonly changed = new Emitter<void>();

  constructor(scheme: Scheme) {
    this.scheme = scheme;
  }

  add(resource: FakeResource): FakeResource {
    this.all.push(resource);
    this.changed.emit();
    return resource;
  }

  remove(resource: FakeResource): void {
    this.all.splice(this.all.indexOf(resource), 1);
    this.changed.emit();
  }

  list(principal: string | undefined): readonly StreamResource[] {
    return this.all.filter(({ owner }) => principal === undefined || owner === undefined || owner === principal);
  }

  find(id: string, principal: string): StreamResource | undefined {
    return this.list(principal).find((one) => one.id === id);
  }

  onListChange(listener: () => void): Disposable {
    return this.changed.on(listener);
  }
}
