import { FairleadError } from '../../../contract/errors.ts';
import { isDeeper } from '../../../lib/json-depth.ts';
import type { HttpVisit } from '../route.ts';

const maxBodyBytes = 16 << 20;
/** Deeper than any argument of an operation. */
const deepest = 200;

/** The arguments of a call: the JSON of the request body; an empty body is no arguments. */
export async function readArguments({ request, body }: HttpVisit, most: number = maxBodyBytes): Promise<unknown> {
  const type = request.headers['content-type'];
  // Forms of other pages could send any other type without asking this server first.
  const isJson = /^application\/json\s*(;|$)/i.test(type ?? '');
  if (type !== undefined && !isJson) throw wrongType();
  const text = await body(most);
  if (text === undefined) throw new FairleadError('too_large', `A request may have at most ${most} bytes.`);
  if (text.trim() === '') return {};
  if (!isJson) throw wrongType();
  if (isDeeper(text, deepest)) throw new FairleadError('invalid_input', 'The JSON is nested too deeply.');
  try {
    return JSON.parse(text);
  } catch {
    throw new FairleadError('invalid_input', 'The request body is not JSON.');
  }
}

const wrongType = (): FairleadError =>
  new FairleadError('invalid_input', 'The content type must be application/json.', {
    hint: 'Send the header Content-Type: application/json.',
  });
