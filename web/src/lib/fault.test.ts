import { expect, test } from 'vitest';
import { faultWords } from './fault.ts';
import { CallFailed } from './live.ts';

const refused = new CallFailed({
  code: 'not_permitted',
  message: 'The policy does not allow rm here.',
  hint: 'Settings, Rules has the rule.',
});

test('an act that is not permitted tells the reason of the server and what to do next', () => {
  expect(faultWords(refused)).toBe('The policy does not allow rm here. Settings, Rules has the rule.');
});

test('a page that may not be read says who can change that', () => {
  expect(faultWords(refused, true)).toBe('You may not see this. An owner can change that.');
});

test('everything else has the same words for both', () => {
  const gone = new CallFailed({ code: 'not_found', message: 'There is no terminal t-9.' });
  const broken = new CallFailed({ code: 'internal', message: 'It failed.', hint: 'See incident a1-b2.' });
  for (const isRead of [false, true]) {
    expect(faultWords(gone, isRead)).toBe('There is no terminal t-9.');
    expect(faultWords(broken, isRead)).toBe('Something went wrong: a1-b2. It is in the log.');
    expect(faultWords(new Error('no link'), isRead)).toBe('no link');
  }
});
