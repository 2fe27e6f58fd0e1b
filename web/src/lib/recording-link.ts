/** Where a recording is played, from a moment on if that is known: seconds, as it plays. */
export const recordingLink = (id: string, t?: number): string =>
  `/recordings/${encodeURIComponent(id)}${t === undefined ? '' : `?t=${Math.max(0, Math.round(t * 1000) / 1000)}`}`;
