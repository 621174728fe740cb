import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type ApplicationServer, startApplicationServer } from '../../../testing/application-server.ts';
import { callLocalControl, callLocalService, type Json, letSettingsTakeEffect } from '../../../testing/call-local.ts';
import { runSuccessfully } from '../../../testing/command-line.ts';
import { listProblems } from '../../../testing/emulator-steps.ts';
import {
  type ConsolePage,
  findAccessibilityViolations,
  getHorizontalOverflow,
  type RunningConsole,
  waitUntilLoaded,
} from '../../../testing/open-console.ts';
import { sampleItems } from '../../../testing/sample.ts';
import { waitFor } from '../../../testing/wait-for.ts';

/** Text without a place for a line break, with characters that are invisible or change the direction of text. */
const createName = (start: string, length = 120): string => `${start}\u202egpj.\u202c\u0007\u200b`.padEnd(length, 'mW');

const user = createName('customer');
const product = createName('product');

let running: RunningConsole;

const toPath = (folder: string, id: string): string => `/${folder}/${encodeURIComponent(id)}`;

async function buy(order: object): Promise<{ readonly id: string; readonly purchaseId: string }> {
  const { service } = running;
  const { id, validate } = await callLocalControl(service, '/purchases', {
    platform: 'store_a',
    applicationUsername: user,
    ...order,
  });
  const { body } = await callLocalService(service, '/v1/validate', validate);
  if (body.ok !== true) throw new Error(`The purchase is rejected: ${JSON.stringify(body)}`);
  return { id, purchaseId: `store_a:${body.data.collection[0].purchaseId}` };
}

/** Sets what operators name: a webhook URL, a product with its entitlement, a key. Sends notifications to the app. */
async function givenNamedSettings({ url }: ApplicationServer): Promise<void> {
  const { service } = running;
  const { appName } = service;
  const entitlements = ['premium'.padEnd(64, 'm')];
  const catalogue = { [`store_a:${product}`]: { type: 'paid subscription', group: createName('group'), entitlements } };
  for (const [args, input] of [
    [['app', 'set-webhook', appName, '--url', `${url}/${'segment/'.repeat(15)}`]],
    [['app', 'set-catalogue', appName, '-'], JSON.stringify(catalogue)],
    [['key', 'create', appName, '--level', 'viewer', '--name', 'viewer'.padEnd(64, 'm')]],
  ] as const)
    await runSuccessfully(service.environment, args, input);
  const init = {
    method: 'PUT',
    body: JSON.stringify({ url: `${service.baseUrl}/v3/webhook/store_a/${appName}` }),
  };
  expect((await fetch(`${service.emulatorUrl}/control/notifications/store_a`, init)).status).toBe(200);
  await letSettingsTakeEffect(service);
}

/**
 * Creates purchases, a second claim, a grant, a refund request, and webhooks that fail. Returns the paths of all pages
 * that show names.
 */
async function givenCustomer(): Promise<string[]> {
  const { service } = running;
  const read = async (path: string): Promise<Json[]> => (await callLocalService(service, path)).body.rows;
  const subscription = await buy({ productId: product, type: 'paid subscription' });
  const coins = await buy({ productId: createName('coins'), type: 'consumable' });
  const other = toPath('customers', createName('other'));
  await callLocalService(service, `/v3${other}/purchases`, { purchaseId: coins.purchaseId });
  const grant = { entitlement: 'premium'.padEnd(64, 'm'), reason: createName('reason', 500) };
  await callLocalService(service, `/v3${toPath('customers', user)}/grants`, grant);
  await callLocalControl(service, `/purchases/${coins.id}/request-refund`, {});
  await waitFor(
    'the refund request',
    async () => await read('/v3/refund-requests'),
    ({ length }) => length === 1,
  );
  const deliveries = async () => await read('/v3/webhooks/deliveries?state=pending');
  const [delivery] = await waitFor('a failed webhook', deliveries, ([newest]) => newest?.lastAttemptAt !== undefined);
  const [event] = await read(`/v3/events?applicationUsername=${encodeURIComponent(user)}`);
  const customer = toPath('customers', user);
  return [
    ...['/', '/?by=product', '/revenue?by=product', '/subscriptions?by=product', '/retention?by=product'],
    ...['/ltv?by=product', '/conversion?by=product', '/customers', `/customers?q=${encodeURIComponent(user)}`],
    ...[customer, `${customer}?tab=payments`, other, toPath('purchases', subscription.purchaseId)],
    ...[toPath('purchases', coins.purchaseId), '/transactions', '/events', toPath('events', event?.eventId)],
    ...['/webhooks', toPath('webhooks', delivery?.deliveryId), '/refund-requests', '/stores', '/settings', '/emulator'],
  ];
}

/** Lists the texts and controls of the open dialog that are clipped or outside of it. */
const listOutside = `(() => {
  const dialog = document.querySelector('dialog[open]');
  const { left, right, top, bottom } = dialog.getBoundingClientRect();
  const isClipped = ({ scrollWidth, clientWidth, tagName }) => !['PRE', 'SELECT'].includes(tagName) && clientWidth > 0 && scrollWidth > clientWidth + 1;
  const isOutside = (element) => {
    if (element.closest('pre, select, .visually-hidden')) return false;
    const box = element.getBoundingClientRect();
    return box.width > 0 && (box.left < left || box.right > right);
  };
  const isUnreachable = (button) => {
    button.scrollIntoView({ block: 'nearest' });
    const box = button.getBoundingClientRect();
    return box.top < Math.max(0, top) || box.bottom > Math.min(innerHeight, bottom);
  };
  return [
    ...(left < 0 || right > innerWidth ? ['The dialog is wider than the window.'] : []),
    ...[dialog, ...dialog.querySelectorAll('*')].filter(isClipped).map(({ outerHTML }) => 'clipped: ' + outerHTML.slice(0, 200)),
    ...[...dialog.querySelectorAll('*')].filter(isOutside).map(({ outerHTML }) => 'outside: ' + outerHTML.slice(0, 200)),
    ...[...dialog.querySelectorAll('button')].filter(isUnreachable).map(({ outerHTML }) => 'unreachable: ' + outerHTML.slice(0, 200)),
  ];
})()`;

/** Lists the elements whose content is wider, unless it is cut or scrolls. Tables fill their card. */
const listSpilling = `[...document.querySelectorAll('main *, nav *')]
  .filter((element) => getComputedStyle(element).overflowX === 'visible' && !element.closest('.table-scroll, pre, select'))
  .filter(({ clientWidth, scrollWidth }) => clientWidth > 0 && scrollWidth > clientWidth + 1)
  .filter((element) => !element.querySelector('.table-scroll'))
  .map((element) => element.outerHTML.slice(0, 200))`;

const listHiding = `[...document.querySelectorAll('body *')]
  .filter(({ childNodes }) => [...childNodes].some(({ nodeType, data }) => nodeType === Node.TEXT_NODE && /[\\u202a-\\u202e\\u0007\\u200b]/.test(data)))
  .map((element) => element.outerHTML.slice(0, 200))`;

/** Returns what does not fit. Charts and sections that are still loading follow the width some frames later. */
async function measureWhenStill(consolePage: ConsolePage): Promise<object[]> {
  for (let tries = 1; ; tries++) {
    const overflow = await getHorizontalOverflow(consolePage);
    const [spilling, hiding] = await consolePage.page.evaluate<[string[], string[]]>(
      `[${listSpilling}, ${listHiding}]`,
    );
    if (overflow <= 0 && spilling.length === 0 && hiding.length === 0) return [];
    if (tries === 10) return [{ overflow, spilling, hiding }];
    await delay(200);
  }
}

export function describeLongNames(getRunning: () => Promise<RunningConsole>): void {
  describe('Long names with hidden characters', () => {
    let paths: readonly string[];
    let server: ApplicationServer;
    beforeAll(async () => {
      running = await getRunning();
      server = await startApplicationServer();
      server.respondWith({ status: 500, body: createName('body', 900) });
      await givenNamedSettings(server);
      paths = await givenCustomer();
    }, 300_000);

    it('fit into each page, on a desktop and on a phone, and are distinguishable', async () => {
      const consolePage = await running.open('/');
      const { page } = consolePage;
      const findings: object[] = [];
      for (const path of sampleItems(paths, 4)) {
        await consolePage.go(path);
        await waitUntilLoaded(consolePage);
        for (const width of [1280, 360]) {
          await page.setViewportSize({ width, height: 800 });
          findings.push(...(await measureWhenStill(consolePage)).map((finding) => ({ path, width, ...finding })));
        }
      }
      expect(findings).toEqual([]);
      expect(listProblems(consolePage)).toEqual([]);
    }, 300_000);

    it('fit into each dialog at three widths and in both themes', async () => {
      const consolePage = await running.open('/');
      const { page } = consolePage;
      const findings: object[] = [];
      for (const path of sampleItems(paths, 2, 'dialogs')) {
        await consolePage.go(path);
        await waitUntilLoaded(consolePage);
        // The export closes its dialog after the last row.
        const openers = page.locator('[aria-haspopup=dialog]:visible', { hasNotText: 'Export all' });
        const count = await openers.count();
        expect(count).toBeGreaterThan(0);
        for (let index = 0; index < count; index += 1) {
          await page.setViewportSize({ width: 1440, height: 800 });
          await openers.nth(index).click();
          const dialog = page.locator('dialog[open]');
          const title = await dialog.locator('h2').first().textContent();
          await dialog.locator('.skeleton').first().waitFor({ state: 'detached' });
          for (const width of [360, 1024, 1440])
            for (const colorScheme of ['light', 'dark'] as const) {
              await page.setViewportSize({ width, height: 800 });
              await page.emulateMedia({ colorScheme });
              const outside = await page.evaluate<string[]>(listOutside);
              // The colors are the same at each width.
              const violations = width === 360 ? await findAccessibilityViolations(consolePage, 'colors') : [];
              if (outside.length + violations.length > 0)
                findings.push({ path, title, width, colorScheme, outside, violations });
            }
          await page.keyboard.press('Escape');
          await dialog.waitFor({ state: 'detached' });
        }
      }
      expect(findings).toEqual([]);
      await server.close();
    }, 600_000);
  });
}
