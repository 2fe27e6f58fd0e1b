import { type Book, defineBook } from '../../engine/call/operation.ts';
import { renderSessionError } from './errors.ts';
import { capabilitiesOf } from './capabilities.ts';
import { clipboard } from './capture/clipboard.ts';
import { screen as captureScreen } from './capture/screen.ts';
import { select } from './capture/select.ts';
import { window } from './capture/window.ts';
import * as environment from './environment.ts';
import * as exec from './exec.ts';
import * as instance from './instance.ts';
import * as audit from './audit.ts';
import * as policy from './policy.ts';
import * as orchestrate from './orchestrate.ts';
import * as proxy from './proxy.ts';
import * as recording from './recording.ts';
import * as screen from './screen.ts';
import { selftest } from './selftest.ts';
import * as server from './server.ts';
import * as sessions from './sessions.ts';
import * as workspace from './workspace.ts';

const capabilities = capabilitiesOf(() => methodNames());

const nouns: Book['nouns'] = {
  session: {
    list: sessions.list,
    get: sessions.get,
    status: sessions.status,
    create: sessions.create,
    input: sessions.input,
    resize: sessions.resize,
    destroy: sessions.destroy,
    idle: sessions.idle,
    cwd: sessions.cwd,
    env: environment.env,
    set_env: environment.set_env,
    history: sessions.history,
    audit_log: audit.audit_log,
    recording_start: recording.recording_start,
    recording_stop: recording.recording_stop,
    recording_status: recording.recording_status,
    recording_list: recording.recording_list,
    recording_read: recording.recording_read,
    recording_attach_trace: recording.recording_attach_trace,
    export_markdown: recording.export_markdown,
  },
  exec: {
    run: exec.run,
    run_wait: exec.run_wait,
    send: exec.send,
    status: exec.status,
    cancel: exec.cancel,
  },
  signal: { send: exec.signalSend },
  screen: {
    read: screen.read,
    text: screen.text,
    cursor: screen.cursor,
    scroll: screen.scroll,
    search: screen.search,
    detect_errors: screen.detect_errors,
  },
  capture: { screen: captureScreen, window, select, clipboard },
  workspace: { save: workspace.save, restore: workspace.restore, list: workspace.list, delete: workspace.remove },
  instance: {
    list: instance.list,
    info: instance.info,
    set_title: instance.set_title,
    focus: instance.focus,
  },
  proxy: {
    status: proxy.status,
    nodes: proxy.nodes,
    switch: proxy.switch,
    speedtest: proxy.speedtest,
    configure: proxy.configure,
    disable: proxy.disable,
    env: proxy.env,
  },
  policy: { set: policy.set, get: policy.get, check: policy.check },
  server: { info: server.info, health: server.health, capabilities },
  selftest: { run: selftest(() => capabilities) },
  system: { info: server.system, launch_admin: server.launch_admin },
  orchestrate: { launch: orchestrate.launch, broadcast: orchestrate.broadcast, wait: orchestrate.wait },
};

const methodNames = (): string[] =>
  Object.entries(nouns).flatMap(([noun, verbs]) => Object.keys(verbs).map((verb) => `${noun}.${verb}`));

export const sessionBook = defineBook({
  name: 'session',
  summary: 'The session RPC: sessions by number, commands, screens, several at once.',
  schemes: ['terminal://'],
  nouns,
  unknownHint: 'server.capabilities lists the methods.',
  renderError: renderSessionError,
});
