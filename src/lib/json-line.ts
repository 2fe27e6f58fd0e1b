const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** The line, from 1, on which the value at this path begins in a text that is JSON; that of its nearest parent if it is not there. */
export function jsonLine(json: string, path: readonly PropertyKey[]): number {
  const tokens = [...json.matchAll(token)];
  let at = 0;
  let found = 0;
  const look = (left: readonly PropertyKey[], isOnPath: boolean): void => {
    const here = tokens[at];
    if (!here) return;
    if (isOnPath) found = here.index;
    at += 1;
    if (here[0] !== '{' && here[0] !== '[') return;
    const close = here[0] === '{' ? '}' : ']';
    for (let item = 0; at < tokens.length && tokens[at]?.[0] !== close; item++) {
      let key: PropertyKey = item;
      if (close === '}') {
        key = JSON.parse(tokens[at]?.[0] ?? '""') as string;
        at += 2;
      }
      look(left.slice(1), isOnPath && left.length > 0 && left[0] === key);
      if (tokens[at]?.[0] === ',') at += 1;
    }
    at += 1;
  };
  look(path, true);
  return json.slice(0, found).split('\n').length;
}
