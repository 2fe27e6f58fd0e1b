// A picture with at most 256 colours: a third of the size, and flat pages lose nothing that an eye can see.
import { crc32, deflateSync } from 'node:zlib';
import { createCanvas, loadImage } from '@napi-rs/canvas';

const most = 256;

export async function quantise(png) {
  const image = await loadImage(png);
  const { width, height } = image;
  const context = createCanvas(width, height).getContext('2d');
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const counts = new Map();
  for (let at = 0; at < data.length; at += 4) {
    const color = (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
    counts.set(color, (counts.get(color) ?? 0) + 1);
  }
  const palette = choose(counts);
  const index = new Map([...counts.keys()].map((color) => [color, nearest(palette, color)]));
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 4;
      rows[y * (width + 1) + x + 1] = index.get((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const colors = Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const body = [chunk('IHDR', header), chunk('PLTE', colors), chunk('IDAT', deflateSync(rows, { level: 9 }))];
  return Buffer.concat([signature, ...body, chunk('IEND', Buffer.alloc(0))]);
}

/** The frequent colours as they are, so that grounds stay exact; of the others the ones that are farthest from these. */
function choose(counts) {
  const sorted = [...counts].sort((a, b) => b[1] - a[1]).map(([color]) => color);
  if (sorted.length <= most) return sorted;
  const palette = sorted.slice(0, most / 2);
  const away = new Map(
    sorted.slice(most / 2).map((color) => [color, Math.min(...palette.map((other) => distance(color, other)))]),
  );
  while (palette.length < most) {
    let best;
    let score = 0;
    for (const [color, far] of away) {
      const value = far * Math.sqrt(counts.get(color));
      if (value > score) [best, score] = [color, value];
    }
    if (best === undefined) break;
    palette.push(best);
    away.delete(best);
    for (const [color, far] of away) away.set(color, Math.min(far, distance(color, best)));
  }
  return palette;
}

const distance = (a, b) =>
  2 * ((a >> 16) - (b >> 16)) ** 2 + 4 * (((a >> 8) & 255) - ((b >> 8) & 255)) ** 2 + 3 * ((a & 255) - (b & 255)) ** 2;

function nearest(palette, color) {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [at, other] of palette.entries()) {
    const far = distance(color, other);
    if (far < least) [best, least] = [at, far];
  }
  return best;
}

function chunk(name, bytes) {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), bytes]);
  const around = Buffer.alloc(8);
  around.writeUInt32BE(bytes.length, 0);
  around.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)]);
}
