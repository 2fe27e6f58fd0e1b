import { describe, expect, test } from 'vitest';
import { Redactor } from '../../../src/engine/redaction/redactor.ts';

/*
 * Another judge: the scanner secretlint with its recommended rules. It finds each of these in plain text, and nothing in
 * what the redactor leaves (R-RPC-081, R-RPC-082).
 */

/** The part of secretlint that is used here. By name, so that types need it only where it runs. */
interface Secretlint {
  readonly lintSource: (what: unknown) => Promise<{ readonly messages: readonly Message[] }>;
}
interface Message {
  readonly type: string;
  readonly ruleId: string;
}
const load = async (name: string): Promise<unknown> => await import(name);
const { lintSource } = (await load('@secretlint/core')) as Secretlint;
const { creator } = (await load('@secretlint/secretlint-rule-preset-recommend')) as { readonly creator: unknown };

const redactor = new Redactor({ key: new Uint8Array(32) });
const rules = [{ id: '@secretlint/secretlint-rule-aws', options: { enableIDScanRule: true } }];
const config = { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator, rules }] };

async function found(text: string): Promise<string[]> {
  // A mask is no password: it stands for one, like a variable, which secretlint knows.
  const content = text.replace(/<redacted:[0-9a-f]{8}>/g, '${PASSWORD}');
  const source = { filePath: 'session.log', content, ext: '.log', contentType: 'text' };
  const { messages } = await lintSource({ source, options: { config, noPhysicFilePath: true } });
  return messages.filter(({ type }) => type === 'message').map(({ ruleId }) => ruleId);
}

/** The same letters in every run. */
let state = 7;
const random = (below: number): number => {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((state / 2_147_483_648) * below);
};
const of = (alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet[random(alphabet.length)]).join('');
const lower = 'abcdefghijklmnopqrstuvwxyz';
const digits = '0123456789';
const upper = lower.toUpperCase();
const letters = lower + upper;
const word = letters + digits;
const hex = '0123456789abcdef';

/** Base64 of an object that ends in `fQ`. */
const onePassword = (): string =>
  Buffer.from(JSON.stringify({ signInAddress: 'team.example.com', secret: of(word, 85) })).toString('base64');

const formats: Readonly<Record<string, () => string>> = {
  'AWS access key id': () => `${['AKIA', 'ASIA', 'AROA', 'AIDA'][random(4)]}${of(upper + digits, 16)}`,
  'AWS secret access key': () => `AWS_SECRET_ACCESS_KEY=${of(`${word}/+`, 39)}${of(word, 1)}`,
  'npm token': () => `npm_${of(word, 36)}`,
  'Slack token': () => `xoxb-${of(digits, 12)}-${of(digits, 12)}-${of(word, 24)}`,
  'Slack app token': () => `xapp-1-A${of(upper, 10)}-${of(digits, 13)}-${of(hex, 40)}`,
  'Slack webhook': () => `https://hooks.slack.com/services/T${of(upper, 8)}/B${of(upper, 8)}/${of(word, 24)}`,
  'basic auth': () => `https://deploy:${of(word, 14)}@git.internal.net/x`,
  'OpenAI key': () => `sk-${of(word, 20)}T3BlbkFJ${of(word, 20)}`,
  'OpenAI project key': () => `sk-proj-${of(`${word}_-`, 74)}T3BlbkFJ${of(`${word}_-`, 73)}${of(word, 1)}`,
  'Anthropic key': () => `sk-ant-api03-${of(`${word}_-`, 93)}AA`,
  'Groq key': () => `gsk_${of(word, 52)}`,
  'Hugging Face token': () => `hf_${of(letters, 34)}`,
  'Linear key': () => `lin_api_${of(word, 40)}`,
  'Notion token': () => `ntn_${of(digits, 11)}${of(word, 35)}`,
  'SendGrid key': () => `SG.${of(word, 22)}.${of(word, 43)}`,
  'Shopify token': () => `shpat_${of(hex, 32)}`,
  'GitHub token': () => `gh${'pousr'[random(5)]}_${of(word, 36)}`,
  'GitHub fine-grained token': () => `github_pat_${of(`${word}_`, 82)}`,
  'GitLab token': () => `glpat-${of(`${word}_-`, 20)}`,
  'Grafana cloud token': () => `glc_${of(word, 64)}=`,
  'Grafana service account token': () => `glsa_${of(word, 32)}_${of(hex, 8)}`,
  '1Password service account token': () => `ops_${onePassword()}`,
  'Databricks token': () => `dapi${of(hex, 32)}`,
  'Figma token': () => `figd_${of(word, 43)}`,
  'MongoDB address': () => `mongodb+srv://admin:${of(word, 16)}@cluster0.abcde.mongodb.net/db`,
  'MySQL address': () => `mysql://admin:${of(word, 16)}@db.internal.net:3306/app`,
  'PostgreSQL address': () => `postgresql://admin:${of(word, 16)}@db.internal.net:5432/app`,
  'Vault token': () => `hvs.${of(`${word}_-`, 95)}${of(word, 1)}`,
  'Vault batch token': () => `hvb.${of(`${word}_-`, 150)}${of(word, 1)}`,
  'Docker token': () => `dckr_pat_${of(`${word}_-`, 27)}`,
  'private key': () =>
    `-----BEGIN RSA PRIVATE KEY-----\nMI${of(word, 62)}\n${of(word, 64)}\n${of(word, 64)}\n-----END RSA PRIVATE KEY-----`,
};

const places: readonly ((secret: string) => string)[] = [
  (secret) => `${secret}\n`,
  (secret) => `the value is ${secret} today\n`,
  (secret) => `X="${secret}"\n`,
  (secret) => `{"a":"${secret}","b":1}\n`,
  (secret) => `1,${secret},2\n`,
  (secret) => `name_${secret}\n`,
];

describe.each(Object.entries(formats))('%s', (_name, make) => {
  test('secretlint finds it before, and nothing afterwards', async () => {
    const texts = Array.from({ length: 12 }, (_, index) => (places[index % 6] ?? String)(make()));
    const before = await Promise.all(texts.map(found));
    // It has rules of its own about what stands before.
    expect(before.filter((rules) => rules.length > 0).length).toBeGreaterThanOrEqual(6);
    const after = await Promise.all(texts.map(async (text) => await found(redactor.redactText(text).text)));
    expect(after.map((rules, index) => [texts[index], rules]).filter(([, rules]) => rules?.length !== 0)).toEqual([]);
  });
});

test('secretlint finds nothing when all of them come as one stream of pieces', async () => {
  const text = Object.values(formats)
    .map((make) => `line ${make()}\r\n`)
    .join('');
  const bytes = new TextEncoder().encode(text);
  const stream = redactor.stream<undefined>({ cols: 80 });
  const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) =>
    stream.push(bytes.subarray(at * 7, at * 7 + 7), undefined),
  );
  const shown = [...pieces.flat(), ...stream.end()].map((piece) => piece.text).join('');
  expect((await found(text)).length).toBeGreaterThan(20);
  expect(await found(shown)).toEqual([]);
});
