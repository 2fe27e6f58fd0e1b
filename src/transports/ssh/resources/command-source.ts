import type { ResourceSource, StreamResource, TextContent } from '../../../streams/resource.ts';
import type { SshCommand } from '../commands/command.ts';
import type { Commands } from '../commands/commands.ts';

const longestLine = 120;

/** `command://<command id>/output` */
export function commandSource(commands: Commands): ResourceSource {
  return {
    scheme: 'command',
    missing: 'COMMAND_NOT_FOUND',
    list: (principal) => commands.all(principal).map(commandResource),
    find(id, principal) {
      const command = commands.peek(id, principal);
      return command && commandResource(command);
    },
    onListChange: (listener) => commands.changed.on(listener),
  };
}

function commandResource(command: SshCommand): StreamResource {
  const { output, request } = command;
  const { releaseWhenNoSubs, graceMs } = request;
  const content: TextContent = {
    type: 'text',
    get start() {
      return output.start;
    },
    get end() {
      return output.end;
    },
    read({ from, to }, max) {
      const read = output.read(from, Math.min(max, Math.max(0, to - Math.max(from, output.start))));
      return { ...read, parts: read.parts };
    },
  };
  const close = async (): Promise<void> => void (await command.cancel());
  return {
    key: command.id,
    scheme: 'command',
    id: command.id,
    owner: command.principal,
    get description() {
      return `${command.status}: ${cut(request.command)}`;
    },
    createdAt: command.startedAt,
    // One that took too long failed, as in the list of commands.
    get status() {
      return command.status === 'timeout' ? 'failed' : command.status;
    },
    get end() {
      const { end } = command;
      return end && { reason: end.error ?? end.status, exitCode: end.exitCode };
    },
    get lastSeq() {
      return output.appends + (command.end === undefined ? 0 : 1);
    },
    content,
    onChange(listener) {
      let at = output.end;
      const appended = output.onAppend.on((end) => {
        const bytes = end - at;
        at = end;
        listener({ bytes, isFinal: false });
      });
      let isHeard = true;
      command.whenEnded.then(
        () => isHeard && listener({ bytes: 0, isFinal: true }),
        () => {},
      );
      return {
        [Symbol.dispose]() {
          isHeard = false;
          appended[Symbol.dispose]();
        },
      };
    },
    release: releaseWhenNoSubs ? { graceMs, close } : undefined,
    isHeld: () => command.isAwaited,
    onHeld: (listener) => command.onAwaited.on(listener),
    block: () => command.hold(),
    leak: { close },
  };
}

const cut = (text: string): string => (text.length > longestLine ? `${text.slice(0, longestLine)}…` : text);
