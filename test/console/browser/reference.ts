import { beforeAll, describe, expect, it } from '@jest/globals';
import { contracts } from '../../../lib/contracts/index.ts';
import { issueViewerKey } from '../../../testing/command-line.ts';
import { expectUsablePage } from '../../../testing/expect-usable-page.ts';
import { type RunningConsole, waitUntilLoaded } from '../../../testing/open-console.ts';

let running: RunningConsole;

export function describeReference(getRunning: () => Promise<RunningConsole>): void {
  beforeAll(async () => {
    running = await getRunning();
  });

  describe('API reference', () => {
    it('lists the operation of each contract', async () => {
      await expectUsablePage(running, '/reference', 'API reference');
      const consolePage = await running.open('/reference');
      await waitUntilLoaded(consolePage);
      const operations = contracts.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
      expect((await consolePage.page.locator('main .path').allTextContents()).sort()).toEqual(operations.sort());
    });

    it('calls an operation with the key of the session and shows the response', async () => {
      const { page, problems } = await running.open('/reference/get-customer-purchases');
      await page.getByLabel('applicationUsername').fill('a/b?c');
      await page.getByRole('button', { name: 'Send the request' }).click();
      const response = await page.getByRole('region', { name: 'response', exact: true }).textContent();
      expect(JSON.parse(response ?? '')).toEqual({ applicationUsername: 'a/b?c', purchases: {} });
      expect(problems).toEqual([]);
    });

    it('offers a viewer key neither changes nor the parameter with which a GET request changes data', async () => {
      const path = '/reference/get-processor-purchases';
      const secret = await running.open(path);
      await secret.page.getByLabel('accessToken').waitFor();
      const viewer = await running.open(path, { key: await issueViewerKey(running.service, running.service.appName) });
      await viewer.page.getByRole('button', { name: 'Send the request' }).waitFor();
      expect(await viewer.page.getByLabel('accessToken').count()).toBe(0);
      await viewer.go('/reference/add-customer-purchase');
      await viewer.page.getByText('A viewer key can only read.').waitFor();
    });

    it('shows an operation with a body in a usable page', async () => {
      await expectUsablePage(
        running,
        '/reference/add-customer-purchase',
        'POST /v3/customers/{applicationUsername}/purchases',
      );
    });
  });
}
