import type { Prompt } from '../prompt.ts';
import { oneLine } from './text.ts';

const required = (name: string, description: string) => ({ name, description, required: true });

/** Quoted and in one line, so that an argument cannot add steps of its own. */
const quote = (value: string | undefined): string => JSON.stringify(oneLine(value ?? ''));

interface Recipe extends Prompt {
  /** Offered only where all of these are. */
  readonly tools: readonly string[];
}

/** Recipes of the remote reference, in its order (docs/requirements/remote.md section 5). */
export const sshPrompts: readonly Recipe[] = [
  {
    name: 'run_one_shot_command',
    title: 'Run one command on a host',
    description: 'Connect, run one command, disconnect.',
    arguments: [
      required('address', 'host or host:port'),
      required('username', 'SSH user'),
      required('command', 'Command to run'),
    ],
    tools: ['ssh_run'],
    text: ({ address, username, command }) =>
      `Call ssh_run once: address=${quote(address)}, username=${quote(username)}, command=${quote(command)}, disconnect_after=true.\n\n` +
      'Read EXIT: 0 means that it worked. Otherwise read the stderr block before you try anything else. Give no password: I am asked for it when the host wants one. Tell me the exit code and the lines that matter.',
  },
  {
    name: 'investigate_session',
    title: 'Look into an SSH session',
    description: 'What runs in a session, and whether it still answers.',
    arguments: [required('session_id', 'SESSION_ID of the session')],
    tools: ['ssh_commands', 'ssh_sessions', 'ssh_exec_output', 'ssh_disconnect'],
    text: ({ session_id }) =>
      `Look into the SSH session ${quote(session_id)}:\n\n` +
      `1. ssh_commands with session_id=${quote(session_id)}: what ran and what still runs.\n` +
      '2. ssh_sessions: whether it is healthy.\n' +
      '3. ssh_exec_output for what failed or hangs.\n' +
      `4. When I have no more questions about it: ssh_disconnect with session_id=${quote(session_id)}.`,
  },
  {
    name: 'interactive_shell_drive',
    title: 'Work in a remote shell',
    description: 'Open a shell in a session and work in it prompt by prompt.',
    arguments: [
      required('session_id', 'SESSION_ID of the session'),
      required('prompt_pattern', 'A text that the prompt contains'),
    ],
    tools: ['ssh_shell_open', 'ssh_shell_wait_for', 'ssh_shell_write', 'ssh_shell_press', 'ssh_shell_close'],
    text: ({ session_id, prompt_pattern }) =>
      `Work in a shell of the SSH session ${quote(session_id)}:\n\n` +
      `1. ssh_shell_open with session_id=${quote(session_id)}.\n` +
      `2. ssh_shell_wait_for with patterns=[${quote(prompt_pattern)}] and timeout_secs=10. Patterns are plain text, not regular expressions.\n` +
      '3. ssh_shell_write types a line (end it with a newline), ssh_shell_press presses keys such as ctrl_c; then wait for the prompt as in step 2.\n' +
      '4. ssh_shell_close when the work is done. Type no passwords: tell me when one is asked for.',
  },
  {
    name: 'cleanup_agent',
    title: 'End all sessions of an agent',
    description: 'Disconnect every SSH session of an agent_id.',
    arguments: [required('agent_id', 'AGENT_ID given to ssh_connect')],
    tools: ['ssh_disconnect_agent'],
    text: ({ agent_id }) =>
      `Call ssh_disconnect_agent once with agent_id=${quote(agent_id)}, and tell me how many sessions and commands it ended.`,
  },
];
