import { basename } from 'node:path';
import { isShell } from '../shells/traits.ts';
import type { Engine } from '../engine.ts';
import { recordingOf } from '../recording/recording-of.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { SavedSession } from './workspaces.ts';

/** What is needed to create a session like it. */
export function savedSession(terminal: Terminal, engine: Pick<Engine, 'recordings' | 'logs'>): SavedSession {
  const { number, name, program, target, launch } = terminal.identity;
  const { cwd, localCwd } = terminal.place;
  const { marked } = terminal.blocks;
  const { size } = terminal.screen;
  return {
    id: number,
    title: terminal.state.title.current,
    cwd: localCwd ?? cwd ?? '',
    ...(localCwd === undefined && cwd !== undefined && { cwd_is_remote: true }),
    ...(launch.command === undefined ? {} : { command: launch.command }),
    ...(launch.command === undefined && (marked || isShell(basename(program))) ? { shell: program } : {}),
    ...(launch.title === undefined ? {} : { given_title: launch.title }),
    ...(launch.env === undefined ? {} : { env: [...launch.env] }),
    ...size,
    ...(name === undefined ? {} : { name }),
    target,
    recording: recordingOf(terminal.id, engine) !== undefined,
  };
}
