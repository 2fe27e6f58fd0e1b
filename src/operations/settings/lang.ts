import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { operation } from '../../engine/call/operation.ts';
import { personSettings } from '../../engine/settings/settings.ts';
import { FileError, fileError } from '../file-error.ts';

const Languages = z.array(z.object({ code: z.string(), name: z.string() }));

export const list = operation({
  title: 'List languages',
  summary: 'The languages that pages can have.',
  access: 'observe',
  input: z.strictObject({}),
  output: z.object({ lang: z.string(), languages: Languages }),
  async run({ engine }) {
    const { lang, languages } = engine.service(personSettings);
    return { lang, languages: languages.list() };
  },
  render: ({ lang, languages }) =>
    languages.map(({ code, name }) => `${code === lang ? '*' : ' '} ${code}  ${name}`).join('\n'),
});

export const current = operation({
  title: 'Current language',
  cliDefault: true,
  summary: 'The language of pages.',
  access: 'observe',
  http: [
    { method: 'GET', path: '/api/i18n' },
    { method: 'GET', path: '/api/settings/lang' },
  ],
  input: z.strictObject({}),
  output: z.object({ lang: z.string(), available: Languages, error: FileError }),
  async run({ engine }) {
    const settings = engine.service(personSettings);
    return { lang: settings.lang, available: settings.languages.list(), ...fileError(settings.problem('lang')) };
  },
  render: ({ lang, error }) => (error === undefined ? lang : `${lang}\n${error}`),
});

export const set = operation({
  title: 'Set the language',
  summary: 'Show pages in another language.',
  access: 'administer',
  destructive: false,
  idempotent: true,
  openWorld: false,
  http: [
    { method: 'POST', path: '/api/i18n' },
    { method: 'PUT', path: '/api/settings/lang' },
  ],
  input: z.strictObject({ lang: z.string().min(1).max(35).describe('Code of the language, such as en') }),
  output: z.object({ lang: z.string() }),
  positional: ['lang'],
  about: ({ lang }) => ({ detail: lang }),
  async run({ input, engine }) {
    engine.service(personSettings).setLang(input.lang);
    return { lang: input.lang };
  },
  render: ({ lang }) => `Pages are shown in ${lang}.`,
});

export const words = operation({
  title: 'Words of a language',
  summary: 'The words of pages in one language; English where it has none.',
  access: 'observe',
  http: [{ method: 'GET', path: '/api/i18n/:code' }],
  input: z.strictObject({ code: z.string().min(1).max(35).describe('Code of the language') }),
  output: z.object({ code: z.string(), words: z.record(z.string(), z.string()) }),
  positional: ['code'],
  async run({ input: { code }, engine }) {
    const { languages } = engine.service(personSettings);
    const found = languages.list().some((one) => one.code === code) ? languages.words(code) : undefined;
    if (!found) throw new FairleadError('not_found', `There is no language ${JSON.stringify(code)} here.`);
    return { code, words: { ...found } };
  },
});
