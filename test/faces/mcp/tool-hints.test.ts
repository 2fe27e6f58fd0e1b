import { describe, expect, test } from 'vitest';
import { foldBooks } from '../../../src/faces/mcp/tools.ts';
import { allBooks } from '../../../src/operations/index.ts';

/**
 * Clients decide by these hints whether to ask the person first, so the table is literal. Each row: read-only, destructive,
 * idempotent, open world. A tool that can make a program run is destructive and open world, whatever it usually does.
 */
const hints: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  core: {
    terminal_run: 'n/y/n/y',
    terminal_open: 'n/y/n/y',
    terminal_list: 'y/n/y/n',
    terminal_close: 'n/y/n/y',
    terminal_send: 'n/y/n/y',
    terminal_read: 'y/n/y/n',
    terminal_wait: 'y/n/y/n',
    terminal_find: 'y/n/y/n',
    terminal_screenshot: 'y/n/y/n',
    terminal_record: 'n/n/n/n',
    targets: 'y/n/y/n',
  },
  terminal: {
    type: 'n/y/n/y',
    sendKey: 'n/y/n/y',
    getContent: 'y/n/y/n',
    takeScreenshot: 'y/n/y/n',
    clear: 'n/y/y/n',
    startRecording: 'n/n/n/n',
    stopRecording: 'n/n/n/n',
    createSession: 'n/y/n/y',
    listSessions: 'y/n/y/n',
    destroySession: 'n/y/n/y',
  },
  ssh: {
    ssh_connect: 'n/n/y/y',
    ssh_disconnect: 'n/y/y/y',
    ssh_sessions: 'y/n/y/y',
    ssh_disconnect_agent: 'n/y/y/y',
    ssh_disconnect_many: 'n/y/y/y',
    ssh_exec: 'n/y/n/y',
    ssh_exec_output: 'y/n/y/y',
    ssh_commands: 'y/n/y/y',
    ssh_exec_cancel: 'n/y/y/y',
    ssh_run: 'n/y/n/y',
    ssh_exec_batch: 'n/y/n/y',
    ssh_shell_open: 'n/n/n/y',
    ssh_shell_write: 'n/y/n/y',
    ssh_shell_press: 'n/y/n/y',
    ssh_shell_read: 'n/n/y/y',
    ssh_shell_wait_for: 'n/n/n/y',
    ssh_shell_close: 'n/y/y/y',
  },
  // They change only what their caller sees, and say so.
  sub: {
    sub_open: 'n/n/n/n',
    sub_close: 'n/y/y/n',
    sub_pause: 'n/n/y/n',
    sub_resume: 'n/n/y/n',
    sub_filter: 'n/n/y/n',
    sub_replay: 'n/n/y/n',
    sub_list: 'y/n/y/n',
    sub_stats: 'y/n/y/n',
    sub_stats_all: 'y/n/y/n',
  },
  session: {
    session_list: 'y/n/y/n',
    session_get: 'y/n/y/n',
    session_status: 'y/n/y/n',
    session_create: 'n/y/n/y',
    session_input: 'n/y/n/y',
    session_resize: 'n/n/y/n',
    session_destroy: 'n/y/n/y',
    session_idle: 'y/n/y/n',
    session_cwd: 'y/n/y/n',
    session_env: 'y/n/y/n',
    // PROMPT_COMMAND and the like are run by the shell.
    session_set_env: 'n/y/y/y',
    session_history: 'y/n/y/n',
    session_audit_log: 'y/n/y/n',
    session_recording_start: 'n/n/n/n',
    session_recording_stop: 'n/n/n/n',
    session_recording_status: 'y/n/y/n',
    session_recording_list: 'y/n/y/n',
    session_recording_read: 'y/n/y/n',
    session_recording_attach_trace: 'n/n/y/n',
    session_export_markdown: 'n/y/n/n',
    exec_run: 'n/y/n/y',
    exec_run_wait: 'n/y/n/y',
    exec_send: 'n/y/n/y',
    exec_status: 'y/n/y/n',
    exec_cancel: 'n/y/n/y',
    signal_send: 'n/y/n/y',
    screen_read: 'y/n/y/n',
    screen_text: 'y/n/y/n',
    screen_cursor: 'y/n/y/n',
    screen_scroll: 'y/n/y/n',
    screen_search: 'y/n/y/n',
    screen_detect_errors: 'y/n/y/n',
    // With os they start a program of the desktop.
    capture_screen: 'y/n/y/y',
    capture_window: 'y/n/y/y',
    capture_select: 'y/n/y/y',
    // Reads the clipboard of the desktop, and can replace what was copied in a session.
    capture_clipboard: 'n/y/n/y',
    // Replaces the workspace of the same name.
    workspace_save: 'n/y/y/n',
    workspace_restore: 'n/y/n/y',
    workspace_list: 'y/n/y/n',
    workspace_delete: 'n/y/n/n',
    instance_list: 'y/n/y/n',
    instance_info: 'n/n/n/n',
    instance_set_title: 'n/n/y/n',
    instance_focus: 'n/n/n/n',
    proxy_status: 'y/n/y/y',
    proxy_nodes: 'y/n/y/n',
    // The proxy decides where the traffic of new sessions goes.
    proxy_switch: 'n/y/y/y',
    proxy_speedtest: 'n/n/y/y',
    proxy_configure: 'n/y/y/y',
    proxy_disable: 'n/y/y/y',
    proxy_env: 'y/n/y/n',
    policy_set: 'n/y/y/n',
    policy_get: 'y/n/y/n',
    policy_check: 'y/n/y/n',
    server_info: 'y/n/y/n',
    server_health: 'y/n/y/n',
    server_capabilities: 'y/n/y/n',
    selftest_run: 'n/n/n/n',
    system_info: 'y/n/y/n',
    system_launch_admin: 'n/y/n/y',
    orchestrate_launch: 'n/y/n/y',
    orchestrate_broadcast: 'n/y/n/y',
    orchestrate_wait: 'y/n/y/n',
  },
};

const letter = (hint: boolean | undefined): string => (hint === undefined ? '?' : hint ? 'y' : 'n');

describe('what each tool says it can do to the world (R-TERM-003)', async () => {
  const books = await allBooks();
  test.each(books.map((book) => [book.name, book] as const))('%s', (name, book) => {
    const { tools } = foldBooks([book], () => Promise.reject(new Error('not called')), { readOnly: false }).list();
    const told = tools.map((tool) => {
      const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = tool.annotations ?? {};
      return [tool.name, [readOnlyHint, destructiveHint, idempotentHint, openWorldHint].map(letter).join('/')];
    });
    expect(Object.fromEntries(told)).toEqual(hints[name]);
  });

  test('a tool that hands a command line to a shell is never told as harmless', () => {
    const runs = books.flatMap(({ nouns }) =>
      Object.values(nouns).flatMap((verbs) => Object.values(verbs).filter(({ commands }) => commands !== undefined)),
    );
    expect(runs.length).toBeGreaterThan(8);
    for (const op of runs.filter(({ access }) => access !== 'observe')) {
      expect([op.destructive, op.openWorld], op.title).not.toContain(false);
    }
  });
});
