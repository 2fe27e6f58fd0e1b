import { feed } from '../feed.svelte.ts';
import { CallFailed, type Failure } from '../live.ts';

export const exportFormats = [
  ['cast', 'Cast'],
  ['gif', 'GIF'],
  ['txt', 'Text'],
  ['md', 'Markdown'],
  ['svg', 'SVG'],
] as const;
export type ExportFormat = (typeof exportFormats)[number][0];

/** Makes a file of a recording on the server, and saves it under the name that the server gave it. */
export async function saveRecording(
  recording: string,
  options: { readonly format: ExportFormat; readonly from?: number; readonly to?: number },
  signal: AbortSignal,
): Promise<string> {
  const answer = await fetch(`/api/recordings/${encodeURIComponent(recording)}/export`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-csrf-token': feed.me?.csrf ?? '' },
    body: JSON.stringify(options),
    signal,
  });
  if (!answer.ok) throw new CallFailed(((await answer.json()) as { error: Failure }).error);
  const name = /filename="([\w.-]+)"/.exec(answer.headers.get('content-disposition') ?? '')?.[1] ?? 'recording';
  const url = URL.createObjectURL(await answer.blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to save it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  return name;
}
