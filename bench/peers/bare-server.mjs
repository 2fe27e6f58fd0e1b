// The least an MCP server on stdio can be: the SDK, one tool.
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

serveStdio(() => {
  const server = new Server({ name: 'bare', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: [{ name: 'nothing', description: 'Does nothing.', inputSchema: { type: 'object' } }],
  }));
  server.setRequestHandler('tools/call', () => ({ content: [{ type: 'text', text: 'Done.' }] }));
  return server;
});
