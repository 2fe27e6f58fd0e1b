import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from 'node:http';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // A test reads whatever came.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any;
}

/** One request on a connection of its own. `fetch` does not let a test choose Host. */
export async function askHttp(
  url: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<HttpAnswer> {
  const sent = httpRequest(url, { method, headers, agent: false });
  // A refused body may still be on its way when the connection is closed.
  sent.on('error', () => {});
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
