/** Variables that programs read as further words of their own command line. Each is judged as that command line. */

const options: Readonly<Record<string, string>> = {
  TAR_OPTIONS: 'tar',
  ZIPOPT: 'zip',
  MAKEFLAGS: 'make',
  MFLAGS: 'make',
  GNUMAKEFLAGS: 'make',
  FZF_DEFAULT_OPTS: 'fzf',
  PERL5OPT: 'perl',
  RUBYOPT: 'ruby',
  NODE_OPTIONS: 'node',
  JAVA_TOOL_OPTIONS: 'java',
  _JAVA_OPTIONS: 'java',
  JDK_JAVA_OPTIONS: 'java',
};

/** Their value is code of that program, or one word that holds all of the options. */
const single: Readonly<Record<string, string>> = {
  PERL5DB: 'perl -e',
  LUA_INIT: 'lua -e',
  VIMINIT: 'vim -c',
  GVIMINIT: 'vim -c',
  EXINIT: 'ex -c',
  LESS: 'less',
  MORE: 'more',
};

export const isOptionVariable = (name: string): boolean => Object.hasOwn(options, name) || Object.hasOwn(single, name);

/** The command line that a value amounts to; the last word keeps an interpreter from reading its input. */
export function commandOfOptions(name: string, value: string): string {
  const program = options[name];
  if (program !== undefined) return `${program} ${/^\w/.test(value) ? '-' : ''}${value} ./file`;
  const whole = /^(?:LESS|MORE)$/.test(name) && /^[^-+]/.test(value) ? `-${value}` : value;
  return `${single[name]} '${whole.replaceAll("'", "'\\''")}' ./file`;
}
