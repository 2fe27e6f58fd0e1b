import { crc32, inflateSync } from 'node:zlib';
import { pngFacts } from './system-tools.ts';

/** Samples of a pixel, by colour type. */
const samples: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** What is wrong with a PNG file; undefined when every chunk is whole and there are as many pixels as it says. */
export function pngFault(bytes: Uint8Array): string | undefined {
  const facts = pngFacts(bytes);
  if (!facts) return 'it is no PNG file';
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const parts: Buffer[] = [];
  let last = '';
  for (let at = 8; at + 12 <= file.length; ) {
    const end = at + 8 + file.readUInt32BE(at);
    if (end + 4 > file.length) return 'it is cut off';
    if (crc32(file.subarray(at + 4, end)) !== file.readUInt32BE(end)) return 'a checksum is wrong';
    last = file.toString('latin1', at + 4, at + 8);
    if (last === 'IDAT') parts.push(file.subarray(at + 8, end));
    at = end + 4;
  }
  if (last !== 'IEND') return 'it is cut off';
  const row = Math.ceil((facts.width * (samples[file[25] ?? 0] ?? 0) * facts.bitDepth) / 8) + 1;
  try {
    const { length } = inflateSync(Buffer.concat(parts), { maxOutputLength: row * facts.height + 1 });
    return length === row * facts.height ? undefined : 'pixels are missing';
  } catch {
    return 'its pixels cannot be unpacked';
  }
}
