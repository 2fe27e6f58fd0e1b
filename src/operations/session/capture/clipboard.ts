import { z } from 'zod';
import { FairleadError } from '../../../contract/errors.ts';
import type { Call } from '../../../engine/call/call.ts';
import { operation } from '../../../engine/call/operation.ts';
import { type CopiedText, instanceClipboard, longestCopy } from '../../../engine/capture/clipboard.ts';
import { systemClipboard } from '../../../engine/capture/system-clipboard.ts';
import { plainText } from '../../../lib/plain-text.ts';
import { pngFacts } from '../../../engine/capture/system-tools.ts';

const Output = z.object({
  type: z.enum(['text', 'image']),
  content: z.string().optional(),
  redacted: z.literal(true).optional().describe('Secrets in it are masked; reveal shows them'),
  flags: z.record(z.string(), z.number().int()).optional().describe('Characters no person sees, taken out for a model'),
  source: z.enum(['osc52', 'set', 'os']).describe('A program in a session, a caller, or the desktop'),
  session_id: z.string().optional().describe('The session whose program copied it'),
  copied_at: z.string().optional(),
  format: z.literal('png').optional(),
  image_path: z.string().optional(),
  width: z.number().int().optional(),
  height: z.number().int().optional(),
  bit_depth: z.number().int().optional(),
  size_bytes: z.number().int().optional(),
  base64: z.string().optional(),
});

export const clipboard = operation({
  title: 'Clipboard',
  summary:
    'What programs in sessions copied (OSC 52) or a caller set last; if that is nothing, the clipboard of the desktop. Text or a PNG.',
  // Takes what is on the desktop, and can replace what a program copied.
  access: 'control',
  input: z.object({
    set: z
      .string()
      .max(longestCopy)
      .optional()
      .describe('Put this text on the clipboard of the instance; empty clears it'),
    reveal: z.boolean().default(false).describe('Do not mask secrets in the text'),
  }),
  output: Output,
  positional: ['set'],
  about: ({ set, reveal }) =>
    set === undefined ? { detail: reveal ? 'read, with secrets' : 'read' } : { detail: 'set', characters: set.length },
  async run(call) {
    const { input, engine, caller, signal } = call;
    const own = engine.service(instanceClipboard);
    if (input.set !== undefined) {
      own.clear(caller);
      const copied: CopiedText = { text: input.set, source: 'set', at: engine.clock.now(), owner: caller.principal };
      own.put(copied);
      return shown(copied, call);
    }
    // What programs have copied is known once it is parsed.
    await Promise.all(engine.sessions.all(caller).map((terminal) => terminal.sync(signal)));
    const copied = own.textFor(caller);
    if (copied) return shown(copied, call);
    const found = await systemClipboard(own.tools, signal);
    if (typeof found === 'string') {
      throw new FairleadError('not_found', `The clipboard is empty: no session has copied anything, and ${found}.`, {
        hint: 'Programs copy with OSC 52; a caller can put text there with set.',
      });
    }
    if (found.type === 'text') return { ...masked(found.text, call), source: 'os' as const };
    const image_path = await own.folder.save('clipboard', found.bytes, engine.clock.now());
    const { width = 0, height = 0, bitDepth: bit_depth = 8 } = pngFacts(found.bytes) ?? {};
    return {
      type: 'image' as const,
      source: 'os' as const,
      format: 'png' as const,
      image_path,
      width,
      height,
      bit_depth,
      size_bytes: found.bytes.length,
      base64: Buffer.from(found.bytes).toString('base64'),
    };
  },
  show: ({ content, image_path = '' }) => content ?? image_path,
});

type ClipboardCall = Pick<Call<{ readonly reveal: boolean }>, 'input' | 'engine' | 'caller'>;

/** Programs get the text as it was copied; a model gets what a person would see of it. */
function masked(text: string, { input, engine, caller }: ClipboardCall) {
  const cut = text.slice(0, longestCopy);
  const copied = input.reveal ? cut : engine.redact(cut);
  const { text: content, flags } = caller.origin === 'mcp' ? plainText(copied) : { text: copied, flags: {} };
  return {
    type: 'text' as const,
    content,
    ...(copied === cut ? {} : { redacted: true as const }),
    ...(Object.keys(flags).length > 0 && { flags: { ...flags } }),
  };
}

function shown({ text, source, session, at }: CopiedText, call: ClipboardCall): z.output<typeof Output> {
  return {
    ...masked(text, call),
    source,
    ...(session === undefined ? {} : { session_id: String(session) }),
    copied_at: new Date(at).toISOString(),
  };
}
