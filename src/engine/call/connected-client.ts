/** What a client is told of the resources it follows. */
export type ResourceNote =
  | {
      readonly kind: 'updated';
      /** As the client wrote it. */
      readonly uri: string;
      /** Its subscription and those of its lanes that have something to read. */
      readonly subIds: readonly string[];
      readonly lastSeq: number;
      /** The end of the resource: a read up to there has everything. */
      readonly cursor: number;
    }
  /** Resources came or went. */
  | { readonly kind: 'listed' };

/** A client that stays, as the service knows it that tells clients of changes. Its door disposes it when it is gone. */
export interface ConnectedClient extends Disposable {
  readonly principal: string;
  /** Whether it hears of changes to the list. */
  hearsOfList: boolean;
  /** Whether it hears of a lane without a subscription to its URI. */
  hearsOfLanes: boolean;
  /** Only for a client that leaves without a word: its door says when it asks something, and how many streams it has open. */
  readonly presence?: { touch(): void; streams: number } | undefined;
  /** What to tell it, one note at a time, as fast as it takes them. For one reader at a time; a note at which it stops comes again. */
  notes(signal: AbortSignal): AsyncIterable<ResourceNote>;
}
