/** The command of a line that says what its output is, without what only runs it. */
export function commandWords(line: string): readonly string[] {
  // Of a chain the first part that prints more than a word.
  for (const part of line.split(/&&|\|\||;|\n/)) {
    const words = withoutWrappers((part.split('|')[0] ?? '').trim().split(/\s+/).filter(Boolean));
    const [word = ''] = words;
    if (word !== '' && !silent.has(word))
      return [word.replace(/^.*[/\\]/, '').replace(/\.(exe|cmd)$/i, ''), ...words.slice(1)];
  }
  return [];
}

const silent = new Set([
  'cd',
  'export',
  'set',
  'source',
  '.',
  'pushd',
  'popd',
  'clear',
  'mkdir',
  'unset',
  'true',
  'echo',
]);
/** Options of these take a word of their own. */
const withValue: Readonly<Record<string, RegExp>> = {
  sudo: /^-[ugpCDhrtT]$|^--(user|group)$/,
  time: /^-[fo]$/,
  env: /^-[uCS]$|^--(unset|chdir)$/,
  npx: /^-p$|^--package$/,
  'uv run': /^--(with|python|project|extra|group|env-file)$|^-p$/,
  'poetry run': /^$/,
  python: /^-[XW]$/,
};

function withoutWrappers(words: readonly string[]): readonly string[] {
  let rest = words;
  for (let steps = 0; steps < 10; steps++) {
    while (/^[A-Za-z_]\w*=/.test(rest[0] ?? '')) rest = rest.slice(1);
    const [first = '', second = ''] = rest;
    if (first === 'sudo' || first === 'time' || first === 'env' || first === 'npx') {
      rest = withoutOptions(rest.slice(1), withValue[first]);
    } else if ((first === 'uv' || first === 'poetry') && second === 'run') {
      rest = withoutOptions(rest.slice(2), withValue[`${first} run`]);
    } else if (/^(.*\/)?python[\d.]*$/.test(first)) {
      const module = withoutOptions(rest.slice(1), withValue['python'], '-m');
      if (module[0] !== '-m') return rest;
      rest = module.slice(1);
    } else return rest;
  }
  return rest;
}

function withoutOptions(words: readonly string[], valued: RegExp | undefined, stop = ''): readonly string[] {
  let at = 0;
  while ((words[at] ?? '').startsWith('-') && words[at] !== stop) at += valued?.test(words[at] ?? '') === true ? 2 : 1;
  return words.slice(at);
}
