import { describe, expect, test } from 'vitest';
import { type CursorView, question } from './known-prompts.ts';
import { cpuTimer } from '../../../../test/support/clocks/cpu-timer.ts';

const asked = (line: string, more: Partial<CursorView> = {}): CursorView => ({
  line,
  above: [],
  lastRow: false,
  inverse: false,
  bracketedPaste: false,
  echo: true,
  quietMs: 150,
  program: () => 'installer',
  reads: () => undefined,
  ...more,
});

const kind = (line: string, more: Partial<CursorView> = {}): string | undefined => question(asked(line, more))?.kind;

describe('questions of real programs', () => {
  test.each([
    // Read without echo.
    ['[sudo] password for anna: ', { echo: false }, 'password'],
    ["anna@host's password: ", { echo: false }, 'password'],
    ['(anna@host) Password: ', { echo: false }, 'password'],
    ["Password for 'https://anna@github.com': ", { echo: false }, 'password'],
    ['Enter PIN for anna: ', { echo: false }, 'password'],
    ['Passwort: ', { echo: false }, 'password'],
    ['Mot de passe : ', { echo: false }, 'password'],
    ['Vault token>', { echo: false }, 'password'],
    ["Enter passphrase for key '/home/anna/.ssh/id_ed25519': ", { echo: false }, 'passphrase'],
    ['Verification code: ', { echo: false }, 'one_time_code'],
    ['Enter OTP: ', { echo: false }, 'one_time_code'],
    ['Enter one-time password: ', { echo: false }, 'one_time_code'],
    // A far side nobody can look at: only the text tells.
    ['[sudo] password for anna: ', { echo: undefined }, 'password'],
    ['Enter passphrase for /root/key:', { echo: undefined }, 'passphrase'],
    ["Password for 'https://anna@github.com': ", { echo: undefined }, 'password'],
    ['Retype new password:', { echo: undefined }, 'password'],
    // Codes are often read with echo: only a person has them.
    ['Two-factor authentication code: ', {}, 'one_time_code'],
    ['Authentication code:', { quietMs: 300, reads: () => true }, 'one_time_code'],
    ['Enter the 6-digit code from your authenticator app: ', {}, 'one_time_code'],
    ['Enter MFA code for arn:aws:iam::1:mfa/anna: ', {}, 'one_time_code'],
    ['Security code: ', { quietMs: 300 }, 'one_time_code'],
    ['Enter a recovery code: ', {}, 'one_time_code'],
    ['Enter your API key: ', {}, 'password'],
    // They name a key to press and ask for a secret all the same.
    ['Enter your password and press Enter: ', { echo: undefined }, 'password'],
    ['Type the passphrase, then hit return:', { echo: undefined }, 'passphrase'],
    ['Password (then press Enter): ', { echo: false }, 'password'],
    ['Type your name and press Enter: ', {}, 'text'],
    ['Insert the disk and press Enter: ', {}, 'any_key'],
    ['Password changed. Press any key to continue: ', { echo: undefined }, 'any_key'],
    ['Choose a two-factor method [1-3]: ', {}, 'choice'],
    ['Do you want to continue? [Y/n] ', {}, 'yes_no'],
    ['Remove it? [y/N]: ', {}, 'yes_no'],
    ['Proceed ([y]/n)? ', {}, 'yes_no'],
    ['Proceed (Y/n)? ', {}, 'yes_no'],
    ['gzip: a.gz already exists; do you wish to overwrite (y or n)? ', {}, 'yes_no'],
    ['zsh: sure you want to delete all 5 files in /tmp [yn]? ', {}, 'yes_no'],
    ['Overwrite (yes/no) [no]: ', {}, 'yes_no'],
    ['Möchten Sie fortfahren? [J/n] ', {}, 'yes_no'],
    ['Souhaitez-vous continuer ? [O/n] ', {}, 'yes_no'],
    ['¿Desea continuar? [S/n] ', {}, 'yes_no'],
    ['Is this OK? (yes) ', { echo: undefined }, 'yes_no'],
    ['Ok to proceed? (y) ', { echo: undefined }, 'yes_no'],
    ["rm: remove regular file 'a'? ", {}, 'yes_no'],
    ["Type 'yes' to confirm: ", {}, 'yes_no'],
    ['Are you sure you want to continue connecting (yes/no/[fingerprint])? ', {}, 'fingerprint'],
    ['Are you sure you want to continue connecting (yes/no)? ', {}, 'fingerprint'],
    ["Please type 'yes', 'no' or the fingerprint: ", {}, 'fingerprint'],
    ['Press any key to continue . . . ', {}, 'any_key'],
    ['Press [ENTER] to continue or Ctrl-c to cancel.', {}, 'any_key'],
    ['Press ENTER or type command to continue', { echo: undefined, bracketedPaste: true }, 'any_key'],
    ['--More--', { echo: undefined }, 'pager'],
    ['--More--(12%)', { echo: undefined }, 'pager'],
    ['--More--(12%)[Press space to continue, q to quit.]', { echo: undefined }, 'pager'],
    [':', { echo: undefined, lastRow: true }, 'pager'],
    ['(END)', { echo: undefined }, 'pager'],
    ['lines 1-29', { echo: undefined, lastRow: true }, 'pager'],
    ['lines 30-58/212 27%', { echo: undefined, lastRow: true }, 'pager'],
    [' Manual page ls(1) line 1 (press h for help or q to quit)', { echo: undefined }, 'pager'],
    ['notes.txt', { echo: undefined, lastRow: true, inverse: true, program: () => 'less' }, 'pager'],
    ['(1/4) Stage this hunk [y,n,q,a,d,j,J,g,/,e,p,?]? ', {}, 'choice'],
    ['*** foo.conf (Y/I/N/O/D/Z) [default=N] ? ', {}, 'choice'],
    ['Your choice [1-3]: ', {}, 'choice'],
    ['Please select an option: ', {}, 'choice'],
    ['replace a? [y]es, [n]o, [A]ll, [N]one, [r]ename: ', {}, 'choice'],
    ['? Pick a framework (Use arrow keys)', { echo: undefined }, 'choice'],
    ["Username for 'https://github.com': ", {}, 'text'],
    ['package name: (demo) ', { echo: undefined }, 'text'],
    ['Enter file in which to save the key (/root/.ssh/id_ed25519): ', {}, 'text'],
    ['What is your name? ', { quietMs: 460 }, 'text'],
    ['Where to? [/usr/local] ', { quietMs: 460 }, 'text'],
    ['Directory: ', { quietMs: 300 }, 'text'],
    ['Directory:', { quietMs: 300, reads: () => true }, 'text'],
    ['Your name > ', { quietMs: 300 }, 'text'],
    ['project name: ', { echo: undefined, quietMs: 300, reads: () => true }, 'text'],
    ['', { quietMs: 300, above: ['Press any key to continue'] }, 'any_key'],
  ] as [string, Partial<CursorView>, string][])('%j %j', (line, more, expected) => {
    expect(kind(line, more)).toBe(expected);
  });

  test('what holds a secret says so, and nothing else does', () => {
    expect(question(asked('Password: ', { echo: false }))).toMatchObject({ secret: true, prompt: 'Password:' });
    expect(question(asked('Go on? [y/N] '))).toMatchObject({ secret: false, prompt: 'Go on? [y/N]' });
  });

  test.each([
    ['Do you want to continue? [Y/n] ', {}, { answers: ['y', 'n'], enter: true, default: 'y' }],
    ['Remove it? [y/N]: ', {}, { answers: ['y', 'n'], enter: true, default: 'n' }],
    ['Go on? [y/n] ', {}, { answers: ['y', 'n'], enter: true }],
    ['Proceed ([y]/n)? ', {}, { answers: ['y', 'n'], enter: true, default: 'y' }],
    ['Overwrite (yes/no) [no]: ', {}, { answers: ['yes', 'no'], enter: true, default: 'no' }],
    ['zsh: sure you want to delete all 5 files in /tmp [yn]? ', {}, { answers: ['y', 'n'], enter: true }],
    ['gzip: do you wish to overwrite (y or n)? ', {}, { answers: ['y', 'n'], enter: true }],
    ['Möchten Sie fortfahren? [J/n] ', {}, { answers: ['j', 'n'], enter: true, default: 'j' }],
    ['Is this OK? (yes) ', {}, { answers: ['yes', 'no'], enter: true, default: 'yes' }],
    ['Ok to proceed? (y) ', {}, { answers: ['y', 'n'], enter: true, default: 'y' }],
    ["rm: remove regular file 'a'? ", {}, { answers: ['y', 'n'], enter: true }],
    ["Type 'yes' to confirm: ", {}, { answers: ['yes', 'no'], enter: true }],
    ['  Enter a value: ', { above: ["  Only 'yes' will be accepted."] }, { answers: ['yes', 'no'], enter: true }],
    ['--More--(12%)', { echo: undefined }, { answers: ['q', 'Space'], enter: false }],
    ['Press any key to continue . . . ', {}, { answers: ['Enter'], enter: false }],
    ['Hit the space bar to go on', {}, { answers: ['Space'], enter: false }],
    ['Stage this hunk [y,n,q,/,e,?]? ', {}, { answers: ['y', 'n', 'q', '/', 'e', '?'], enter: true }],
    ['a.conf (Y/I/N/O) [default=N] ? ', {}, { answers: ['Y', 'I', 'N', 'O'], enter: true, default: 'N' }],
    ['Your choice [1-3]: ', {}, { answers: [], enter: true }],
    ['replace a? [y]es, [n]o, [A]ll: ', {}, { answers: ['y', 'n', 'A'], enter: true }],
    ['#? ', { above: ['$ select x', '1) red', '2) blue'] }, { answers: ['1', '2'], enter: true }],
    ['? Pick one (Use arrow keys)', {}, { answers: ['ArrowUp', 'ArrowDown', 'Enter'], enter: false }],
    ['package name: (demo) ', { echo: undefined }, { answers: [], enter: true, default: 'demo' }],
    ['Where to? [/usr/local] ', { quietMs: 460 }, { answers: [], enter: true, default: '/usr/local' }],
    ['Directory: ', { quietMs: 300 }, { answers: [], enter: true }],
  ] as [string, Partial<CursorView>, object][])('an agent is told what fits: %j %j', (line, more, fits) => {
    expect(question(asked(line, more))).toMatchObject({ needs: 'input', secret: false });
    expect(question(asked(line, more))?.fits).toEqual(fits);
  });

  test.each([
    ['Password: ', { echo: false }],
    ['Verification code: ', { echo: false }],
    ['Are you sure you want to continue connecting (yes/no)? ', {}],
  ] as [string, Partial<CursorView>][])('only a person can answer %j', (line, more) => {
    const found = question(asked(line, more));
    expect(found).toMatchObject({ needs: 'person' });
    expect(found).not.toHaveProperty('fits');
  });

  test('a question shows what it is about', () => {
    const above = ["The authenticity of host 'a' can't be established.", 'ED25519 key fingerprint is SHA256:abc.'];
    const line = 'Are you sure you want to continue connecting (yes/no/[fingerprint])? ';
    expect(question(asked(line, { above }))?.prompt).toBe([...above, line.trimEnd()].join('\n'));
    const select = question(asked('#? ', { above: ['$ select x', '1) red', '2) blue'] }));
    expect(select).toMatchObject({ kind: 'choice', prompt: '1) red\n2) blue\n#?' });
    const terraform = { above: ["  Only 'yes' will be accepted to approve."] };
    expect(kind('  Enter a value: ', terraform)).toBe('yes_no');
  });

  test('a secret is named by its line alone, and no question shows the line that we typed around a command', () => {
    const above = [
      "$ (__fl=$?;printf '\\033]7461;__FAIRLEAD_DONE_abc__;s\\007';exit $__fl);ssh anna@host;(__fl=$?;printf…",
    ];
    for (const line of ['(anna@host) Password: ', '[sudo] password for anna: ']) {
      expect(question(asked(line, { above, echo: false }))?.prompt).toBe(line.trimEnd());
    }
    expect(question(asked('[y/N] ', { above }))?.prompt).toBe('[y/N]');
    expect(question(asked('[y/N] ', { above: [...above, 'Really?'] }))?.prompt).toBe('Really?\n[y/N]');
    const line = 'Are you sure you want to continue connecting (yes/no)? ';
    expect(question(asked(line, { above }))?.prompt).toBe(line.trimEnd());
  });

  test('what draws a field reads for the program in the foreground; so may what asks without echo', () => {
    expect(kind('Passphrase: ', { echo: false, reads: () => false, quietMs: 450 })).toBeUndefined();
    expect(kind('Passphrase: ', { echo: false, reads: () => false, quietMs: 900 })).toBe('passphrase');
    expect(kind('Directory: ', { echo: false, reads: () => false, quietMs: 900 })).toBeUndefined();
  });

  test.each([
    'Confirm user presence for key ED25519-SK SHA256:abc',
    'Please touch the device.',
    'Tap your security key to continue',
  ])('a touch is asked of the person, although no program reads: %j', (line) => {
    const more = { above: [line], reads: () => false, quietMs: 450 };
    expect(question(asked('', more))).toMatchObject({ kind: 'touch', needs: 'person', secret: false, prompt: line });
    expect(kind('', { ...more, program: () => 'tail' })).toBeUndefined();
  });

  test('a pager says what it shows', () => {
    const less = { echo: undefined, lastRow: true, program: () => 'less', above: ['one', 'two', ''] };
    expect(question(asked(':', less))?.prompt).toBe('less: two');
    expect(question(asked('(END)', less))?.prompt).toBe('less: two (END)');
    expect(question(asked('a.txt (END)', less))?.prompt).toBe('less: a.txt (END)');
    expect(question(asked('--More--', { ...less, program: () => undefined }))?.prompt).toBe('pager: --More--');
  });

  test('no hint names a way of a face', () => {
    expect(question(asked('Password: ', { echo: false }))?.hint).toBe('A person must type it; never send it.');
  });

  test('nothing in a prompt can act on its reader', () => {
    const line = 'Pass\u202ew\u200bord\u{e0041} for \u0007x: ';
    expect(question(asked(line, { echo: false }))?.prompt).toBe('Password for x:');
  });
});

describe('no questions', () => {
  test.each([
    ['', {}],
    ['$ ', {}],
    ['root@host:~# ', { echo: undefined }],
    ['>>> ', { echo: undefined }],
    ['working...', { echo: false }],
    ['Compiling foo v1.2.3', {}],
    ['Downloading (45%)', {}],
    ['[ 12/100] Building CXX object', {}],
    ['password: ', { program: () => 'tail' }],
    ['Select one: ', { program: () => 'cat' }],
    ['What is your name? ', { quietMs: 200 }],
    ['What is your name? ', { echo: undefined, quietMs: 1000 }],
    ['Directory: ', { quietMs: 290 }],
    ['Directory:', { quietMs: 900 }],
    ['Directory: ', { quietMs: 900, reads: () => false }],
    ['Directory: ', { quietMs: 900, program: () => 'tail' }],
    ['project name: ', { echo: undefined, quietMs: 900 }],
    ['user@host: ', { echo: undefined, quietMs: 900, reads: () => true, program: () => 'ssh' }],
    ['ftp> ', { quietMs: 900, reads: () => true }],
    ['Password: ', { reads: () => false }],
    ['Password: ', { echo: false, reads: () => false }],
    ['Go on? [y/N] ', { reads: () => false }],
    ['', { quietMs: 900, reads: () => false, above: ['Press any key to continue'] }],
    ['', { quietMs: 900, reads: () => true, above: ['$ : press any key; cat'] }],
    ['press h + enter to show help', {}],
    ['Press Enter to trigger a test run.', { echo: undefined, reads: () => true }],
    [':', { echo: undefined, lastRow: true, bracketedPaste: true }],
    [':', { echo: undefined, lastRow: false }],
    [':', { echo: true, lastRow: true }],
    ['title', { echo: undefined, lastRow: true, inverse: true, program: () => 'htop' }],
    ['12:30:01 user logged in with password', {}],
    ['{"yes/no": true}', {}],
  ] as [string, Partial<CursorView>][])('%j %j', (line, more) => {
    expect(kind(line, more)).toBeUndefined();
  });

  test('long lines cost little', () => {
    const spent = cpuTimer();
    for (const part of ['(', '[y/', 'a,', 'password ', 'press enter ', '(y), ']) {
      kind(part.repeat(200_000), { quietMs: 1000 });
    }
    expect(spent()).toBeLessThan(200);
  });
});
