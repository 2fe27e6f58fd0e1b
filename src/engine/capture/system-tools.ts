import { runProgram } from '../../system/run-program.ts';

/** The programs of this machine that a capture may use. */
export interface SystemTools {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** What it printed; undefined when there is no such program, it failed, or the time is up. Never rejects. */
  readonly run: (program: string, args: readonly string[], signal: AbortSignal) => Promise<Buffer | undefined>;
}

const mostBytes = 64 << 20;
/** Callers give less. */
const limitMs = 60_000;

export const systemTools = (env: SystemTools['env']): SystemTools => ({
  env,
  platform: process.platform,
  run: async (program, args, signal) => {
    try {
      const { ok, stdout } = await runProgram(program, args, { env, signal, limitMs, mostBytes });
      return ok ? stdout : undefined;
    } catch {
      return undefined;
    }
  },
});

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

export interface PngFacts {
  readonly width: number;
  readonly height: number;
  readonly bitDepth: number;
}

/** What the header of a PNG file says; undefined if the bytes are none. */
export function pngFacts(bytes: Uint8Array): PngFacts | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const isPng = file.length > 33 && file.subarray(0, 8).equals(signature) && file.toString('latin1', 12, 16) === 'IHDR';
  return isPng ? { width: file.readUInt32BE(16), height: file.readUInt32BE(20), bitDepth: file[24] ?? 8 } : undefined;
}
