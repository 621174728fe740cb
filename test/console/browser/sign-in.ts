import { beforeAll, describe, expect, it } from '@jest/globals';
import { letSettingsTakeEffect } from '../../../testing/call-local.ts';
import { issueViewerKey, runSuccessfully } from '../../../testing/command-line.ts';
import { findAccessibilityViolations, type RunningConsole, waitUntilLoaded } from '../../../testing/open-console.ts';
import { sampleItems } from '../../../testing/sample.ts';
import { waitFor } from '../../../testing/wait-for.ts';

let running: RunningConsole;

export function describeSignIn(getRunning: () => Promise<RunningConsole>): void {
  beforeAll(async () => {
    running = await getRunning();
  });

  describe('sign-in', () => {
    it('signs in by the link of npm start and removes the key from the address bar and the history', async () => {
      const { page, problems } = await running.open('/', { isNewTab: true });
      const { secretKey, baseUrl } = running.service;
      expect(page.url()).toBe(`${baseUrl}/console#/`);
      expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(secretKey);
      await page.reload();
      await page.locator('#navigation').waitFor();
      expect(problems).toEqual([]);
      await page.goBack();
      expect(page.url()).toBe('about:blank');
    });

    it('opens the page that the link names', async () => {
      const { page, problems } = await running.open('/customers?q=a&skip=0', { isNewTab: true });
      await page.getByRole('heading', { name: 'Customers', level: 1 }).waitFor();
      expect(page.url()).toBe(`${running.service.baseUrl}/console#/customers?q=a&skip=0`);
      expect(problems).toEqual([]);
    });

    it('sends the key in a header only', async () => {
      const { page } = await running.openSignedOut();
      const urls: string[] = [];
      page.on('request', (request) => urls.push(request.url()));
      await page.goto(running.service.consoleUrl);
      await page.locator('#navigation').waitFor();
      expect(urls).toContain(`${running.service.baseUrl}/v3/app`);
      for (const url of urls) expect(url).not.toContain(running.service.secretKey);
    });

    it('signs in by a link that is opened while the console starts', async () => {
      const { page } = await running.openSignedOut();
      await page.addInitScript((link) => {
        const register = globalThis.addEventListener;
        globalThis.addEventListener = (...args: Parameters<typeof register>) => {
          if (args[0] === 'hashchange') {
            // The event of this change precedes the first listener, so that it is lost.
            globalThis.history.replaceState(null, '', link);
            globalThis.addEventListener = register;
          }
          register(...args);
        };
      }, running.service.consoleUrl);
      await page.reload();
      await page.locator('#navigation').waitFor();
      expect(page.url()).toBe(`${running.service.baseUrl}/console#/`);
    });

    it('signs in by the form, signs out, and deletes the key from the tab', async () => {
      const signedOut = await running.openSignedOut();
      const { page } = signedOut;
      const { appName, secretKey } = running.service;
      await page.getByLabel('App name').fill(appName);
      await page.getByLabel('Key').fill(` ${secretKey} `);
      await page.getByLabel('Key').press('Enter');
      await waitUntilLoaded(signedOut);
      await page.locator('.session summary').click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(await page.evaluate('JSON.stringify(sessionStorage)')).toBe('{}');
    });

    it.each([
      ['a wrong key', () => 'sec_wrong', 'The app has no such key. Check the key, or request a new one.'],
      [
        'the public key',
        () => running.service.publicKey,
        'The secret key is required. Sign in with the secret key, or with a viewer key',
      ],
    ])('explains why it rejects %s', async (_name, getKey, sentence) => {
      const { page } = await running.openSignedOut();
      await page.getByLabel('App name').fill(running.service.appName);
      await page.getByLabel('Key').fill(getKey());
      await page.getByRole('button', { name: 'Sign in' }).click();
      expect(await page.getByRole('alert').textContent()).toContain(sentence);
    });

    it('states that the service has rejected the key of a session', async () => {
      const { appName, environment } = running.service;
      const viewer = await running.open('/', { key: await issueViewerKey(running.service, running.service.appName) });
      const { page } = viewer;
      const keys = JSON.parse(await runSuccessfully(environment, ['--json', 'key', 'list', appName]));
      const { id } = keys.find(({ level }: { readonly level: string }) => level === 'viewer');
      await runSuccessfully(environment, ['key', 'revoke', appName, id]);
      const sentence = page.getByText(
        'The service has rejected the key: it was revoked or replaced, or it has expired.',
      );
      await letSettingsTakeEffect(running.service);
      await waitFor('the end of the session', async () => {
        for (const path of ['/customers', '/transactions']) await viewer.go(path);
        return await sentence.isVisible();
      });
      expect(await page.evaluate('JSON.stringify(sessionStorage)')).toBe('{}');
    });

    it('moves the focus to the title of a page, and from a closed dialog back to its button', async () => {
      const signedIn = await running.open('/');
      const { page } = signedIn;
      await waitUntilLoaded(signedIn);
      for (const name of ['Webhooks', 'Stores', 'Customers']) {
        await page.getByRole('navigation').getByRole('link', { name }).focus();
        await page.keyboard.press('Enter');
        await waitUntilLoaded(signedIn);
        await page.locator('h1:focus', { hasText: name }).waitFor();
        await page.waitForFunction((title) => document.title.startsWith(title), `${name} · ${running.service.appName}`);
      }
      await page.goBack();
      await page.goBack();
      await waitUntilLoaded(signedIn);
      const button = page.getByRole('button', { name: 'Send a test' });
      await button.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      await page.locator('button:focus', { hasText: 'Send a test' }).waitFor();
    });

    it.each(sampleItems(['light', 'dark'] as const, 1))('passes axe in the %s theme', async (theme) => {
      const signedOut = await running.openSignedOut({ theme });
      await signedOut.page.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(await findAccessibilityViolations(signedOut)).toEqual([]);
      expect(signedOut.problems).toEqual([]);
    });
  });
}
