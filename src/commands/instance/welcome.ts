import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { InstanceRecord } from '../../engine/instances/record.ts';
import { packageRoot } from '../../system/package-root.ts';
import { styleFor } from '../../faces/cli/style.ts';
import type { HttpServer } from '../../faces/http/server.ts';
import type { Invocation } from '../command.ts';

interface WelcomeFacts {
  readonly server: HttpServer;
  readonly own: InstanceRecord;
  /** State root. */
  readonly root: string;
  /** Terminals outlive the server. */
  readonly keeps: boolean;
  /** A link that logs a browser in. */
  readonly link: () => string;
}

/** What a person needs once the server is up, with command lines that can be copied. */
export function welcome(invocation: Invocation, { server, own, root, keeps, link }: WelcomeFacts): void {
  const { stdout, env, version, settings } = invocation;
  const { bold, cyan, dim, green } = styleFor(stdout, env);
  const url = `${server.url}/mcp`;
  const { says, inShell, inJson, note } = tokenWords(invocation, own, root);
  const stdio = { command: process.execPath, args: [fileURLToPath(new URL('bin/fairlead.js', packageRoot)), 'mcp'] };
  stdout.write(`${green('●')} ${bold('Fairlead')} ${version} is serving MCP

  address   ${cyan(url)}
  HTTP API  ${server.url}/api
  dashboard ${settingsWords(invocation, link)}
  token     ${says}
  instance  ${own.id} ${dim(`(session RPC on 127.0.0.1:${own.mcp_port})`)}

${bold('Connect a client')}
  Claude Code   claude mcp add --transport http fairlead ${url} --header "Authorization: Bearer ${inShell}"
  Others        {"mcpServers": {"fairlead": {"url": "${url}", "headers": {"Authorization": "Bearer ${inJson}"}}}}
  Without HTTP  {"mcpServers": {"fairlead": ${JSON.stringify(stdio)}}}
${[note, elsewhere(server, settings.allowHost)].map((line) => (line === '' ? '' : `  ${dim(line)}\n`)).join('')}
Then ask your agent: ${cyan('“Use fairlead to run uname -a and tell me what it says.”')}
You yourself: ${cyan('fairlead session list')}, ${cyan('fairlead attach')}, ${cyan('fairlead --help')}
${dim(keeps ? 'Ctrl+C ends the server; its terminals keep running for the next one. fairlead serve --end ends them.' : 'Ctrl+C ends the server and its terminals.')}
`);
}

/** A link that logs in is never printed into a file or a pipe. */
const settingsWords = ({ stdout, env }: Invocation, link: () => string): string =>
  stdout.isTTY
    ? `${link()} ${styleFor(stdout, env).dim('(once, within a minute; then: fairlead dashboard)')}`
    : 'fairlead dashboard';

/** How to show the token. It is never printed into a file or a pipe. */
function tokenWords(
  { settings, stdout, env }: Invocation,
  { id, auth_token }: InstanceRecord,
  root: string,
): { readonly says: string; readonly inShell: string; readonly inJson: string; readonly note: string } {
  const { dim } = styleFor(stdout, env);
  const anew = dim('(new at each start; set FAIRLEAD_TOKEN to keep one)');
  if (settings.token !== undefined) {
    return {
      says: dim('the one in FAIRLEAD_TOKEN'),
      inShell: '$FAIRLEAD_TOKEN',
      // Only a shell expands variables.
      inJson: '<token>',
      note: 'The first line is for a shell where FAIRLEAD_TOKEN is set. Write its value in the place of <token>.',
    };
  }
  if (stdout.isTTY) return { says: `${auth_token} ${anew}`, inShell: auth_token, inJson: auth_token, note: '' };
  return {
    says: `auth_token in ${join(root, 'instances', `${id}.json`)} ${anew}`,
    inShell: '<token>',
    inJson: '<token>',
    note: 'Write the token in the place of <token>.',
  };
}

/** How other machines connect to a server that listens on all addresses. */
function elsewhere({ isEverywhere, port }: HttpServer, allowed: readonly string[]): string {
  if (!isEverywhere) return '';
  if (allowed.length > 0)
    return `From other machines: ${allowed.map((name) => `http://${name}:${port}/mcp`).join(', ')}`;
  return `From other machines: start with --allow-host <name of this machine>, then use http://<that name>:${port}/mcp`;
}
