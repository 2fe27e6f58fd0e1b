// The settings page: a client of the HTTP API like any other. Everything it shows is text; nothing becomes markup.

const $ = (id) => document.getElementById(id);
const keyName = 'fairlead-csrf';
let words = {};

/** The code of a login link. It leaves the address before anything is sent. */
function takeCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code !== null) history.replaceState(null, '', location.pathname);
  return code;
}

async function call(method, path, body) {
  const headers = { 'X-CSRF-Token': localStorage.getItem(keyName) ?? '' };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const sent = { method, headers, cache: 'no-store', ...(body !== undefined && { body: JSON.stringify(body) }) };
  const response = await fetch(path, sent);
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  const { message = `${response.status}`, hint = '' } = answer.error ?? {};
  throw Object.assign(new Error(`${message} ${hint}`.trim()), { status: response.status });
}

function say(text, kind = '') {
  $('status').textContent = text;
  $('status').className = kind;
}

function showLogin(why = '') {
  localStorage.removeItem(keyName);
  for (const [id, hidden] of [['login', false], ['settings', true], ['logout', true]]) $(id).hidden = hidden;
  say(why, why === '' ? '' : 'bad');
}

/** Runs what a person asked for, and says how it went. */
async function attempt(work, done) {
  try {
    await work();
    if (done !== undefined) say(done, 'good');
  } catch (error) {
    if (error.status === 401) showLogin(error.message);
    else say(error.message, 'bad');
  }
}

const ansi = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

function peek(theme) {
  const box = document.createElement('span');
  box.className = 'peek';
  box.setAttribute('aria-hidden', 'true');
  const add = (text, color) => {
    const part = document.createElement('span');
    part.textContent = text;
    if (color !== undefined) part.style.color = color;
    box.append(part);
  };
  box.style.background = theme.background;
  box.style.color = theme.foreground;
  add('~ ', theme.colors[4]);
  add('$ ', theme.colors[2]);
  add('ls ');
  const cursor = document.createElement('span');
  cursor.textContent = ' ';
  cursor.style.background = theme.cursor;
  box.append(cursor, '\n');
  for (const from of [0, 8]) {
    ansi.forEach((_name, at) => add('██', theme.colors[from + at]));
    add('\n');
  }
  return box;
}

function showThemes({ current, themes }) {
  const focused = document.activeElement?.closest?.('#themes') !== null;
  $('themes').replaceChildren(
    ...themes.map((theme) => {
      const label = document.createElement('label');
      label.className = 'theme';
      const radio = Object.assign(document.createElement('input'), {
        type: 'radio',
        name: 'name',
        value: theme.name,
        checked: theme.name === current,
      });
      const title = document.createElement('span');
      title.textContent = ` ${theme.color_scheme} (${theme.name})`;
      label.append(radio, title, peek(theme));
      if (theme.error !== undefined) {
        const error = document.createElement('span');
        error.className = 'error';
        error.textContent = theme.error;
        label.append(error);
      }
      return label;
    }),
  );
  if (focused) $('themes').querySelector('input:checked')?.focus();
}

const fieldOf = (form, name) => $(form).elements.namedItem(name);
const lines = (text) => text.split('\n').map((line) => line.trim()).filter((line) => line !== '');

/** One entry for each form: where its settings are, how they are shown, and what is sent. */
const forms = {
  scrollback: {
    show: (now) => (fieldOf('scrollback', 'lines').value = now.lines),
    read: () => ({ lines: Number(fieldOf('scrollback', 'lines').value) }),
  },
  compat: {
    show: (now) => (fieldOf('compat', 'term_program').value = now.term_program),
    read: () => ({ term_program: fieldOf('compat', 'term_program').value }),
  },
  recording: {
    show(now) {
      fieldOf('recording', 'enabled').checked = now.recording?.enabled === true;
      fieldOf('recording', 'redaction').checked = now.redaction?.enabled !== false;
      fieldOf('recording', 'keep_raw').checked = now.keep_raw !== false;
      fieldOf('recording', 'retain_days').value = now.retain_days ?? 0;
      fieldOf('recording', 'idle_rotate_minutes').value = now.idle_rotate_minutes ?? 5;
    },
    read: (now) => ({
      recording: { enabled: fieldOf('recording', 'enabled').checked },
      redaction: { ...now.redaction, enabled: fieldOf('recording', 'redaction').checked },
      keep_raw: fieldOf('recording', 'keep_raw').checked,
      retain_days: Number(fieldOf('recording', 'retain_days').value),
      idle_rotate_minutes: Number(fieldOf('recording', 'idle_rotate_minutes').value),
    }),
  },
  policy: {
    show(now) {
      fieldOf('policy', 'enabled').checked = now.enabled;
      fieldOf('policy', 'input').checked = now.scope.includes('input');
      fieldOf('policy', 'blocked_patterns').value = now.blocked_patterns.join('\n');
      fieldOf('policy', 'allowed_patterns').value = now.allowed_patterns.join('\n');
    },
    read: (now) => ({
      enabled: fieldOf('policy', 'enabled').checked,
      scope: [
        ...now.scope.filter((word) => word !== 'input'),
        ...(fieldOf('policy', 'input').checked ? ['input'] : []),
      ],
      blocked_patterns: lines(fieldOf('policy', 'blocked_patterns').value),
      allowed_patterns: lines(fieldOf('policy', 'allowed_patterns').value),
    }),
  },
  proxy: {
    show(now) {
      fieldOf('proxy', 'mode').value = now.enabled ? now.mode : 'off';
      for (const name of ['http_proxy', 'socks_proxy', 'no_proxy']) fieldOf('proxy', name).value = now[name] ?? '';
    },
    read(now) {
      const mode = fieldOf('proxy', 'mode').value;
      const sent = { enabled: mode !== 'off', mode };
      // An address that was not touched may be shown without its password: it is not sent back.
      for (const name of ['http_proxy', 'socks_proxy', 'no_proxy']) {
        const { value } = fieldOf('proxy', name);
        if (value !== (now[name] ?? '')) sent[name] = value;
      }
      return sent;
    },
  },
  lang: {
    show({ lang, available }) {
      const options = available.map(({ code, name }) => new Option(name, code, false, code === lang));
      fieldOf('lang', 'lang').replaceChildren(...options);
    },
    read: () => ({ lang: fieldOf('lang', 'lang').value }),
  },
};

const known = {};

async function showForm(name) {
  const now = await call('GET', `/api/settings/${name}`);
  known[name] = now;
  forms[name].show(now);
  $(name).hidden = false;
}

async function showAll() {
  const state = await call('GET', '/api/state');
  $('where').textContent = `${state.hostname} · ${state.version}`;
  $('problems').replaceChildren(
    ...state.problems.map((problem) => Object.assign(document.createElement('li'), { textContent: problem })),
  );
  $('problems').hidden = state.problems.length === 0;
  showThemes(await call('GET', '/api/themes'));
  for (const name of Object.keys(forms)) {
    // A server without this setting has no such path.
    await showForm(name).catch((error) => {
      if (error.status !== 404) throw error;
    });
  }
  await translate(known.lang?.lang ?? 'en');
  for (const [id, hidden] of [['login', true], ['settings', false], ['logout', false]]) $(id).hidden = hidden;
}

async function translate(lang) {
  ({ words } = await call('GET', `/api/i18n/${encodeURIComponent(lang)}`));
  document.documentElement.lang = lang;
  for (const element of document.querySelectorAll('[data-word]')) {
    const word = words[element.dataset.word];
    if (word !== undefined && element.id !== 'status') element.textContent = word;
  }
}

/** Themes that are switched elsewhere, or edited by hand, show at once. */
async function follow() {
  const headers = { 'X-CSRF-Token': localStorage.getItem(keyName) ?? '', Accept: 'text/event-stream' };
  const response = await fetch('/api/person/watch', { method: 'POST', headers });
  if (!response.ok || response.body === null) return;
  let text = '';
  const decoder = new TextDecoder();
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    if (events.some((event) => event.startsWith('data: {"kind":"theme"'))) {
      showThemes(await call('GET', '/api/themes'));
    }
  }
}

$('themes').addEventListener('change', ({ target }) =>
  attempt(() => call('PUT', '/api/settings/theme', { name: target.value }), words.saved ?? 'Saved.'),
);
$('theme').addEventListener('submit', (event) => event.preventDefault());
for (const name of Object.keys(forms)) {
  $(name).addEventListener('submit', (event) => {
    event.preventDefault();
    const save = async () => {
      await call('PUT', `/api/settings/${name}`, forms[name].read(known[name] ?? {}));
      await showForm(name);
      if (name === 'lang') await translate(known.lang.lang);
    };
    void attempt(save, words.saved ?? 'Saved.');
  });
}
$('logout').addEventListener('click', () =>
  attempt(async () => {
    await call('POST', '/api/logout');
    showLogin();
  }),
);

await attempt(async () => {
  const code = takeCode();
  if (code !== null) {
    const { csrf_token } = await call('POST', '/api/login', { code });
    localStorage.setItem(keyName, csrf_token);
  }
  if (localStorage.getItem(keyName) === null) return showLogin();
  await showAll();
  say('');
  follow().catch(() => {});
});
