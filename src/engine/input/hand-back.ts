import { plainText } from '../../lib/plain-text.ts';
import type { HandBack } from './keyboard-lease.ts';

/** What an agent is told of a person who had the keyboard. The person sees the same words before handing it back. */
export function handBackWords({ by, ms, note, commands, exitCode }: HandBack, cwd: string | undefined): string {
  const ran = commands > 0 ? ` and ran ${commands} ${commands === 1 ? 'command' : 'commands'}` : '';
  const last = commands === 1 ? 'it' : 'the last';
  const ended = ran !== '' && exitCode !== undefined ? `; ${last} exited ${exitCode}` : '';
  const place = cwd === undefined ? '' : ` The directory is ${oneLine(cwd)}.`;
  const says = note === undefined || note === '' ? '' : ` They say: ${JSON.stringify(oneLine(note))}`;
  return `${oneLine(by)} had the keyboard for ${span(ms)}${ran}${ended}.${place}${says}`;
}

const oneLine = (text: string): string => plainText(text.replaceAll(/\s+/g, ' '), { separator: ' ' }).text;

/** `2 min 38 s` */
function span(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`;
}
