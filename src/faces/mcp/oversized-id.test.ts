import { expect, test } from 'vitest';
import { type Ends, oversizedId } from './oversized-id.ts';

const long = 'x'.repeat(5000);
const ends = (line: string): Ends => ({ head: Buffer.from(line.slice(0, 1024)), tail: Buffer.from(line.slice(-1024)) });

test.each<[string, string | number | null]>([
  [`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"text":"${long}"}}`, 7],
  [`{"id":"a\\"b","jsonrpc":"2.0","method":"tools/call","params":{"text":"${long}"}}`, 'a"b'],
  [`{"jsonrpc":"2.0","method":"tools/call","params":{"text":"${long}"},"id":7}`, 7],
  [`{"method":"tools/call","params":{"text":"${long}"}, "jsonrpc" : "2.0" , "id" : "last" } \r`, 'last'],
  [`{"params":{"id":1,"text":"${long}"},"id":-2.5,"jsonrpc":"2.0","method":"x"}`, -2.5],
  [`{"method":"x","params":{"_meta":{"a":[1,{"id":3}]},"text":"${long}"},"id":9}`, 9],
])('the id of the request itself: %.40s…', (line, id) => {
  expect(oversizedId(ends(line))).toBe(id);
});

test.each([
  `{"method":"x","params":{"id":1,"text":"${long}"}}`,
  `{"method":"x","params":{"text":"${long}","id":1}}`,
  `{"method":"x","params":{"text":"${long}","more":{"id":1},"z":2}}`,
  `{"method":"x","params":{"text":"${long}\\",\\"id\\":1}"}}`,
  `{"method":"x","params":{"text":"${long},\\"id\\":5"}}`,
  `{"text":"\\"id\\":5,${long}"}`,
  `{"jsonrpc":"2.0","id":1,"result":{"text":"${long}"}}`,
  `[{"jsonrpc":"2.0","id":1,"method":"x","params":"${long}"}]`,
  `{"id":null,"params":"${long}"}`,
  `{"id":{"a":1},"params":"${long}"}`,
  `{"id":"${long}","method":"x"}`,
  `${long}"id":1}`,
  `${long}`,
  `{"params":"${long}`,
])('no guess where it is not certain: %.60s', (line) => {
  expect(oversizedId(ends(line))).toBeNull();
});
