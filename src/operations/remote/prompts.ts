import type { Prompt } from '../prompt.ts';
import { oneLine } from './text.ts';

const required = (name: string, description: string) => ({ name, description, required: true });
const optional = (name: string, description: string) => ({ name, description, required: false });

const session = required('session_id', 'SESSION_ID of the session');
const promptPattern = required('prompt_pattern', 'A text that the prompt contains');
const files = [required('local_path', 'File on this machine'), required('remote_path', 'Where it goes on the host')];

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
    arguments: [session],
    tools: ['ssh_commands', 'session://', 'ssh_exec_output', 'ssh_disconnect'],
    text: ({ session_id }) =>
      `Look into the SSH session ${quote(session_id)}:\n\n` +
      `1. ssh_commands with session_id=${quote(session_id)}: what ran and what still runs.\n` +
      `2. Read the resource ${health(session_id)}: whether it answers.\n` +
      '3. ssh_exec_output for what failed or hangs.\n' +
      `4. When I have no more questions about it: ssh_disconnect with session_id=${quote(session_id)}.`,
  },
  {
    name: 'upload_and_verify',
    title: 'Upload a file and check it',
    description: 'Upload a file and compare the hashes of both copies.',
    arguments: [session, ...files],
    tools: ['ssh_upload', 'ssh_transfer_progress', 'ssh_exec', 'ssh_exec_output'],
    text: ({ session_id, local_path, remote_path }) =>
      `Upload a file in the SSH session ${quote(session_id)} and check it:\n\n` +
      `1. ssh_upload with session_id=${quote(session_id)}, local_path=${quote(local_path)}, remote_path=${quote(remote_path)}.\n` +
      '2. ssh_transfer_progress with wait=true until it is COMPLETED.\n' +
      '3. ssh_exec: sha256sum of the remote file, its name quoted for the shell; ssh_exec_output with wait=true gives it.\n' +
      '4. Hash the local file, compare, and tell me whether they are equal.',
  },
  {
    name: 'interactive_shell_drive',
    title: 'Work in a remote shell',
    description: 'Open a shell in a session and work in it prompt by prompt.',
    arguments: [session, promptPattern],
    tools: [
      'ssh_shell_open',
      'shell://',
      'ssh_shell_wait_for',
      'ssh_shell_write',
      'ssh_shell_press',
      'ssh_shell_close',
    ],
    text: ({ session_id, prompt_pattern }) =>
      `Work in a shell of the SSH session ${quote(session_id)}:\n\n` +
      `1. ssh_shell_open with session_id=${quote(session_id)}.\n` +
      '2. If your client can, subscribe to shell://<SHELL_ID>/output, and read it with ?cursor=auto when told of a change.\n' +
      `3. ssh_shell_wait_for with patterns=[${quote(prompt_pattern)}] and timeout_secs=10. Patterns are plain text, not regular expressions.\n` +
      '4. ssh_shell_write types a line (end it with a newline), ssh_shell_press presses keys such as ctrl_c; then wait for the prompt as in step 3.\n' +
      '5. ssh_shell_close when the work is done. Type no passwords: tell me when one is asked for.',
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
  {
    name: 'push_first_long_command',
    title: 'Follow a long command',
    description: 'Start a command and be told of its output instead of asking for it.',
    arguments: [
      session,
      required('command', 'Command to run'),
      optional('lag_policy', 'snapshot, drop_oldest, drop_newest or block_slow'),
    ],
    tools: ['ssh_exec', 'sub_open', 'command://', 'sub_close'],
    text: ({ session_id, command, lag_policy }) =>
      `Run a command in the SSH session ${quote(session_id)} and follow it:\n\n` +
      `1. ssh_exec with session_id=${quote(session_id)}, command=${quote(command)}.\n` +
      `2. sub_open with uri=command://<COMMAND_ID>/output, lifetime=auto_close, grace_ms=60000${lag_policy ? `, lag_policy=${quote(lag_policy)}` : ''}.\n` +
      '3. At each notification read command://<COMMAND_ID>/output?sub=<SUB_ID>, until its _meta says eof.\n' +
      '4. sub_close with that SUB_ID. Tell me the exit code and the lines that matter.',
  },
  {
    name: 'push_first_interactive_shell',
    title: 'Follow a remote shell',
    description: 'Work in a shell that tells what it prints, and that ends with its follower.',
    arguments: [session, promptPattern],
    tools: [
      'ssh_shell_open',
      'sub_open',
      'shell://',
      'ssh_shell_write',
      'ssh_shell_press',
      'sub_close',
      'ssh_shell_close',
    ],
    text: ({ session_id, prompt_pattern }) =>
      `Work in a shell of the SSH session ${quote(session_id)} and follow it:\n\n` +
      `1. ssh_shell_open with session_id=${quote(session_id)}, release_when_no_subs=true, grace_ms=60000.\n` +
      '2. sub_open with uri=shell://<SHELL_ID>/output.\n' +
      `3. ssh_shell_write types a line, ssh_shell_press presses keys; at each notification read shell://<SHELL_ID>/output?sub=<SUB_ID>. The prompt is back when the text ends with ${quote(prompt_pattern)}.\n` +
      '4. When the work is done: sub_close, then ssh_shell_close. Type no passwords: tell me when one is asked for.',
  },
  {
    name: 'push_first_file_transfer',
    title: 'Follow an upload',
    description: 'Upload a file and be told of its progress.',
    arguments: [session, ...files],
    tools: ['ssh_upload', 'sub_open', 'transfer://', 'sub_close'],
    text: ({ session_id, local_path, remote_path }) =>
      `Upload a file in the SSH session ${quote(session_id)} and follow it:\n\n` +
      `1. ssh_upload with session_id=${quote(session_id)}, local_path=${quote(local_path)}, remote_path=${quote(remote_path)}, release_when_no_subs=true, grace_ms=60000.\n` +
      '2. sub_open with uri=transfer://<TRANSFER_ID>/progress.\n' +
      '3. At each notification read transfer://<TRANSFER_ID>/progress?sub=<SUB_ID>, until it is completed.\n' +
      '4. If I asked for it, compare the hashes of both files. Then sub_close.',
  },
  {
    name: 'subscription_hygiene_audit',
    title: 'Tidy up lanes',
    description: 'Find lanes that are no longer needed and close them.',
    arguments: [optional('uri_prefix', 'Only lanes whose URI begins like this')],
    tools: ['sub_list', 'sub_close', 'sub_stats_all'],
    text: ({ uri_prefix }) =>
      'Tidy up the lanes:\n\n' +
      `1. sub_list${uri_prefix ? ` with uri_prefix=${quote(uri_prefix)}` : ''}.\n` +
      '2. sub_close each lane that is stale: paused and forgotten, on something that has ended, or named in a WARN line.\n' +
      '3. sub_stats_all: tell me what is left, and how much was dropped.',
  },
  {
    name: 'chaos_resume_after_disconnect',
    title: 'Go on after a lost connection',
    description: 'Let a lane deliver again what may have been missed.',
    arguments: [required('sub_id', 'SUB_ID of the lane'), optional('from_cursor', 'Cursor of the last read (0)')],
    tools: ['sub_replay', 'sub_resume', 'sub_filter', 'sub_stats', 'sub_open'],
    text: ({ sub_id, from_cursor }) =>
      `Go on with the lane ${quote(sub_id)} after a lost connection:\n\n` +
      `1. sub_replay with sub_id=${quote(sub_id)}, from_cursor=${decimal(from_cursor)}.\n` +
      `2. sub_resume with sub_id=${quote(sub_id)}.\n` +
      '3. sub_filter with the filter it had, if it had one.\n' +
      '4. sub_stats: check lag_drops, then read what it holds.\n' +
      '5. If the lane is gone (SUB_NOT_FOUND): sub_open on the same URI, then sub_replay as in step 1.',
  },
];

/** A number as an argument gives it; anything else is 0. */
const decimal = (value: string | undefined): string => (/^\d{1,16}$/.test(value ?? '') ? (value as string) : '0');

/** An id that could not be one is quoted, so that it is not taken for part of the sentence. */
const health = (id = ''): string =>
  /^[\w-]+$/.test(id) ? `session://${id}/health` : `session://<id>/health of ${quote(id)}`;
