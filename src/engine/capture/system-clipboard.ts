import { timeLimit } from '../../system/time-limit.ts';
import { pngFacts, type SystemTools } from './system-tools.ts';

export type ClipboardContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly bytes: Uint8Array };

/** A way to a clipboard: images before text. Each resolves with nothing where there is none of its kind. */
interface Way {
  /** A variable that must be set for it to work. */
  readonly needs?: string;
  readonly image?: (run: Run) => Promise<Uint8Array | undefined>;
  readonly text: (run: Run) => Promise<Buffer | undefined>;
}

type Run = (program: string, ...args: string[]) => Promise<Buffer | undefined>;

const offersPng = (types: Buffer | undefined): boolean => types?.toString().split(/\s+/).includes('image/png') ?? false;

const unix: readonly Way[] = [
  {
    needs: 'WAYLAND_DISPLAY',
    image: async (run) =>
      offersPng(await run('wl-paste', '--list-types')) ? await run('wl-paste', '--type', 'image/png') : undefined,
    text: (run) => run('wl-paste', '--no-newline', '--type', 'text'),
  },
  {
    needs: 'DISPLAY',
    image: async (run) =>
      offersPng(await run('xclip', '-selection', 'clipboard', '-t', 'TARGETS', '-o'))
        ? await run('xclip', '-selection', 'clipboard', '-t', 'image/png', '-o')
        : undefined,
    text: (run) => run('xclip', '-selection', 'clipboard', '-o'),
  },
  { needs: 'DISPLAY', text: (run) => run('xsel', '--clipboard', '--output') },
];

const mac: readonly Way[] = [
  {
    // Printed as «data PNGf89504E47…».
    image: async (run) => {
      const shown = (await run('osascript', '-e', 'the clipboard as «class PNGf»'))?.toString();
      const [, hex] = /«data PNGf([0-9A-F]+)»/i.exec(shown ?? '') ?? [];
      return hex === undefined ? undefined : Buffer.from(hex, 'hex');
    },
    text: (run) => run('pbpaste'),
  },
];

const savePng =
  'Add-Type -AssemblyName System.Windows.Forms; $i = [Windows.Forms.Clipboard]::GetImage(); ' +
  'if ($i) { $m = New-Object IO.MemoryStream; $i.Save($m, [Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($m.ToArray()) }';
const utf8 = '[Console]::OutputEncoding = [Text.Encoding]::UTF8; ';
const powershell = ['powershell', '-NoProfile', '-STA', '-Command'] as const;

const windows: readonly Way[] = [
  {
    image: async (run) => {
      const base64 = (await run(...powershell, savePng))?.toString().trim();
      return base64 ? Buffer.from(base64, 'base64') : undefined;
    },
    text: (run) => run(...powershell, `${utf8}Get-Clipboard -Raw`),
  },
];

const usualLimitMs = 5000;

/** What is on the clipboard of the desktop. A text says why there is none. */
export async function systemClipboard(
  { platform, env, run }: SystemTools,
  signal: AbortSignal,
  limitMs: number = usualLimitMs,
): Promise<ClipboardContent | string> {
  const all = platform === 'darwin' ? mac : platform === 'win32' ? windows : unix;
  const ways = all.filter(({ needs }) => needs === undefined || env[needs]);
  if (ways.length === 0) return 'there is no desktop here (neither WAYLAND_DISPLAY nor DISPLAY is set)';
  using stop = timeLimit(signal, limitMs);
  const limit = stop.signal;
  const ask: Run = (program, ...args) => run(program, args, limit);
  let hasAnswered = false;
  for (const { image, text } of ways) {
    const picture = await image?.(ask);
    if (picture && pngFacts(picture)) return { type: 'image', bytes: picture };
    const words = await text(ask);
    signal.throwIfAborted();
    if (words && words.length > 0) return { type: 'text', text: words.toString('utf8') };
    hasAnswered ||= words !== undefined;
  }
  if (limit.aborted) return 'the desktop did not tell its clipboard in time';
  return hasAnswered ? 'that of the desktop is empty, too' : 'no program of the system could read that of the desktop';
}
