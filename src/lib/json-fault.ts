const space = /[ \t\r\n]*/y;
// oxlint-disable-next-line no-control-regex
const text = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;
const plain = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** The line on which a text stops being JSON, from 1; undefined when it does not. `JSON.parse` tells only sometimes. */
export function jsonFault(json: string): number | undefined {
  let at = 0;
  const take = (token: RegExp): boolean => {
    token.lastIndex = at;
    const found = token.exec(json);
    if (found !== null) at += found[0].length;
    return found !== null;
  };
  const sign = (one: string): boolean => {
    take(space);
    if (json[at] !== one) return false;
    at += 1;
    return true;
  };
  const list = (close: string, item: () => boolean): boolean => {
    if (sign(close)) return true;
    do if (!item()) return false;
    while (sign(','));
    return sign(close);
  };
  const name = (): boolean => take(space) && take(text);
  const value = (): boolean => {
    if (sign('{')) return list('}', () => name() && sign(':') && value());
    if (sign('[')) return list(']', value);
    return take(text) || take(plain);
  };
  const whole = value() && take(space) && at === json.length;
  return whole ? undefined : json.slice(0, at).split('\n').length;
}
