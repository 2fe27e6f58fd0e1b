import type { Client, ClientChannel } from 'ssh2';

/**
 * The few private parts of ssh2 that we lean on, and nothing else of it. Its version is pinned and bundled, and
 * test/transports/ssh/link.test.ts notices when one of them goes away.
 */
interface Ssh2ClientInternals {
  /** Called in order, one for each answer to a global request. */
  readonly _callbacks: ((failed: unknown) => void)[];
  readonly _protocol: {
    /** A global request the server must answer, with success or failure. */
    ping(): void;
    channelWindowAdjust(channel: number, bytes: number): void;
    signal(channel: number, name: string): void;
    /** Packets that wait for the end of a key exchange; undefined while none does. */
    readonly _queue: readonly Uint8Array[] | undefined;
    readonly _handlers: Record<string, ((...args: never[]) => void) | undefined>;
  };
  readonly _chanMgr: { readonly _cur: number; get(id: number): unknown };
}

interface Ssh2ChannelInternals {
  /** What the server may still send on this channel. */
  readonly incoming: { window: number; state: string };
  readonly outgoing: { readonly id: number; readonly state: string };
  readonly stderr: { push(bytes: Uint8Array | null): boolean };
  push(bytes: Uint8Array | null): boolean;
}

export const insideClient = (client: Client): Ssh2ClientInternals => client as unknown as Ssh2ClientInternals;
export const insideChannel = (channel: ClientChannel): Ssh2ChannelInternals =>
  channel as unknown as Ssh2ChannelInternals;
