import { renderJson } from '../../engine/call/operation.ts';
import type { FairleadError } from '../../contract/errors.ts';
import { sentences } from '../sentences.ts';

/** Errors in the words of the reference: `Error: …`; a second recording answers with JSON that names the first. */
export function renderTerminalError(error: FairleadError): string {
  if (error.data?.['activeRecordingId'] !== undefined) {
    const { activeRecordingId, activePath } = error.data;
    return renderJson({ error: error.message, activeRecordingId, activePath });
  }
  return `Error: ${sentences(error)}`;
}
