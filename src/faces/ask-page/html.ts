import { createHash } from 'node:crypto';
import type { OpenQuestion } from '../../engine/person/questions/question.ts';

const style = `
:root { color-scheme: light dark; --ink: #17212b; --soft: #5a6672; --paper: #ffffff; --desk: #eef1f4; --line: #cfd6dd;
  --accent: #0b5f8a; --on-accent: #ffffff; --quote: #f4f7f9; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --soft: #9aa7b3; --paper: #1a2129; --desk: #10151a;
  --line: #3a4550; --accent: #58b4e3; --on-accent: #06222f; --quote: #222b34; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--desk);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { width: min(30rem, 100%); padding: 1.75rem; background: var(--paper); border: 1px solid var(--line);
  border-radius: 0.75rem; }
h1 { margin: 0 0 1rem; font-size: 1.25rem; line-height: 1.3; }
p { margin: 0.75rem 0 0; }
label { display: block; padding: 0.75rem 1rem; background: var(--quote); border-left: 3px solid var(--accent);
  border-radius: 0.25rem; font-weight: 600; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1rem; margin: 1rem 0; font-size: 0.9rem; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
input { width: 100%; padding: 0.7rem 0.8rem; font: inherit; color: inherit; background: var(--paper);
  border: 1px solid var(--soft); border-radius: 0.4rem; }
.choices { display: flex; flex-wrap: wrap; gap: 0.6rem; margin-top: 1rem; }
button { flex: 1 1 9rem; padding: 0.7rem 1rem; font: inherit; font-weight: 600; color: var(--on-accent);
  background: var(--accent); border: 1px solid var(--accent); border-radius: 0.4rem; cursor: pointer; }
button.second { color: var(--ink); background: transparent; border-color: var(--soft); font-weight: 400; }
input:focus-visible, button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
small, .soft { color: var(--soft); font-size: 0.9rem; }
`;

/** Nothing but this page's own style may load, nothing but its own form may be sent, and no frame may hold it. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const nouns: Readonly<Partial<Record<OpenQuestion['kind'], string>>> = {
  password: 'a password',
  passphrase: 'a passphrase',
  one_time_code: 'a one-time code',
};

/** The question as a form. It works without scripts, so none are allowed. */
export function questionPage(question: OpenQuestion, now: number): string {
  const { kind, subject, prompt, secret, asker, expiresAt } = question;
  const minutes = Math.max(1, Math.round((Date.parse(expiresAt) - now) / 60_000));
  const field = secret ? 'type="password"' : 'type="text"';
  const hint = kind === 'one_time_code' ? 'one-time-code' : 'off';
  return page(
    prompt,
    `<h1>Fairlead needs ${nouns[kind] ?? 'an answer'} from you</h1>
<form method="post" autocomplete="off">
<label for="answer">${escape(prompt)}</label>
<dl><dt>For</dt><dd>${escape(subject)}</dd><dt>Asked by</dt><dd>${escape(asker)}</dd>
<dt>Time left</dt><dd>about ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}</dd></dl>
<input id="answer" name="answer" ${field} autocomplete="${hint}" autocapitalize="off" spellcheck="false" autofocus required>
<div class="choices"><button name="do" value="answer">Send</button>
<button class="second" name="do" value="decline" formnovalidate>Do not answer</button></div>
</form>
<p><small>It goes straight to Fairlead on this computer and is written nowhere. The agent never sees it.
Answer only if you expected this question.</small></p>`,
  );
}

/** What there is to say when nothing is asked (any more). */
export function noticePage(title: string, words: string): string {
  return page(title, `<h1>${escape(title)}</h1>\n<p class="soft">${escape(words)}</p>`);
}

const page = (title: string, body: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>${escape(title)} – Fairlead</title><style>${style}</style></head>
<body><main>
${body}
</main></body></html>
`;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
