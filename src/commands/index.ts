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
    summary: 'MCP server on stdin and stdout, with its own terminals; ends with its client',
    examples: [
      ['fairlead mcp', 'the command for an MCP client'],
      ['fairlead mcp --record=on-failure --cols 100', 'record, and keep recordings of failures'],
      ['fairlead mcp --read-only', 'let an agent read, but change nothing'],
    ],
    settings: ['headless', ...terminals, ...recordingSettings, ...sshSettings, ...tools],
    serves: true,
    run: async (invocation) => (await import('./instance/mcp.ts')).mcp(invocation),
  },
  {
    name: 'serve',
    usage: '[options]',
    summary: 'Run an instance: MCP over HTTP, session RPC, command line; terminals survive restarts',
    examples: [
      ['fairlead serve', 'on 127.0.0.1:7420, or the next free port'],
      ['FAIRLEAD_TOKEN=$(openssl rand -hex 24) fairlead serve', 'with a fixed token'],
      ['fairlead serve --end', 'end terminals that earlier servers left running'],
    ],
    details:
      'Terminals live in a process of their own. They survive any end of the server, and the next server resumes them. ' +
      'With --keep-terminals=false they end when the server stops.',
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
    // Ending terminals needs hardly any part of a server: load only that.
    run: async (invocation) =>
      isOn(invocation.flags, 'end')
        ? (await import('./instance/end-terminals.ts')).endTerminals(invocation)
        : (await import('./instance/serve.ts')).serve(invocation),
  },
  {
    name: 'answer',
    takesWords: true,
    usage: '[terminal or question] [--list] [--json]',
    summary: 'Answer a password prompt or confirmation; no model and no recording sees it',
    details:
      'Without a name it answers the only waiting question. If standard input is not a terminal, the answer is read from it. ' +
      'Exit codes: 3 no instance is running, 4 no question waits.',
    examples: [
      ['fairlead answer', 'show the question, read the answer without echo'],
      ['pass show sudo | fairlead answer a3f2c', 'from a password manager'],
    ],
    settings: ['home'] satisfies SettingName[],
    flags: [json, own('--list', 'switch', 'Only list the waiting questions')],
    run: async (invocation) => (await import('./person/answer.ts')).answerQuestions(invocation),
  },
  {
    name: 'attach',
    takesWords: true,
    usage: '[session] [--instance name]',
    summary: 'Attach to a session. Detach with Ctrl+]; it keeps running',
    details: 'Name a session by number, id or name. The default is session 0.',
    examples: [['fairlead attach 2', 'type into session 2, beside the agent']],
    settings: ['home'] satisfies SettingName[],
    flags: [
      own('--session', 'value', 'Which session; the same as the argument', 'name'),
      own('--instance', 'value', 'Which instance; by default the active one', 'name'),
    ],
    run: async (invocation) => (await import('./person/attach.ts')).attach(invocation),
  },
  {
    name: 'audit',
    takesWords: true,
    firstWords: ['verify'],
    usage: 'verify [--json]',
    summary: 'Check the audit trail for edits',
    details: 'Exit code 1 if a record was changed, moved or removed. The trail is kept for two weeks.',
    examples: [['fairlead audit verify', 'name the file and line of every fault']],
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
    usage: 'list | show <id> | rm <id>… | recover [--force] | export <id> [--format gif|svg|txt|md] [--output file]',
    summary: 'List, show, remove, repair and export recordings',
    details:
      'Lists asciicasts and the logs of recorded sessions. Name one by its id, the beginning of its id, or the path of its file. ' +
      'What is made of a log has its secrets masked.',
    examples: [
      ['fairlead recordings list', 'newest first'],
      ['fairlead recordings export 63f6 --format gif', 'write terminal-….gif beside it'],
      ['fairlead recordings export 63f6 --format svg --theme daylight', 'animated, with text that can be selected'],
      ['fairlead recordings recover', 'close recordings that a crash left open'],
    ],
    settings: ['recordDir', 'home'] satisfies SettingName[],
    flags: [
      json,
      own('--force', 'switch', 'recover: also recordings whose writer cannot be checked from here'),
      own('--format', 'value', 'export: what to write (gif)', 'gif|svg|txt|md'),
      own('--output', 'value', 'export: file to write, - for standard output (beside the recording)', 'file'),
      own('--theme', 'value', 'gif and svg: the colours', 'standard|midnight|daylight|classic'),
      own('--speed', 'value', 'gif and svg: playback speed', 'n'),
    ],
    run: async (invocation) => (await import('./recordings/recordings.ts')).recordings(invocation),
  },
  {
    name: 'play',
    takesWords: true,
    firstWords: 'file',
    usage: '<file or id> [--from s] [--speed n] [--idle-limit s]',
    summary: 'Play a recording in this terminal',
    examples: [
      ['fairlead play 63f6 --speed 2', 'twice as fast'],
      ['fairlead play 63f6 --from 90', 'from a minute and a half on'],
    ],
    settings: ['recordDir', 'home'] satisfies SettingName[],
    flags: [
      own('--from', 'value', 'Show what comes before this second at once', 's'),
      own('--speed', 'value', 'Playback speed', 'n'),
      own('--idle-limit', 'value', 'Longest pause, in seconds', 's'),
    ],
    run: async (invocation) => (await import('./recordings/play.ts')).playRecording(invocation),
  },
];
