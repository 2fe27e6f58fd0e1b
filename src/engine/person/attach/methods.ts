import { z } from 'zod';
import { deferred } from '../../../lib/deferred.ts';
import { person } from '../prompts/methods.ts';
import { accounted } from '../../call/call.ts';
import type { Engine } from '../../engine.ts';
import { runningInstance } from '../../instances/running.ts';
import { namedSession } from '../../sessions/lookup.ts';
import { abortable } from '../../../system/abortable.ts';
import { describeEnd } from '../../terminal/ended.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { Typing } from './typing.ts';

/** What a person who sits in a session from another terminal needs: its bytes as they come, and a keyboard. */

const Which = z.object({ session: z.union([z.string(), z.number()]) });
const Read = Which.extend({ from: z.number().int().min(0), waitMs: z.number().int().min(0).max(60_000) });
const Write = Which.extend({ bytes: z.base64() });
const Resize = Which.extend({ cols: z.number().int().min(2).max(1000), rows: z.number().int().min(1).max(1000) });

/** Bytes of one answer. */
const mostBytes = 256 << 10;

type Method = (params: unknown, signal: AbortSignal) => Promise<unknown>;

export function attachMethods(engine: Engine): Readonly<Record<string, Method>> {
  const find = ({ session }: { readonly session: string | number }): Terminal => {
    const all = engine.terminals.map((terminal) => ({
      number: terminal.identity.number,
      id: terminal.id,
      name: terminal.identity.name,
      isLive: terminal.ended === undefined,
      terminal,
    }));
    const isThere = all.some(({ number }) => String(number) === String(session));
    const byDefault = isThere || String(session) !== '0' ? undefined : engine.sessions.numbered(0, person);
    return byDefault ?? namedSession(String(session), all).terminal;
  };
  const typing = new Typing(engine);
  return {
    /** How it looks now, as bytes for a fresh terminal, and where its output goes on from there. */
    'attach.open': async (params, signal) => {
      const terminal = find(Which.parse(params));
      await terminal.sync(signal);
      return {
        session: terminal.identity.number,
        terminal: terminal.id,
        name: terminal.identity.name ?? terminal.identity.program,
        screen: Buffer.concat([Buffer.from(terminal.screen.snapshot()), terminal.screen.pending]).toString('base64'),
        from: terminal.log.end,
        ...terminal.screen.size,
      };
    },
    'attach.read': async (params, signal) => {
      const { from, waitMs, ...which } = Read.parse(params);
      const terminal = find(which);
      const focused = await news(engine, terminal, from, waitMs, signal);
      const { bytes, from: start } = terminal.log.read(from, undefined, mostBytes);
      const { ended } = terminal;
      return {
        bytes: Buffer.from(bytes).toString('base64'),
        next: start + bytes.length,
        ...(focused && { focused }),
        ...(ended !== undefined && start + bytes.length >= terminal.log.end && { ended: describeEnd(ended) }),
      };
    },
    'attach.write': async (params, signal) => {
      const { bytes, ...which } = Write.parse(params);
      const terminal = find(which);
      const text = Buffer.from(bytes, 'base64');
      await typing.add(signal, terminal, [...text.toString()].length, () =>
        terminal.input.send(text, 'person', signal, 'person'),
      );
    },
    'attach.resize': async (params, signal) => {
      const { cols, rows, ...which } = Resize.parse(params);
      const terminal = find(which);
      const what = {
        operation: 'attach.resize',
        access: 'control',
        terminal: String(terminal.identity.number),
      } as const;
      await accounted(what, { engine, caller: person, signal }, async (admit, note) => {
        note({ detail: `${cols}x${rows}` });
        await admit({ session: terminal.identity.number, cols, rows });
        await terminal.resize({ cols, rows }, signal);
      });
    },
  };
}

/** Waits for output past an offset, for the end, or for a focus request; true for the last. */
async function news(
  engine: Engine,
  terminal: Terminal,
  from: number,
  waitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const done = deferred<boolean>();
  using _present = terminal.usage.keepAwake();
  const check = (): void => {
    if (terminal.log.end > from || terminal.ended || terminal.state.isClosing) done.resolve(false);
  };
  using _output = terminal.output.on(check);
  using _state = terminal.state.changed.on(check);
  using _limit = terminal.clock.after(waitMs, () => done.resolve(false));
  using _focus = engine.service(runningInstance).focused.on(({ session, heard }) => {
    if (session !== undefined && session !== terminal.identity.number) return;
    heard();
    done.resolve(true);
  });
  check();
  return await abortable(done.promise, signal);
}
