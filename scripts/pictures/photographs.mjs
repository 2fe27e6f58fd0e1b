// Where to stand for each picture.
const desk = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };

export async function photographs({ browser, url, link, ids, claude, codex, take }) {
  const first = await browser.newContext({ viewport: desk, colorScheme: 'dark' });
  const page = await first.newPage();
  page.setDefaultTimeout(20_000);
  const settle = (which = page) => which.waitForTimeout(900);
  const at = async (path, which = page) => {
    await which.goto(`${url}${path}`);
    await which.locator('h1').first().waitFor();
    await settle(which);
  };
  const show = async (name, path, which = page) => {
    await at(path, which);
    await which.mouse.move(0, 0);
    await take(name, which);
  };
  const button = (name) => page.getByRole('button', { name, exact: true }).first();

  await page.goto(`${url}/login`);
  await settle();
  await take('login', page);
  await page.goto(link());
  await page.getByRole('heading', { name: 'Now' }).waitFor();
  await page.getByRole('button', { name: 'Skip', exact: true }).click();

  // One password is given in the page, the next one waits.
  await claude.run(ids.restart, 'sudo install -m 644 shop.conf /etc/shop/', 2000);
  await at(`/asks/${ids.restart}`);
  await page.getByLabel('Secret').fill('not-kept-anywhere');
  await page.getByLabel('Secret').press('Enter');
  await page.waitForTimeout(1500);
  await claude.run(ids.restart, 'git log --oneline -3');
  await claude.run(ids.restart, 'sudo systemctl restart shop-api', 2000);

  await show('dashboard', '/');
  await show('ask', `/asks/${ids.restart}`);
  await show('terminal', `/t/${ids.restart}`);
  await show('agents', '/agents');
  await page
    .getByRole('table')
    .getByRole('link', { name: /Claude Code/ })
    .first()
    .click();
  await settle();
  const row = page.getByRole('list', { name: 'Calls' }).getByRole('button').filter({ hasText: 'wc -c dist' }).first();
  await row.click();
  await page.waitForTimeout(2500);
  await take('agent', page);
  await show('timeline', '/timeline');
  await show('recordings', '/recordings');
  const recording = await page
    .getByRole('link', { name: /release 4/ })
    .first()
    .getAttribute('href');
  await at(`${recording.split('?')[0]}?t=4`);
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await page.waitForTimeout(1200);
  await take('recording', page);
  await show('machines', '/machines');
  await at('/?new=');
  await page.waitForTimeout(800);
  await take('new-terminal', page);
  await show('connect', '/profile/tokens');
  await show('profile', '/profile');
  await show('audit', '/audit');
  await at('/workspaces');
  await page.getByLabel('Save what is open as').fill('shop');
  await page.keyboard.press('Enter');
  await page.getByText('1 saved').waitFor();
  await settle();
  await take('workspaces', page);
  await show('health', '/health');
  await show('settings-appearance', '/settings/appearance');
  await show('settings-rules', '/settings/rules');
  await at('/');
  await page.keyboard.press('Control+k');
  await settle();
  await page.keyboard.type('sh');
  await settle();
  await take('palette', page);

  const withLook = async (options) => {
    const context = await browser.newContext({ storageState: await first.storageState(), ...options });
    const other = await context.newPage();
    other.setDefaultTimeout(20_000);
    return other;
  };
  const light = await withLook({ viewport: desk, colorScheme: 'light' });
  await show('dashboard-light', '/', light);
  await show('terminal-light', `/t/${ids.restart}`, light);
  await show('settings-light', '/settings/appearance', light);
  await light.context().close();
  const hand = { viewport: phone, isMobile: true, hasTouch: true };
  const small = await withLook({ ...hand, colorScheme: 'dark' });
  await show('dashboard-phone', '/', small);
  await show('ask-phone', `/asks/${ids.restart}`, small);
  await show('terminal-phone', `/t/${ids.restart}`, small);
  await show('agents-phone', '/agents', small);
  await show('timeline-phone', '/timeline', small);
  await show('recording-phone', `${recording.split('?')[0]}?t=6`, small);
  await small.context().close();
  const smallLight = await withLook({ ...hand, colorScheme: 'light' });
  await show('dashboard-phone-light', '/', smallLight);
  await smallLight.context().close();

  const waits = claude.call('terminal_run', { terminal: ids.server, timeoutMs: 20_000 }).catch(() => undefined);
  await at(`/t/${ids.server}`);
  await page.locator('.xterm-helper-textarea').focus();
  await page.keyboard.type('x');
  await page.getByText('is typing here.').filter({ visible: true }).first().waitFor();
  await page.keyboard.press('Control+Enter');
  await settle();
  await take('take-over-ask', page);
  await button('Take over now').click();
  await settle();
  await take('take-over', page);
  await button('Hand back').click();
  await settle();
  await page.keyboard.press('Enter');
  await settle();

  await at('/');
  await button('Pause everything').click();
  await page.getByRole('button', { name: 'Resume…' }).waitFor();
  const held = [
    claude.run(ids.release, 'git push origin main --tags'),
    claude.run(ids.release, 'npm publish --dry-run'),
    codex.run(ids.lint, 'npm run build'),
  ].map((call) => call.catch(() => undefined));
  await page.getByText('3 calls are held').waitFor();
  await page.getByRole('button', { name: 'Resume…' }).click();
  await settle();
  await take('paused', page);
  await page.getByRole('button', { name: /^Resume, drop all/ }).click();
  await Promise.all([...held, waits]);
}
