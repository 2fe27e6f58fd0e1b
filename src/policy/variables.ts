import { isOptionVariable } from './option-variables.ts';

/** Variables that decide what is run, and how much a policy can tell from their value. */
type VariableKind =
  /** Its value is a command line. */
  | 'command'
  /** Its value is expanded as if it stood in double quotes. */
  | 'prompt'
  /** Its value is further words of a program's command line. */
  | 'options'
  /** Its value cannot be judged: a library, a function, settings of another program. */
  | 'refused'
  /** A table of the shell: one entry of it is a command. As a plain variable it means nothing. */
  | 'table'
  /** Where programs and their settings are found: an allowed name may come to mean another program. */
  | 'place';

const words = (text: string): readonly string[] => text.split(' ');

const kinds: ReadonlyMap<string, VariableKind> = new Map([
  ...words(
    'PROMPT_COMMAND VISUAL FCEDIT LESSOPEN LESSCLOSE NULLCMD READNULLCMD SHELL RSYNC_CONNECT_PROG BORG_PASSCOMMAND TEXEDIT',
  ).map((name) => [name, 'command'] as const),
  ...words(
    'PS0 PS1 PS2 PS3 PS4 PROMPT PROMPT2 PROMPT3 PROMPT4 RPS1 RPS2 RPROMPT RPROMPT2 SPROMPT prompt POSTEDIT BASH_ENV ENV MAILPATH mailpath',
  ).map((name) => [name, 'prompt'] as const),
  ...words(
    'LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES GCONV_PATH LESSKEY_CONTENT GIT_ALLOW_PROTOCOL histchars HISTCHARS SHELLOPTS BASHOPTS INPUTRC GIT_EXEC_PATH BASH_LOADABLES_PATH ' +
      'precmd_functions preexec_functions chpwd_functions periodic_functions zshexit_functions zshaddhistory_functions',
  ).map((name) => [name, 'refused'] as const),
  ...words('aliases galiases saliases functions commands BASH_ALIASES BASH_CMDS').map(
    (name) => [name, 'table'] as const,
  ),
  ...words(
    'PATH path FPATH fpath LD_LIBRARY_PATH DYLD_LIBRARY_PATH MODULE_PATH module_path ZDOTDIR HOME XDG_CONFIG_HOME ' +
      'fish_function_path fish_user_paths GIT_TEMPLATE_DIR GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_DIR GIT_COMMON_DIR ' +
      'LESSKEY LESSKEYIN LESSKEY_SYSTEM LESSKEYIN_SYSTEM XDG_CONFIG_DIRS PYTHONSTARTUP PYTHONPATH PYTHONHOME PERL5LIB PERLLIB ' +
      'RUBYLIB GEM_HOME GEM_PATH NODE_PATH LUA_PATH LUA_CPATH CLASSPATH AWKPATH AWKLIBPATH EMACSLOADPATH VIM VIMRUNTIME ' +
      'MAKEFILES IRBRC PSQLRC SCREENRC WGETRC HGRCPATH APT_CONFIG RIPGREP_CONFIG_PATH OPENSSL_CONF OPENSSL_ENGINES ' +
      'OPENSSL_MODULES MAILCAPS',
  ).map((name) => [name, 'place'] as const),
]);

/** `GIT_PAGER`, `MANPAGER`, `SUDO_EDITOR`, `SSH_ASKPASS`, `RSYNC_RSH`, `GIT_SSH_COMMAND`: programs for others to start. */
const startedByOthers = /(?:PAGER|EDITOR|ASKPASS|BROWSER|_RSH|_SSH|_COMMAND|_EXTERNAL_DIFF)$/;
/** `BASH_FUNC_ls%%` is a function to every bash below; `GIT_CONFIG_KEY_0` is any setting of git. */
const whole = /^(?:BASH_FUNC_|GIT_CONFIG_(?:COUNT|KEY_|VALUE_|PARAMETERS)|dis_(?:aliases|functions))/;

/** Undefined: an ordinary variable. */
export function kindOf(name: string): VariableKind | undefined {
  if (isOptionVariable(name)) return 'options';
  return kinds.get(name) ?? (whole.test(name) ? 'refused' : startedByOthers.test(name) ? 'command' : undefined);
}

/** How a function of another shell looks in the environment. */
export const isFunction = (value: string): boolean => /^\(\)\s*\{/.test(value);
