import { expect, test } from 'vitest';
import { encode, makeScreen } from '../../../../test/support/screen.ts';
import type { Grid } from '../../screen/grid.ts';
import { themeNamed } from '../themes.ts';
import { encodeSvg } from './svg.ts';

const grid = (text: string): Grid => {
  const { screen } = makeScreen({ cols: 20, rows: 3 });
  screen.feed(encode(text));
  return screen.grid();
};

async function svgOf(texts: readonly string[], theme?: string): Promise<string> {
  async function* frames() {
    for (const text of texts) yield { picture: grid(text), durationMs: 1_000 };
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of encodeSvg(frames(), { theme, title: 'a <b> & "c"' })) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

test('R-TERM-082 an animated SVG: text as text, the theme’s colours, no script and nothing from elsewhere', async () => {
  const svg = await svgOf(['hello', '\x1b[31mred\x1b[0m & <i>'], 'daylight');
  const theme = themeNamed('daylight');
  expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /);
  expect(svg).toContain('>hello</text>');
  expect(svg).toContain('&amp; &lt;i&gt;</text>');
  expect(svg).toContain('<title>a &lt;b&gt; &amp; &quot;c&quot;</title>');
  expect(svg).toContain(`fill="${theme.background}"`);
  expect(svg).toContain(`style="fill:${theme.colors[1]}"`);
  expect(svg).toMatch(/font-family="[^"]*monospace"/);
  expect(svg).not.toMatch(/<script|<foreignObject|<image|\son\w+=|javascript:|@import|url\(/i);
  // Only references within the file.
  expect([...svg.matchAll(/href="([^"]*)"/g)].every(([, to]) => to?.startsWith('#'))).toBe(true);
});

test('R-TERM-082 every picture has its share of the time, and equal ones are one; without motion the last one stays', async () => {
  const svg = await svgOf(['one', 'one', 'two', 'three']);
  expect(svg).toContain('@keyframes f{0%{transform:translateX(0px)}50%{transform:translateX(-168px)}75%{');
  expect(svg).toContain('animation:f 4s steps(1,end) infinite');
  expect(svg).toContain('prefers-reduced-motion:reduce){.f{animation:none;transform:translateX(-336px)}');
  expect(svg.match(/<g transform="translate\(/g)).toHaveLength(3);
  expect(await svgOf(['still'])).not.toContain('animation');
});

test('R-TERM-082 a row that comes again is drawn once; columns hold in every font', async () => {
  const svg = await svgOf(['same\r\nx', 'same\r\ny', '漢字ab']);
  expect(svg.match(/>same</g)).toHaveLength(1);
  expect(svg).toContain('textLength="33.6"');
  // Wide characters stand alone, and what follows them in its own column.
  expect(svg).toContain(
    '<text x="0" y="13">漢</text><text x="16.8" y="13">字</text><text x="33.6" y="13" textLength="16.8">ab</text>',
  );
});

test('R-TERM-082 what XML has no place for is replaced', async () => {
  const svg = await svgOf(['a\ufffeb']);
  expect(svg).not.toContain('\ufffe');
  expect(svg).toContain('\ufffd');
});
