import { flagName, type Setting, type SettingName, settings, variableName } from '../config.ts';
import { type Option, shapeOf } from '../faces/cli/args.ts';
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
  ['session, exec, screen', 'sessions, commands in them, what they show'],
  ['workspace, orchestrate', 'save and restore sessions, drive several at once'],
  ['instance, server, system', 'running instances and their health'],
  ['person', 'what waits for you; watch terminals, take the keyboard over'],
  ['dashboard, login, client', 'open the dashboard; browsers signed in; how clients connect'],
  ['settings, theme, lang', 'colours of terminals, language and other settings'],
  ['screenshot, replay', 'pictures of sessions; recordings from any moment'],
  ['resource, sub', 'follow output by its URI'],
  ['policy, proxy, selftest', 'allowed commands, proxy of new sessions, self-test'],
])}

${bold('Try')}
  ${cyan('fairlead serve')}            ${dim('then connect an MCP client to the address it prints')}
  ${cyan('fairlead <command> --help')} ${dim('options and examples of a command')}
`;
}

export function helpFor(command: Command, style: Style): string {
  const { bold, cyan, dim } = style;
  const flags = optionsOfCommand(command).map((option) => [shapeOf(option), option.help] as const);
  const variables = command.settings
    .filter((name) => !hasFlag(name))
    .map((name) => [variableName(name), settings[name].help] as const);
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
    dim('Settings can also come from variables: --max-sessions is FAIRLEAD_MAX_SESSIONS. A flag wins.'),
  ];
  return `${parts.join('\n')}\n`;
}

const hasFlag = (name: SettingName): boolean => (settings[name] as Setting).flag !== false;

/** The options of a command, for help and completion. */
export function optionsOfCommand({ name: command, flags = [], settings: used }: Command): Option[] {
  const fromSettings = used.filter(hasFlag).map((name) => {
    const setting: Setting = settings[name];
    const { form, bare, metavar, help } = setting;
    return { name, flag: flagName(name), form, bare, metavar, help: `${help}${preset(setting, command)}` };
  });
  return [...flags, ...fromSettings];
}

function preset({ schema, defaults }: Setting, command: string): string {
  const value = schema.safeParse(defaults?.[command]);
  const plain = value.success && ['string', 'number', 'boolean'].includes(typeof value.data) && value.data !== false;
  return plain ? ` (${String(value.data)})` : '';
}
