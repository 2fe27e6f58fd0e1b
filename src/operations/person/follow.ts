import { z } from 'zod';
import { stream } from '../../engine/call/operation.ts';
import type { Engine } from '../../engine/engine.ts';
import { describeEnd } from '../../engine/terminal/ended.ts';
import type { Sign } from '../../engine/terminal/follow.ts';
import type { Terminal } from '../../engine/terminal/terminal.ts';
import { FollowedEvent, followedEvent } from './history.ts';
import { aboutSession, ScreenShape, screenOf, Session, StateShape, terminalCalled } from './shared.ts';

const Item = z.object({
  from: z.number().int().describe('Offset of the first byte'),
  bytes: z.string().describe('Base64'),
  missed: z.number().int().describe('Bytes before it that you do not get'),
  screen: z.object(ScreenShape).optional().describe('Begin anew with it: it shows all output before `from`'),
  state: StateShape,
  title: z.string(),
  focused: z.boolean().describe('A caller wants the person to look here'),
  events: z
    .array(FollowedEvent)
    .optional()
    .describe('Who typed, commands, sizes and who has the keyboard, in order with the bytes'),
  ended: z.string().optional().describe('How it ended: this is the last item'),
});

export const followTerminal = stream({
  title: 'Follow a terminal',
  summary:
    'Follow the output of a terminal from an offset on, with its state and title and who types, until it ends. A reader that fell behind can have the screen instead of what it missed.',
  access: 'observe',
  input: z.strictObject({
    session: Session,
    from: z
      .number()
      .int()
      .min(0)
      .optional()
      .describe('Offset of the first byte; the end of the output so far by default'),
    event: z
      .number()
      .optional()
      .describe('Number of the newest event you have: those after it come, too; the newest so far by default'),
    screen: z
      .boolean()
      .default(false)
      .describe('Begin with the screen where there is no offset, or the bytes from there on are not all kept'),
  }),
  item: Item,
  positional: ['session'],
  about: aboutSession,
  async *run({ input, engine, caller, signal }) {
    const terminal = terminalCalled(input.session, engine, caller);
    const { log, state, usage } = terminal;
    using _awake = usage.keepAwake();
    const focus = new Focus(engine, terminal);
    const signs = [state.changed, state.title.changed, usage.history.added, focus];
    const now = () => ({ state: state.current, title: state.title.current, focused: focus.taken() });
    let at = input.from;
    let told = input.event ?? usage.history.last;
    while (!signal.aborted) {
      if (input.screen && (at === undefined || at < log.start || at > log.end)) {
        await terminal.sync(signal);
        const screen = screenOf(terminal);
        const missed = at === undefined ? 0 : Math.max(0, log.end - at);
        [at, told] = [log.end, screen.event];
        yield { from: at, bytes: '', missed, screen, ...now() };
      }
      at ??= log.end;
      for await (const { from, bytes, missed } of terminal.follow(at, signal, signs)) {
        if (missed > 0 && input.screen) break;
        at = from + bytes.length;
        const events = usage.history.since(told, at);
        told = events.at(-1)?.n ?? told;
        const { ended } = terminal;
        const isOver = ended !== undefined && at >= log.end;
        yield {
          from,
          bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'),
          missed,
          ...now(),
          ...(events.length > 0 ? { events: events.map((event) => followedEvent(event, terminal)) } : {}),
          ...(isOver ? { ended: describeEnd(ended) } : {}),
        };
        if (isOver) return;
      }
    }
  },
  render: ({ bytes }) => Buffer.from(bytes, 'base64').toString(),
});

/** Tells a reader when a caller wants the person to look at this terminal. */
class Focus implements Sign {
  readonly #engine: Engine;
  readonly #number: number;
  #isWanted = false;

  constructor(engine: Engine, { identity }: Terminal) {
    this.#engine = engine;
    this.#number = identity.number;
  }

  on(listener: () => void): Disposable {
    return this.#engine.events.on((event) => {
      if (event.kind !== 'focus' || (event.session ?? this.#number) !== this.#number) return;
      event.heard();
      this.#isWanted = true;
      listener();
    });
  }

  /** Whether it was wanted since the last time. */
  taken(): boolean {
    const isWanted = this.#isWanted;
    this.#isWanted = false;
    return isWanted;
  }
}
