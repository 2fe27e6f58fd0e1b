import { FairleadError } from '../../contract/errors.ts';
import type { PersonQuestion } from '../person/questions/question.ts';
import type { Channel, Size } from './channel.ts';
import type { ShellEnvironment } from './environment.ts';
import type { Launch } from './launch.ts';

/** The person's answer; undefined: none came. */
export type AskPerson = (question: PersonQuestion, signal: AbortSignal) => Promise<string | undefined>;

export interface OpenRequest {
  /** What to open: the scheme of a transport, and after a colon an address that only this transport understands. */
  readonly target: string;
  readonly size: Size;
  /** Owner of the terminal; undefined: shared by all principals. */
  readonly principal?: string | undefined;
  readonly shell?: string | undefined;
  readonly argv?: readonly [string, ...string[]] | undefined;
  /** The shell runs this line and ends. */
  readonly command?: string | undefined;
  readonly cwd?: string | undefined;
  /** Without `cwd`, start in the person's home instead of the server's directory. */
  readonly fromHome?: boolean | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** What only this transport understands and validates: a baud rate, PTY modes. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** Asks the person for what opening it needs. Absent: the question waits, and the opening fails with `needs_person`. */
  readonly ask?: AskPerson | undefined;
  readonly name?: string | undefined;
  /** How to start it again, for saved sessions. */
  readonly launch?: Launch | undefined;
}

/** A request for a terminal whose id is known, so that its programs can be told where they run. */
export interface ChannelRequest extends OpenRequest {
  readonly terminalId: string;
}

export interface OpenedChannel {
  readonly channel: Channel;
  /** How many bytes of its output are kept at most. */
  readonly capacity?: number | undefined;
  /** Other principals must not know of it. */
  readonly owner?: string | undefined;
  /** What runs at the far side, as a person would name it. */
  readonly program: string;
  readonly nonce?: string | undefined;
  /** What the caller should know of how the opening went, a sentence each. */
  readonly notes?: readonly string[] | undefined;
  /** The environment of the shell in it, where that can be seen and changed. */
  readonly environment?: ShellEnvironment | undefined;
  readonly release?: () => void;
}

/** Something that can be opened. Facts beyond the first two are there where the transport knows them. */
export interface Target {
  readonly target: string;
  readonly summary: string;
  /** Where it is, such as a host and port. */
  readonly address?: string | undefined;
  /** Who logs in there. */
  readonly user?: string | undefined;
  /** The form of a target, to be filled in. */
  readonly isPattern?: true | undefined;
  /** What has it, where only one at a time can. */
  readonly inUseBy?: string | undefined;
}

export interface TargetList {
  readonly targets: Target[];
  readonly shells: string[];
}

/** One kind of far side. The engine knows transports only by their scheme. */
export interface Transport {
  /** The first word of its targets, up to the colon: `local`, `ssh`. */
  readonly scheme: string;
  /** Rejects with `invalid_input` for an address or option it does not understand. */
  open(request: ChannelRequest, signal: AbortSignal): Promise<OpenedChannel>;
  /** What a caller can name as a target. */
  targets?(): Promise<TargetList>;
}

/** For transports without options of their own. */
export function refuseOptions(scheme: string, { options = {} }: OpenRequest): void {
  const [name] = Object.keys(options);
  if (name === undefined) return;
  throw new FairleadError('invalid_input', `A ${scheme} target has no option ${JSON.stringify(name.slice(0, 80))}.`, {
    hint: 'Open it without options.',
  });
}
