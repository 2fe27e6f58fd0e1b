import { homedir } from 'node:os';
import { join } from 'node:path';
import { InstanceClipboard, instanceClipboard } from '../../engine/capture/clipboard.ts';
import { systemTools } from '../../engine/capture/system-tools.ts';
import { call } from '../../engine/call/call.ts';
import { AuditTrail, auditTrail } from '../../engine/call/audit/trail.ts';
import { Engine, type EngineOptions } from '../../engine/engine.ts';
import { openGate } from '../../engine/call/gate.ts';
import type { Log } from '../../system/incident.ts';
import { installationKey } from '../../system/installation-key.ts';
import { Policies, policies } from '../../policy/policies.ts';
import { systemSurroundings } from '../../engine/proxy/detect.ts';
import { Proxies, proxies } from '../../engine/proxy/proxies.ts';
import { bothSpellings } from '../../engine/proxy/settings.ts';
import { abortable } from '../../system/abortable.ts';
import { CurrentRedactor } from '../../engine/redaction/current-redactor.ts';
import { secretValues } from '../../engine/redaction/secret-values.ts';
import { RecordingSettings } from '../../engine/recording/log/settings.ts';
import { PersonSettings, personSettings } from '../../engine/settings/settings.ts';
import { systemClock } from '../../system/clock.ts';
import { mcpSurface } from '../../faces/mcp/catalogue.ts';
import type { McpSurface } from '../../faces/mcp/surface.ts';
import { chooseToolsets, offeredNames } from '../../faces/mcp/tools.ts';
import { allBooks, usualBooks } from '../../operations/index.ts';
import { instructionsFor } from '../../operations/instructions.ts';
import { promptsFor } from '../../operations/prompts.ts';
import { resourceOperations } from '../../operations/streams/index.ts';
import type { KeeperClient } from '../../transports/local/keeper/client/keeper-client.ts';
import { streams } from '../../streams/streams.ts';
import { keeperTransport } from '../../transports/local/keeper/client/keeper-transport.ts';
import { type LocalOptions, localTransport } from '../../transports/local/transport.ts';
import { sshTransport } from '../../transports/ssh/open/transport.ts';
import { places } from '../../config.ts';
import { answerLine } from './answer-line.ts';
import { askPages } from './ask-pages.ts';
import type { Invocation } from '../command.ts';
import { sshPart } from './ssh-service.ts';

/** Rows that an emulator keeps by default: 2.7 MB. Older ones are rendered from the output log when a reader asks. */
const liveRows = 1000;

/** What `serve` adds to an instance. */
export interface InstanceExtras {
  readonly parts?: NonNullable<EngineOptions['parts']>;
  readonly keeper?: KeeperClient | undefined;
  /** Its name, if its terminals outlive it. */
  readonly instance?: string | undefined;
  /** Environment variables for every terminal of this machine. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Every MCP call waits for this. Never rejects. */
  readonly ready?: () => Promise<unknown>;
  /** Where the next server finds which agents a person paused. */
  readonly pauseFile?: string;
}

/** An engine with the transports of this machine and its MCP surface: shared by `mcp` and `serve`. */
export async function createInstance(
  invocation: Invocation,
  writeLog: Log,
  { parts = [], keeper, instance, variables = {}, pauseFile, ready = () => Promise.resolve() }: InstanceExtras = {},
): Promise<{ readonly engine: Engine; readonly surface: McpSurface }> {
  const { settings, env } = invocation;
  const { home, recordings, screenshots } = places(settings, env);
  const recording = new RecordingSettings({ root: home, clock: systemClock, warn: writeLog });
  const extraEnv: Record<string, string> = Object.fromEntries(settings.env.map((pair) => splitOnce(pair, '=')));
  const redactor = new CurrentRedactor({
    key: () => installationKey(join(home, 'redaction.key')),
    patterns: () => recording.get().redaction.custom_patterns,
    known: () => secretValues({ ...env, ...extraEnv }),
  });
  const log: Log = (line) => writeLog(redactor.get().redactText(line).text);
  const ssh = sshPart(invocation, log);
  const policy = new Policies({ root: home, clock: systemClock, warn: log });
  const userHome = env['HOME'] ?? homedir();
  const around = systemSurroundings(env, userHome);
  const proxy = new Proxies({ root: home, clock: systemClock, warn: log, around });
  const clipboard = new InstanceClipboard(join(home, 'clipboard'), systemTools(env));
  const trail = new AuditTrail(home, log);
  const chosen = new PersonSettings({ root: home, clock: systemClock, warn: log });
  const local: LocalOptions = {
    root: home,
    shell: settings.shell,
    cwd: settings.cwd ?? invocation.cwd(),
    home: settings.cwd ?? userHome,
    env,
    extraEnv,
    integration: settings.shellIntegration,
    variables: async (signal) => ({
      ...(extraEnv['TERM_PROGRAM'] === undefined && { TERM_PROGRAM: chosen.termProgram }),
      ...bothSpellings(await proxy.variables(signal)),
      ...variables,
    }),
  };
  const engine: Engine = new Engine({
    transports: [
      keeper ? keeperTransport(local, keeper) : localTransport(local),
      sshTransport({ engine: () => engine, integration: settings.shellIntegration, env }),
    ],
    size: { cols: settings.cols, rows: settings.rows },
    scrollback: settings.scrollback,
    // Another number than the default wins over the file.
    readableRows: () => (settings.scrollback === liveRows ? chosen.scrollback : settings.scrollback),
    theme: () => chosen.theme,
    sessions: { maxSessions: settings.maxSessions, idleTimeout: settings.sessionIdleTimeout },
    recordings: {
      dir: recordings,
      idleTimeLimit: settings.idleTimeLimit,
      maxDuration: settings.maxDuration,
      inactivityTimeout: settings.inactivityTimeout,
      auto: settings.record,
      instance,
    },
    logs: {
      root: home,
      home: userHome,
      version: invocation.version,
      settings: recording,
      redactor: () => redactor.get(),
    },
    picturesDir: screenshots,
    parts: [
      ...ssh.parts,
      [policies, () => policy],
      [auditTrail, () => trail],
      [proxies, () => proxy],
      [instanceClipboard, () => clipboard],
      [personSettings, () => chosen],
      ...parts,
    ],
    gate: { ...openGate, ...policy.gate },
    redactor: () => redactor.get(),
    idempotency: ssh.idempotency,
    answerCommand: answerLine({ env, home }),
    endAll: !settings.keepTerminals,
    log,
  });
  clipboard.listen(engine);
  chosen.themeChanged.on((theme) => engine.events.emit({ kind: 'theme', theme }));
  chosen.scrollbackChanged.on(() => engine.widenLogs());
  engine.audit.added.on((entry) => trail.add(entry));
  if (pauseFile !== undefined) engine.agents.keepIn(pauseFile);
  // It watches sessions and leaks from the start, not from the first client that asks.
  engine.service(streams);
  const books = settings.toolsets === undefined ? usualBooks : await allBooks();
  const { readOnly, toolsets = books.map(({ name }) => name) } = settings;
  const offered = chooseToolsets(books, toolsets);
  const schemes = offered.flatMap((book) => book.schemes ?? []);
  const offer = { tools: new Set([...offeredNames(offered, readOnly), ...schemes]), readOnly };
  const surface = mcpSurface({
    name: 'fairlead',
    version: invocation.version,
    title: 'Fairlead',
    description: 'Real terminals for agents, on this machine and over SSH, and a person who can look in and answer.',
    instructions: instructionsFor(offer),
    books,
    toolsets,
    prompts: promptsFor(offer),
    readOnly,
    log,
    call: async (op, raw, context) => {
      await abortable(ready(), context.signal).catch(() => {});
      return await call(op, raw, { ...context, engine });
    },
    resources: {
      operations: resourceOperations,
      connect: (kind, principal) => engine.service(streams).connect(kind, principal),
    },
    pages: askPages(engine),
    clientGone: (key) => {
      engine.sessions.clientGone(key);
      engine.agents.clientGone(key);
    },
  });
  return { engine, surface };
}

function splitOnce(text: string, at: string): [string, string] {
  const place = text.indexOf(at);
  return [text.slice(0, place), text.slice(place + at.length)];
}
