import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';
import { programsOnPath } from '../../engine/instances/programs-on-path.ts';
import { runningInstance } from '../../engine/instances/running.ts';
import { packageRoot } from '../../system/package-root.ts';

const Client = z.object({
  client: z.string(),
  name: z.string(),
  program: z.string().optional().describe('What it is started with'),
  found: z.boolean().optional().describe('Whether this machine has that program'),
  how: z.enum(['command', 'file']).describe('A line for a shell, or text for the configuration of the client'),
  text: z.string(),
  needsToken: z.boolean().describe('The shell or client needs FAIRLEAD_TOKEN'),
});

export const list = operation({
  title: 'How to connect clients',
  summary: 'The line that connects each MCP client to this instance, without its token.',
  access: 'observe',
  cliDefault: true,
  input: z.strictObject({}),
  output: z.object({
    address: z.string(),
    token: z.string().describe('A line that sets FAIRLEAD_TOKEN in a shell and prints nothing'),
    clients: z.array(Client),
  }),
  async run({ engine }) {
    const { own, peers } = engine.service(runningInstance);
    const { id, http_port } = own.record;
    const address = `http://127.0.0.1:${http_port}/mcp`;
    const programs = engine.service(programsOnPath);
    const record = join(peers.root, 'instances', `${id}.json`);
    return {
      address,
      token: `export FAIRLEAD_TOKEN="$(node -p 'JSON.parse(fs.readFileSync(process.argv[1])).auth_token' ${quoted(record)})"`,
      clients: clientsFor(address).map((one) =>
        one.program === undefined ? one : { ...one, found: programs.has(one.program) },
      ),
    };
  },
  render: ({ address, token, clients }) =>
    [
      `Address: ${address}`,
      `Token, for lines that need it: ${token}`,
      ...clients.map(
        ({ name, found, needsToken, text }) =>
          `${name}${found === true ? ' (found here)' : ''}${needsToken ? '' : ' (without a token)'}: ${text}`,
      ),
    ].join('\n'),
});

const quoted = (path: string): string => `'${path.replaceAll("'", String.raw`'\''`)}'`;

/** The clients of docs/guide/first-steps.md. The token goes in by a variable, so that it stays out of histories and of this answer. */
function clientsFor(url: string): z.output<typeof Client>[] {
  const bin = fileURLToPath(new URL('bin/fairlead.js', packageRoot));
  const servers = (server: object): string => JSON.stringify({ mcpServers: { fairlead: server } });
  return [
    {
      client: 'claude',
      name: 'Claude Code',
      program: 'claude',
      how: 'command',
      text: `claude mcp add --transport http fairlead ${url} --header "Authorization: Bearer $FAIRLEAD_TOKEN"`,
      needsToken: true,
    },
    {
      client: 'codex',
      name: 'Codex',
      program: 'codex',
      how: 'command',
      text: `codex mcp add fairlead --url ${url} --bearer-token-env-var FAIRLEAD_TOKEN`,
      needsToken: true,
    },
    {
      client: 'other',
      name: 'Other clients',
      how: 'file',
      text: servers({ url, headers: { Authorization: 'Bearer <token>' } }),
      needsToken: true,
    },
    {
      client: 'stdio',
      name: 'Without HTTP',
      how: 'file',
      text: servers({ command: 'node', args: [bin, 'mcp'] }),
      needsToken: false,
    },
  ];
}
