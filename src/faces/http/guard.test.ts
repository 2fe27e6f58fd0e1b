import { expect, test } from 'vitest';
import { checkHost, checkOrigin, checkToken } from './guard.ts';

const rules = { token: 'right', allowedHosts: ['fairlead.example'], allowedOrigins: ['https://app.example'] };

test.each(['localhost', 'localhost:7000', 'LOCALHOST:1', '127.0.0.1:80', '[::1]:80', '[::1]', 'fairlead.example:443'])(
  'the host %s is served',
  (host) => {
    expect(checkHost({ host }, rules)).toBeUndefined();
  },
);

test.each([
  undefined,
  '',
  'evil.example',
  'localhost.evil.example',
  'localhost:80@evil.example',
  '127.0.0.1.evil.example:80',
  '0.0.0.0',
  'localhost:http',
])('the host %s is refused', (host) => {
  expect(checkHost({ ...(host !== undefined && { host }) }, rules)?.status).toBe(403);
});

test('a refusal names the flag that would let it in', () => {
  expect(checkHost({ host: 'Box.example:80' }, rules)?.hint).toContain('--allow-host box.example.');
  expect(checkOrigin({ host: 'localhost', origin: 'https://other.example' }, rules)?.hint).toContain('--allow-origin');
});

test.each([undefined, 'http://localhost:7000', 'https://localhost:7000', 'https://app.example'])(
  'the origin %s may call',
  (origin) => {
    expect(checkOrigin({ host: 'localhost:7000', ...(origin !== undefined && { origin }) }, rules)).toBeUndefined();
  },
);

test.each(['null', '', 'http://localhost:7001', 'http://evil.example', 'https://app.example.evil', 'file://'])(
  'the origin %s may not',
  (origin) => {
    expect(checkOrigin({ host: 'localhost:7000', origin }, rules)?.status).toBe(403);
  },
);

test.each(['Bearer right', 'bearer right', 'Bearer  right '])('the authorization %j is accepted', (authorization) => {
  expect(checkToken({ authorization }, rules)).toBeUndefined();
});

test.each(['', 'right', 'Basic right', 'Bearer', 'Bearer wrong', 'Bearer right wrong', 'Bearer rightmore'])(
  'the authorization %j is not, and the answer tells how to do better',
  (authorization) => {
    const refusal = checkToken({ authorization }, rules);
    expect(refusal?.status).toBe(401);
    expect(refusal?.headers?.['www-authenticate']).toMatch(/^Bearer realm="fairlead"/);
    expect(JSON.stringify(refusal)).not.toContain('right');
  },
);

test('without a token everyone is let in', () => {
  expect(checkToken({}, { allowedHosts: [], allowedOrigins: [] })).toBeUndefined();
});
