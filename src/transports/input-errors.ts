import { FairleadError } from '../contract/errors.ts';

export function inputAfterEnd(): FairleadError {
  return new FairleadError('terminal_exited', 'The program in this terminal has ended; it takes no input.', {
    hint: 'Read its last output, or open a new terminal.',
  });
}

export function inputNotRead(): FairleadError {
  return new FairleadError('limit_reached', 'The program in this terminal is not reading its input.', {
    hint: 'Wait until earlier input was accepted, or interrupt the program.',
  });
}
