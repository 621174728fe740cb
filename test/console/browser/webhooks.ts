import { beforeAll, describe, expect, it } from '@jest/globals';
import { startApplicationServer } from '../../../testing/application-server.ts';
import { letSettingsTakeEffect } from '../../../testing/call-local.ts';
import { runCommand } from '../../../testing/command-line.ts';
import { emulatorSteps, listProblems, performStep } from '../../../testing/emulator-steps.ts';
import { expectUsablePage } from '../../../testing/expect-usable-page.ts';
import type { ConsolePage, RunningConsole } from '../../../testing/open-console.ts';

let running: RunningConsole;

const click = async ({ page }: ConsolePage, name: string | RegExp) =>
  await page.locator('main').getByRole('button', { name }).first().click();

export function describeWebhooks(getRunning: () => Promise<RunningConsole>): void {
  beforeAll(async () => {
    running = await getRunning();
  });

  describe('Webhooks page', () => {
    it('says what to do next while the service has sent nothing', async () => {
      await expectUsablePage(running, '/webhooks', 'Webhooks');
      const { page } = await running.open('/webhooks');
      await page.getByText('The service has not sent a webhook.').waitFor();
    });

    it('sends a test webhook, and shows its attempt with the response and the duration', async () => {
      const consolePage = await running.open('/webhooks');
      const { page } = consolePage;
      await click(consolePage, 'Send a test');
      await page.getByRole('dialog').getByRole('button', { name: 'Send a test' }).click();
      await page.getByRole('link', { name: 'TEST' }).click();
      await page.getByRole('heading', { name: 'Webhook TEST', level: 1 }).waitFor();
      await page
        .getByRole('row')
        .filter({ hasText: 'HTTP 200' })
        .filter({ hasText: / ms| s/ })
        .waitFor();
      expect(listProblems(consolePage)).toEqual([]);
      await expectUsablePage(running, page.url().split('#')[1] ?? '', 'Webhook TEST');
    });

    it('replays a delivery, and the delivered ones of a period after it has said how many', async () => {
      const consolePage = await running.open('/emulator');
      const { page } = consolePage;
      // The store account with the other name has purchases of the demo app, which a validation would add to the
      // figures.
      await page.getByLabel('Customer', { exact: true }).fill('customer of a replay');
      const [buy] = emulatorSteps;
      if (buy) await performStep(page, buy);
      await page.getByRole('list', { name: 'Webhooks to the app' }).getByRole('link', { name: 'PURCHASED' }).click();
      await click(consolePage, 'Replay');
      await page.getByText('1 delivery is sent again').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click();
      await page.getByRole('row').filter({ hasText: 'HTTP 200' }).nth(1).waitFor();
      await consolePage.go('/webhooks?state=delivered');
      await click(consolePage, /^Retry all delivered/);
      const sentence = page.getByText(/delivered deliver(y is|ies are) sent again/);
      await sentence.waitFor();
      const count = Number.parseInt((await sentence.textContent()) ?? '', 10);
      expect(count).toBe(
        await page.getByRole('region', { name: 'Table: Webhook deliveries' }).locator('tbody tr').count(),
      );
      await page.getByRole('dialog').getByRole('button', { name: 'Retry' }).click();
      await page.locator('output', { hasText: `${count} deliveries are enqueued.` }).waitFor({ state: 'attached' });
      expect(listProblems(consolePage)).toEqual([]);
    });

    it('shows an error of an action once, and stays open while the action is in progress', async () => {
      const consolePage = await running.open('/webhooks');
      const { page } = consolePage;
      const dialog = page.getByRole('dialog');
      await click(consolePage, 'Send a test');
      let respond = async () => {};
      const requested = new Promise<void>((resolve) => {
        page.route(/\/v3\/webhooks\/test$/, (route) => {
          respond = async () =>
            await route.fulfill({ status: 500, json: { ok: false, code: 'InternalError', message: '-' } });
          resolve();
        });
      });
      await dialog.getByRole('button', { name: 'Send a test' }).click();
      await requested;
      await page.keyboard.press('Escape');
      await respond();
      await dialog.getByRole('alert').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await click(consolePage, 'Send a test');
      await dialog.getByText('The service sends a webhook of the type "test"').waitFor();
      expect(await dialog.getByRole('alert').count()).toBe(0);
    });

    it('explains the verification of signatures per language, by keyboard', async () => {
      const { page } = await running.open('/webhooks');
      await page.getByRole('tab', { name: 'Node.js' }).focus();
      await page.keyboard.press('ArrowRight');
      await page.getByRole('tabpanel').filter({ hasText: 'from standardwebhooks.webhooks import Webhook' }).waitFor();
      await page.waitForURL(/language=python/);
      await page.locator('[role=tab]:focus', { hasText: 'Python' }).waitFor();
    });

    it('shows the failure and the body of a failed attempt, and follows the attempts', async () => {
      const server = await startApplicationServer();
      server.respondWith({ status: 500, body: 'Out of order' });
      await runCommand(running.service.environment, [
        'app',
        'set-webhook',
        running.service.appName,
        '--url',
        server.url,
      ]);
      await letSettingsTakeEffect(running.service);
      const { page } = await running.open('/webhooks');
      await page.getByRole('button', { name: 'Send a test' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Send a test' }).click();
      await page.getByRole('row').filter({ hasText: 'TEST' }).filter({ hasText: 'HTTP 500' }).first().waitFor();
      await page.getByRole('link', { name: 'TEST' }).first().click();
      const attempts = page.getByRole('region', { name: 'Table: Attempts' });
      await attempts
        .getByRole('row')
        .filter({ hasText: 'HTTP 500' })
        .filter({ hasText: 'The server responded with 500.' })
        .filter({ hasText: 'Out of order' })
        .first()
        .waitFor();
      await server.close();
    });

    it('says how to set the webhook URL that an app lacks', async () => {
      await runCommand(running.service.environment, ['app', 'set-webhook', running.service.appName, '--off']);
      await letSettingsTakeEffect(running.service);
      const { page } = await running.open('/webhooks');
      await page.getByText('The app has no webhook URL').waitFor();
    });
  });
}
