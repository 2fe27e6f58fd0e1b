import type { SettingName } from '../config.ts';
import { isOn, type Option } from '../faces/cli/args.ts';
import type { Command } from './command.ts';

const terminals = [
  'shell',
  'cwd',
  'env',
  'cols',
  'rows',
  'scrollback',
  'shellIntegration',
  'maxSessions',
  'sessionIdleTimeout',
] as const;
const recordingSettings = ['record', 'recordDir', 'idleTimeLimit', 'maxDuration', 'inactivityTimeout'] as const;
const tools = ['toolsets', 'readOnly', 'home'] as const;
const sshSettings = ['sshHostKeyPolicy', 'sshKnownHosts'] as const;

const own = (flag: string, form: Option['form'], help: string, metavar?: string): Option => ({
  name: flag.slice(2),
  flag,
  form,
  help,
  ...(metavar === undefined ? {} : { metavar }),
});

const json = own('--json', 'switch', 'Answer as JSON');

export const commands: readonly Command[] = [
  {
    name: 'mcp',
    otherName: 'mcp-stdio',
    usage: '[--headless] [options]',
    summary: 'MCP server on stdin and stdout with terminals of its own; ends with its client',
    examples: [
      ['fairlead mcp', 'what an MCP client starts'],
      ['fairlead mcp --record=on-failure --cols 100', 'keep a recording of what fails'],
      ['fairlead mcp --read-only', 'let an agent look, never touch'],
    ],
    settings: ['headless', ...terminals, ...recordingSettings, ...sshSettings, ...tools],
    serves: true,
    run: async (invocation) => (await import('./instance/mcp.ts')).mcp(invocation),
  },
  {
    name: 'serve',
    usage: '[options]',
    summary: 'An instance: MCP over HTTP, the session RPC, a command line; terminals outlive clients and server',
    examples: [
      ['fairlead serve', 'on 127.0.0.1:7420, or the next free port'],
      ['FAIRLEAD_TOKEN=$(openssl rand -hex 24) fairlead serve', 'with a token that stays the same'],
      ['fairlead serve --end', 'end the terminals that earlier servers left running'],
    ],
    details:
      'Its terminals live in a process of their own: they outlive the server, however it ends, and the next one goes on with ' +
      'them. With --keep-terminals=false an orderly end ends them.',
    flags: [own('--end', 'switch', 'End the terminals that earlier servers left running, and exit')],
    settings: [
      'host',
      'port',
      'rpcPort',
      'allowHost',
      'allowOrigin',
      'token',
      'keepTerminals',
      'autosave',
      ...terminals,
      ...recordingSettings,
      ...sshSettings,
      ...tools,
    ],
    serves: true,
    // To end what is left needs next to nothing of a server.
    run: async (invocation) =>
      isOn(invocation.flags, 'end')
        ? (await import('./instance/end-terminals.ts')).endTerminals(invocation)
        : (await import('./instance/serve.ts')).serve(invocation),
  },
  {
    name: 'answer',
    takesWords: true,
    usage: '[terminal or question] [--list] [--json]',
    summary: 'Answer what a terminal or the server asks: a password, a confirmation; no model and no recording sees it',
    details:
      'Without a name it answers the one question that waits. What comes on standard input is taken as the answer when that is no ' +
      'terminal. Exit codes: 3 nothing is running, 4 nothing waits.',
    examples: [
      ['fairlead answer', 'shows the question, reads the answer without showing it'],
      ['pass show sudo | fairlead answer a3f2c', 'from a password manager'],
    ],
    settings: ['home'] satisfies SettingName[],
    flags: [json, own('--list', 'switch', 'Only show what waits')],
    run: async (invocation) => (await import('./person/answer.ts')).answer(invocation),
  },
  {
    name: 'attach',
    takesWords: true,
    usage: '[session] [--instance name]',
    summary: 'Sit down in a session of a running instance; Ctrl+] leaves it and the session goes on',
    details: 'A session is its number, its id or its name; without one it is session 0.',
    examples: [['fairlead attach 2', 'type into session 2, beside the agent']],
    settings: ['home'] satisfies SettingName[],
    flags: [
      own('--session', 'value', 'Which session, the same as the word', 'name'),
      own('--instance', 'value', 'Which instance; the active one first by default', 'name'),
    ],
    run: async (invocation) => (await import('./person/attach.ts')).attach(invocation),
  },
  {
    name: 'audit',
    takesWords: true,
    firstWords: ['verify'],
    usage: 'verify [--json]',
    summary: 'Check the audit trail for edits',
    details: 'Exit code 1 when a record was changed, moved or taken out; the trail is kept for two weeks.',
    examples: [['fairlead audit verify', 'names the file and line of every fault']],
    settings: ['home'] satisfies SettingName[],
    flags: [json],
    run: async (invocation) => (await import('./audit.ts')).audit(invocation),
  },
  {
    name: 'completion',
    takesWords: true,
    firstWords: ['bash', 'zsh', 'fish'],
    usage: 'bash | zsh | fish',
    summary: 'Print a completion script for a shell',
    examples: [
      ['fairlead completion bash > ~/.local/share/bash-completion/completions/fairlead', 'then open a new shell'],
    ],
    settings: [],
    run: async (invocation) => (await import('./completion/index.ts')).completion(invocation),
  },
  {
    name: 'recordings',
    takesWords: true,
    firstWords: ['list', 'show', 'rm', 'recover', 'export'],
    usage: 'list | show <id> | rm <id>… | recover [--force] | export <id> [--format gif|txt|md] [--output file]',
    summary: 'List, look at, remove, repair and export recordings',
    details: 'A recording is named by its id, the beginning of its id, or the path of its .cast file.',
    examples: [
      ['fairlead recordings list', 'newest first'],
      ['fairlead recordings export 63f6 --format gif', 'writes terminal-….gif beside it'],
      ['fairlead recordings recover', 'closes what a crash left behind'],
    ],
    settings: ['recordDir', 'home'] satisfies SettingName[],
    flags: [
      json,
      own('--force', 'switch', 'recover: also those whose writer cannot be seen from here'),
      own('--format', 'value', 'export: what to write (gif)', 'gif|txt|md'),
      own('--output', 'value', 'export: file to write, - for standard output (beside the recording)', 'file'),
      own('--theme', 'value', 'gif: the colours', 'standard|midnight|daylight|classic'),
      own('--speed', 'value', 'gif: times as fast', 'n'),
    ],
    run: async (invocation) => (await import('./recordings/recordings.ts')).recordings(invocation),
  },
  {
    name: 'play',
    takesWords: true,
    firstWords: 'file',
    usage: '<file or id> [--speed n] [--idle-limit s]',
    summary: 'Play a recording in this terminal',
    examples: [['fairlead play 63f6 --speed 2', 'twice as fast']],
    settings: ['recordDir', 'home'] satisfies SettingName[],
    flags: [
      own('--speed', 'value', 'Times as fast', 'n'),
      own('--idle-limit', 'value', 'Longest pause, in seconds', 's'),
    ],
    run: async (invocation) => (await import('./recordings/play.ts')).playRecording(invocation),
  },
];
