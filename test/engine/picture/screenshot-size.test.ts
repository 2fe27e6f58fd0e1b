import { expect, test } from 'vitest';
import { Mcp } from '../../support/mcp-client.ts';

/** Width and height stand at a fixed place in a PNG. */
function sizeOf(data: string | undefined): { width: number; height: number } {
  const file = Buffer.from(data ?? '', 'base64');
  return { width: file.readUInt32BE(16), height: file.readUInt32BE(20) };
}

test('terminal_screenshot stays within 1,300 pixels by default; takeScreenshot keeps scale 2 (R-TERM-063)', async () => {
  await using mcp = await Mcp.start();
  const picture = async (tool: string, input: object) => sizeOf((await mcp.call(tool, input)).content[0]?.data);
  const sizes = [];
  for (const cols of [70, 80, 150]) {
    const { terminal } = await mcp.facts<{ terminal: string }>('terminal_open', { cols, rows: 10 });
    sizes.push({
      cols,
      usual: await picture('terminal_screenshot', { terminal }),
      asked: await picture('terminal_screenshot', { terminal, scale: 2 }),
      documented: await picture('takeScreenshot', { sessionId: terminal, format: 'png' }),
    });
  }
  const twice = (width: number) => ({ asked: { width, height: 404 }, documented: { width, height: 404 } });
  expect(sizes).toEqual([
    { cols: 70, usual: { width: 1240, height: 404 }, ...twice(1240) },
    { cols: 80, usual: { width: 704, height: 202 }, ...twice(1408) },
    { cols: 150, usual: { width: 1292, height: 202 }, ...twice(2584) },
  ]);
}, 60_000);
