/** Frames that a channel sends to its far side. Those that carry no bytes of the terminal have a JSON body: messages.ts. */
export type ChannelFrame =
  | 'input'
  | 'ack'
  | 'flush'
  | 'conceal'
  | 'resize'
  | 'kill'
  | 'terminate'
  | 'forget'
  | 'meta'
  | 'snapshot';

/**
 * The way to a far side that numbers every byte of output and of input. Connections come and go underneath: the owner of the
 * link asks for output from `ResumableChannel.received` on when there is a new one, then calls `reconnected`.
 */
export interface FrameLink {
  /** False if the frame may be lost: there is no connection, or the connection is about to end. */
  send(type: ChannelFrame, body?: Uint8Array, offset?: number): boolean;
  /** Settles when the far side has everything sent so far, or never will. Never rejects. */
  delivered(): Promise<void>;
  /** The channel has ended or was left: it takes no more output. */
  finished(): void;
}
