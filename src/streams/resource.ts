import type { Scheme } from './uri.ts';

/** A stretch of a resource: bytes of a text, events of the others. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

export interface TextPart {
  /** Which stream it came on, where there are two. */
  readonly stream?: 'stdout' | 'stderr' | undefined;
  readonly bytes: Uint8Array;
}

/** What is left of a stretch of text. */
export interface TextRead extends Stretch {
  readonly parts: readonly TextPart[];
  /** Bytes at its beginning that are no longer kept. */
  readonly missed: number;
}

/** Bytes with offsets, of which the newest are kept. */
export interface TextContent {
  readonly type: 'text';
  /** Offset of the oldest byte kept, and of the next one to come. */
  readonly start: number;
  readonly end: number;
  /** At most `max` bytes of this stretch. */
  read(span: Stretch, max: number): TextRead;
}

/** An event of a resource that is no text: `seq` and `at` come first. */
export interface ResourceEvent {
  readonly seq: number;
  /** ISO 8601. */
  readonly at: string;
  readonly [field: string]: unknown;
}

/** Events with numbers, of which the newest are kept, and the state that they led to. */
export interface JsonContent {
  readonly type: 'json';
  readonly start: number;
  readonly end: number;
  /** The current state. */
  body(): Readonly<Record<string, unknown>>;
  read(span: Stretch): readonly ResourceEvent[];
}

/** How a resource came to its end. */
export interface ResourceEnd {
  readonly reason: string;
  readonly exitCode?: number | undefined;
}

export interface StreamChange {
  /** How many bytes are new. */
  readonly bytes: number;
  /** Nothing comes after it. */
  readonly isFinal: boolean;
}

/** What happens when the last subscriber of a resource has left, if its creator asked for anything to happen. */
export interface AutoRelease {
  readonly graceMs: number;
  /** Ends the resource. Never rejects. */
  close(): Promise<void>;
}

/** Something that a client can follow by its URI. Sources make one whenever they are asked; `key` tells which thing it is. */
export interface StreamResource {
  /** Two URIs of one thing (`shell://X`, `terminal://X`) have one key. */
  readonly key: string;
  readonly scheme: Scheme;
  readonly id: string;
  /** The principal it belongs to; undefined: all. */
  readonly owner: string | undefined;
  /** One line about it. */
  readonly description: string;
  readonly createdAt: number;
  readonly status: string;
  /** Present when nothing more can come. */
  readonly end: ResourceEnd | undefined;
  /** The number of its newest chunk or event; 0 before the first. */
  readonly lastSeq: number;
  readonly content: TextContent | JsonContent;
  /** Calls back at each change, from within the change: a listener must be quick. */
  onChange(listener: (change: StreamChange) => void): Disposable;
  readonly release?: AutoRelease | undefined;
  /** Held open for a person, a recording or a call that waits. */
  readonly isHeld?: () => boolean;
  /** Calls back whenever that may have changed. */
  readonly onHeld?: (listener: () => void) => Disposable;
  /** Nothing is read from the far side while this is held. */
  readonly block?: () => Disposable;
  /** An unobserved one is worth a warning; ends it when the operator wants that. */
  readonly leak?: { close(): Promise<void> } | undefined;
}

/** Where resources of one scheme come from. */
export interface ResourceSource {
  readonly scheme: Scheme;
  /** The code for one that is not there. */
  readonly missing: 'SHELL_NOT_FOUND' | 'COMMAND_NOT_FOUND' | 'SESSION_NOT_FOUND' | 'RESOURCE_GONE';
  /** Every one that lives or can still be read, as far as this principal may see it; undefined: of all principals. */
  list(principal: string | undefined): readonly StreamResource[];
  find(id: string, principal: string): StreamResource | undefined;
  /** Calls back when the list has changed. */
  onListChange(listener: () => void): Disposable;
}
