import { flagName, type Setting, settings, variableName } from '../config.ts';
import { columns, type Style } from '../faces/cli/style.ts';
import type { Command } from './command.ts';

export function overview(commands: readonly Command[], version: string, style: Style): string {
  const { bold, cyan, dim } = style;
  return `${bold('Fairlead')} ${version}: one terminal control plane for AI agents and the people who supervise them.

${bold('Usage')}
  fairlead <command> [options]

${bold('Commands')}
${columns(commands.map(({ name, summary }) => [name, summary] as const))}

${bold('Drive a running instance')}
${columns([
  ['session, exec, screen', 'sessions by number, commands in them, what they show'],
  ['workspace, orchestrate', 'layouts to come back to, several sessions at once'],
  ['instance, server, system', 'who runs, and how it is'],
  ['policy, proxy, selftest', 'what may run, the proxy of new sessions, whether all is well'],
])}

${bold('Try')}
  ${cyan('fairlead serve')}            ${dim('then connect an MCP client to the address it prints')}
  ${cyan('fairlead <command> --help')} ${dim('what a command takes')}
`;
}

export function helpFor(command: Command, style: Style): string {
  const { bold, cyan, dim } = style;
  const flags: [string, string][] = (command.flags ?? []).map(({ flag, metavar, help }) => [
    metavar === undefined ? flag : `${flag} <${metavar}>`,
    help,
  ]);
  const variables: [string, string][] = [];
  for (const name of command.settings) {
    const setting: Setting = settings[name];
    if (setting.flag === false) variables.push([variableName(name), setting.help]);
    else flags.push([shape(name, setting), `${setting.help}${preset(setting, command.name)}`]);
  }
  const parts = [
    `${bold('fairlead')} ${bold(command.name)}: ${command.summary}\n`,
    ...(command.details ? [`${command.details}\n`] : []),
    `${bold('Usage')}\n  fairlead ${command.name} ${command.usage}\n`,
    `${bold('Options')}\n${columns(flags)}\n`,
    ...(variables.length > 0 ? [`${bold('Environment')}\n${columns(variables)}\n`] : []),
    ...(command.examples
      ? [
          `${bold('Examples')}\n${command.examples.map(([line, why]) => `  ${cyan(line)}\n      ${dim(why)}`).join('\n')}\n`,
        ]
      : []),
    dim('Every option is also a variable: --max-sessions is FAIRLEAD_MAX_SESSIONS. A flag wins.'),
  ];
  return `${parts.join('\n')}\n`;
}

function shape(name: string, setting: Setting): string {
  const flag = flagName(name);
  if (setting.form === 'switch') return flag;
  return setting.form === 'optional' ? `${flag}[=${setting.metavar}]` : `${flag} <${setting.metavar}>`;
}

function preset({ schema, defaults }: Setting, command: string): string {
  const value = schema.safeParse(defaults?.[command]);
  const plain = value.success && ['string', 'number', 'boolean'].includes(typeof value.data) && value.data !== false;
  return plain ? ` (${String(value.data)})` : '';
}
