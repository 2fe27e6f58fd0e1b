import type { Prompt } from './prompt.ts';
import { instructionsFor } from './instructions.ts';
import { fits, type Offer, type Words, wordsFor } from './offer.ts';
import { sshPrompts } from './remote/prompts.ts';

const required = (name: string, description: string) => ({ name, description, required: true });
const optional = (name: string, description: string) => ({ name, description, required: false });

/** Ready-made prompts that name only offered tools. A prompt that needs others is left out. */
export const promptsFor = (offer: Offer): readonly Prompt[] => [
  {
    name: 'tool-usage',
    title: 'How to use the terminal tools',
    description: 'How to use the terminal tools well.',
    arguments: [optional('task', 'What you want to do')],
    text: ({ task }) => `${instructionsFor(offer)}${task ? `\n\nThe task: ${task}` : ''}`,
  },
  ...recipes.flatMap(({ ways, text, ...recipe }) => {
    const how = wordsFor(offer, ways);
    return how === undefined ? [] : [{ ...recipe, text: (values: Values) => text(values, how) }];
  }),
  ...sshPrompts.filter(fits(offer)),
];

type Values = Parameters<Prompt['text']>[0];

interface Recipe extends Omit<Prompt, 'text'> {
  /** The step that uses tools, best wording first. */
  readonly ways: readonly Words[];
  readonly text: (values: Values, how: string) => string;
}

const recipes: readonly Recipe[] = [
  {
    name: 'run-command',
    title: 'Run a command',
    description: 'Run one command and report its result.',
    arguments: [required('command', 'The command to run'), optional('cwd', 'Directory to run it in')],
    ways: [
      {
        tools: ['terminal_run'],
        text: 'Use terminal_run. If it is still running when time runs out, call terminal_run without command to keep waiting.',
      },
      {
        tools: ['type', 'getContent'],
        text: 'Type it with submit: true, then read with getContent and lastCommand: true; wait with waitFor, not by reading again.',
      },
      { tools: ['exec_run_wait'], text: 'Use exec_run_wait.' },
    ],
    text: ({ command, cwd }, how) =>
      `Run this command in the terminal${cwd ? `, in the directory ${cwd}` : ''}:\n\n${command}\n\n${how} ` +
      'If it needs a person, stop and ask me. Then tell me the exit code and the lines that matter.',
  },
  {
    name: 'drive-tui',
    title: 'Drive a full-screen program',
    description: 'Work in a full-screen program such as an editor or a monitor.',
    arguments: [required('program', 'The program to start'), required('goal', 'What to achieve in it')],
    ways: [
      {
        tools: ['terminal_send', 'terminal_wait'],
        text: 'After each terminal_send, terminal_wait for what should appear; its answer shows the screen.',
      },
      {
        tools: ['sendKey', 'type', 'takeScreenshot'],
        text: 'Press keys with sendKey, type text with type, and look with takeScreenshot after each step.',
      },
      {
        tools: ['session_input', 'screen_text'],
        text: 'Type and press keys with session_input, and look with screen_text after each step.',
      },
    ],
    text: ({ program, goal }, how) =>
      `Start ${program} in a terminal of its own and do this: ${goal}\n\n${how} ` +
      'Leave the program the proper way, check that its effect is there, then close the terminal.',
  },
  {
    name: 'record-demo',
    title: 'Record a demo',
    description: 'Record a short terminal demo as an asciicast.',
    arguments: [required('steps', 'What the demo shows'), optional('title', 'Title of the recording')],
    ways: [
      {
        tools: ['clear', 'startRecording', 'stopRecording'],
        text: 'Clear the terminal, startRecording, do the steps at a calm pace, stopRecording',
      },
      {
        tools: ['terminal_record'],
        text: 'terminal_record start, do the steps at a calm pace, terminal_record stop',
      },
    ],
    text: ({ steps, title }, how) =>
      `Record a terminal demo${title ? ` titled "${title}"` : ''}: ${steps}\n\n${how}, and give me the path. ` +
      'It plays with: fairlead play <path>',
  },
  {
    name: 'debug-failure',
    title: 'Debug a failing command',
    description: 'Find out why a command fails.',
    arguments: [required('command', 'The command that fails'), optional('symptom', 'What you saw')],
    ways: [['terminal_run'], ['type', 'getContent'], ['exec_run_wait']].map((tools) => ({ tools, text: 'Run it' })),
    text: ({ command, symptom }, how) =>
      `This command fails: ${command}${symptom ? `\nWhat I saw: ${symptom}` : ''}\n\n` +
      `${how}, form one hypothesis at a time and test it in the terminal. Change nothing outside the working directory. Tell me the cause, the evidence, and the smallest fix.`,
  },
];
