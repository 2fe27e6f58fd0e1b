import type { Engine } from '../../../engine/engine.ts';
import { recordingOf } from '../../../engine/recording/recording-of.ts';
import type { ResourceSource, StreamResource } from '../../../streams/resource.ts';
import { terminalResource } from '../../../streams/terminal-source.ts';
import type { Ssh } from '../index.ts';
import type { SshShell } from '../shells/shell.ts';

/** `shell://<shell id>/output` */
export function shellSource(engine: Engine, { shells }: Ssh): ResourceSource {
  const close = async (shell: SshShell): Promise<void> => await shells.close(shell.id, shell.session.principal);
  const resourceOf = (shell: SshShell): StreamResource => {
    const { term, size, releaseWhenNoSubs, graceMs } = shell.request;
    return terminalResource(shell.terminal, {
      scheme: 'shell',
      id: shell.id,
      description: `${term} ${size.cols}x${size.rows} on ${shell.session.username}@${shell.session.host}`,
      status: () => (shell.closed ? 'closed' : 'open'),
      release: releaseWhenNoSubs ? { graceMs, close: () => close(shell) } : undefined,
      leak: { close: () => close(shell) },
      recording: {
        isOn: () => recordingOf(shell.terminal.id, engine) !== undefined,
        onChange: (listener) =>
          engine.events.on((event) => {
            if (event.kind === 'recording' && event.terminal === shell.terminal) listener();
          }),
      },
    });
  };
  return {
    scheme: 'shell',
    missing: 'SHELL_NOT_FOUND',
    list: (principal) => shells.all(principal).map(resourceOf),
    find(id, principal) {
      const shell = shells.all(principal).find((one) => one.id === id);
      return shell && resourceOf(shell);
    },
    // Terminals come and go with an event of the engine, and so do shells.
    onListChange: (listener) =>
      engine.events.on(({ kind }) => {
        if (kind === 'opened' || kind === 'closed') listener();
      }),
  };
}
