import { echoedCommand } from '../reading/echoed-command.ts';
import type { Block } from '../terminal/blocks.ts';
import type { BlockMark, PastMark, PastOutput } from './source.ts';
import type { Recordable } from './terminal-source.ts';

/** Tells the marks of a terminal by their place in the output. */
export function onMark(terminal: Recordable, listener: (mark: BlockMark) => void): Disposable {
  const { blocks, log } = terminal;
  /** The block of the newest command, and its text if that was told. */
  let told: { readonly block: number; readonly command: string | undefined } | undefined;
  const listening = [
    blocks.promptBegan.on((at) => listener({ kind: 'prompt', at })),
    blocks.events.on((event) => {
      if (event.type === 'prompt') listener({ kind: 'input', at: event.at });
      else if (event.type === 'started') {
        const command = commandOf(terminal, event.block);
        told = { block: event.block.id, command };
        listener({ kind: 'output', at: event.block.outputFrom, command });
      } else {
        const { id, exitCode, outputTo = log.end, command } = event.block;
        const isNews = command !== undefined && (told?.block !== id || told.command === undefined);
        listener({ kind: 'exit', at: outputTo, exitCode, ...(isNews && { command }) });
      }
    }),
  ];
  return {
    [Symbol.dispose]() {
      for (const one of listening) one[Symbol.dispose]();
    },
  };
}

export function markNow(terminal: Recordable): BlockMark | undefined {
  const { blocks, log } = terminal;
  const at = log.end;
  if (blocks.current) return { kind: 'output', at, command: commandOf(terminal, blocks.current) };
  if (blocks.promptAt !== undefined) return { kind: 'input', at };
  return blocks.promptFrom === undefined ? undefined : { kind: 'prompt', at };
}

/** The kept output from this offset on. It begins with the mark that tells where the shell was. */
export function pastOutput(terminal: Recordable, wanted: number): PastOutput {
  const { blocks, log } = terminal;
  const { from, bytes, missed } = log.read(wanted);
  const all = [...blocks.list.flatMap((block) => marksOf(terminal, block)), ...promptMarks(terminal)];
  const before = all.findLast(({ at }) => at < from);
  const state: PastMark[] = before === undefined || before.kind === 'exit' ? [] : [{ ...before, at: from }];
  return { from, bytes, missed, marks: [...state, ...all.filter(({ at }) => at >= from)] };
}

function marksOf(terminal: Recordable, block: Block): PastMark[] {
  const { promptFrom, commandFrom, outputFrom, outputTo, exitCode, startedAt, endedAt, isOver } = block;
  const marks: PastMark[] = [];
  if (promptFrom !== undefined) marks.push({ kind: 'prompt', at: promptFrom });
  if (commandFrom !== undefined) marks.push({ kind: 'input', at: commandFrom });
  marks.push({ kind: 'output', at: outputFrom, command: commandOf(terminal, block), time: startedAt });
  if (isOver) marks.push({ kind: 'exit', at: outputTo ?? terminal.log.end, exitCode, time: endedAt });
  return marks;
}

/** Of the prompt on show, which belongs to no block yet. */
function promptMarks({ blocks: { promptFrom, promptAt } }: Recordable): PastMark[] {
  const marks: PastMark[] = [];
  if (promptFrom !== undefined) marks.push({ kind: 'prompt', at: promptFrom });
  if (promptAt !== undefined) marks.push({ kind: 'input', at: promptAt });
  return marks;
}

const commandOf = (terminal: Recordable, block: Block): string | undefined =>
  block.command ?? echoedCommand(block, terminal.log, terminal.screen.size);
