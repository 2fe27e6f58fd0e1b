// resvg, the way pictures of terminals are commonly made: the screen as SVG text, rendered to a PNG.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);

function load() {
  try {
    return require('@resvg/resvg-js').Resvg;
  } catch {
    return undefined;
  }
}
const Resvg = load();
export const available = Resvg !== undefined;

const font = {
  fontFiles: ['DejaVuSansMono.ttf', 'DejaVuSansMono-Bold.ttf'].map((file) =>
    fileURLToPath(new URL(`../../assets/fonts/${file}`, import.meta.url)),
  ),
  loadSystemFonts: false,
  defaultFontFamily: 'DejaVu Sans Mono',
};
const cell = { width: 8.43, height: 17 };

/** The same screen as wide as ours, as the bytes of a PNG. */
export function drawPng(grid, width) {
  const resvg = new Resvg(svgOf(grid), { font, fitTo: { mode: 'width', value: width } });
  return resvg.render().asPng();
}

function svgOf({ cols, rows, lines }) {
  const [width, height] = [cols * cell.width, rows * cell.height];
  const text = lines.map(({ cells }, row) => {
    const y = (row + 0.8) * cell.height;
    return `<text x="0" y="${y}" xml:space="preserve">${runs(cells).map(tspan).join('')}</text>`;
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="DejaVu Sans Mono" font-size="14">` +
    `<rect width="100%" height="100%" fill="#1e1e1e"/>${text.join('')}</svg>`
  );
}

/** Neighbours that look alike. */
function runs(cells) {
  const found = [];
  for (const { text, width, fg, style } of cells) {
    const last = found.at(-1);
    const shown = text === '' && width > 0 ? ' ' : text;
    if (last && last.fg === fg && last.style === style) last.text += shown;
    else found.push({ text: shown, fg, style });
  }
  return found;
}

function tspan({ text, fg, style }) {
  const color =
    fg < 0
      ? '#d4d4d4'
      : `#${(fg >= 0x1000000 ? fg & 0xffffff : fg * 0x010305).toString(16).padStart(6, '0').slice(-6)}`;
  const safe = text.replace(/[&<>]/g, (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[one]);
  return `<tspan fill="${color}"${style & 1 ? ' font-weight="bold"' : ''}>${safe}</tspan>`;
}
