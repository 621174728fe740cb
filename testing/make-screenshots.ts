import '../lib/foundation/disable-node-version-warning.ts';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildStartupMessage } from '../local/startup-message.ts';
import { callLocalControl, callLocalService, type Json } from './call-local.ts';
import { emulatorSteps, performStep } from './emulator-steps.ts';
import { type ConsolePage, type RunningConsole, startConsole, type Theme, waitUntilLoaded } from './open-console.ts';
import { createRunKeys } from './run-keys.ts';
import { loadShowcase, showcaseTime } from './showcase.ts';
import { waitFor } from './wait-for.ts';

const folder = fileURLToPath(new URL('../docs/images', import.meta.url));

interface Screenshot {
  /** File name without extension. */
  readonly name: string;
  readonly path: string;
  readonly theme?: Theme;
  readonly width?: number;
  readonly height?: number;
}

/** Every page, with the half year of `loadShowcase`. */
async function listPageScreenshots({ service }: RunningConsole): Promise<Screenshot[]> {
  const { body } = await callLocalService(service, '/v3/search/alice');
  const validation = (body.rows as Json[]).find(({ context }) => context.eventType === 'receipt.validated');
  const purchasePath = async (customer: string) => {
    const { body } = await callLocalService(service, `/v3/customers/${customer}`);
    const [purchase] = Object.values(body.purchases as Json).filter(({ productId }) => productId.includes('premium'));
    return `/purchases/${encodeURIComponent(purchase.purchaseId)}`;
  };
  const { body: deliveries } = await callLocalService(service, '/v3/webhooks/deliveries?state=delivered&limit=1');
  return [
    { name: 'overview', path: '/?period=12m', height: 1_060 },
    { name: 'overview-dark', path: '/?period=12m', theme: 'dark', height: 1_060 },
    { name: 'overview-phone', path: '/?period=12m', width: 390, height: 844 },
    { name: 'customers', path: '/customers' },
    { name: 'search', path: '/customers?q=alice' },
    { name: 'customer', path: '/customers/alice', height: 1_060 },
    { name: 'customer-phone', path: '/customers/alice', width: 390, height: 844 },
    { name: 'purchase', path: await purchasePath('alice'), height: 1_500 },
    { name: 'purchase-in-grace', path: await purchasePath('grace'), height: 1_500 },
    { name: 'transactions', path: '/transactions' },
    { name: 'events', path: '/events' },
    { name: 'event', path: `/events/${validation?.eventId}` },
    { name: 'event-calls', path: `/events/${validation?.eventId}?tab=calls`, height: 480 },
    { name: 'webhooks', path: '/webhooks' },
    { name: 'webhook', path: `/webhooks/${encodeURIComponent((deliveries.rows as Json[])[0]?.deliveryId)}` },
    { name: 'stores', path: '/stores', height: 1_060 },
    { name: 'reference', path: '/reference' },
    { name: 'operation', path: '/reference/get-customer' },
    { name: 'emulator', path: '/emulator', height: 1_060 },
  ];
}

async function writeScreenshot({ page }: Pick<ConsolePage, 'page'>, name: string): Promise<void> {
  await page.evaluate('scrollTo(0, 0)');
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' });
  console.log(`docs/images/${name}.png`);
}

async function makePageScreenshots(running: RunningConsole): Promise<void> {
  await loadShowcase(running.service);
  await waitFor('counted figures', async () => {
    const { body } = await callLocalService(running.service, '/v3/stats/mrr');
    return Date.parse(body.countedUntil) >= Date.parse(showcaseTime);
  });
  for (const { name, path, ...options } of await listPageScreenshots(running)) {
    const consolePage = await running.open(path, options);
    await waitUntilLoaded(consolePage);
    await writeScreenshot(consolePage, name);
    await consolePage.page.close();
  }
}

/** The emulator page and the purchase page, both open, after each step in the life of a subscription. */
async function makeStepScreenshots(running: RunningConsole): Promise<void> {
  await callLocalControl(running.service, '/clock', { set: showcaseTime });
  const emulator = await running.open('/emulator', { height: 1_500 });
  let purchase: ConsolePage | undefined;
  for (const [index, step] of emulatorSteps.entries()) {
    await performStep(emulator.page, step);
    purchase ??= await openSelectedPurchase(running, emulator);
    // Each step sends one webhook. The purchase page shows it without a reload.
    await purchase.page.getByText('Webhook to the server of the app sent').nth(index).waitFor();
    await waitUntilLoaded(purchase);
    await writeScreenshot(emulator, `step-${index + 1}-${step.name}`);
    await writeScreenshot(purchase, `step-${index + 1}-${step.name}-purchase`);
  }
}

async function openSelectedPurchase(running: RunningConsole, { page }: ConsolePage): Promise<ConsolePage> {
  const link = page.getByRole('link', { name: 'Open the purchase page' });
  const [, path = ''] = ((await link.getAttribute('href')) ?? '').split('#');
  return await running.open(path, { height: 1_500 });
}

/** Styles of a terminal. Lines that are too long are cut. */
const terminalStyle =
  'margin: 0; padding: 16px; background: #111; color: #ddd; font: 13px/1.45 monospace; overflow: hidden';

/** The terminal after the two commands of the README, with the default ports. */
async function makeTerminalScreenshot({ service, openSignedOut }: RunningConsole): Promise<void> {
  const output = buildStartupMessage(service, {
    isPersistent: true,
    folder: '.local',
    storedFolder: '.local',
    isDefaultFolder: true,
  })
    .replaceAll(service.baseUrl, 'http://127.0.0.1:4000')
    .replaceAll(service.emulatorUrl, 'http://127.0.0.1:4001');
  const consolePage = await openSignedOut({ width: 1_000, height: 370 });
  // Without the content security policy of the console.
  await consolePage.page.goto('about:blank');
  const text = `$ npm ci && npm start\n${output}`.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  await consolePage.page.setContent(`<body style="margin: 0"><pre style="${terminalStyle}">${text}</pre></body>`);
  await writeScreenshot(consolePage, 'start');
}

/**
 * Writes docs/images/. The clock of the service, the data and the size are the same in each run; ids and durations are
 * not.
 */
async function makeScreenshots(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const deleteRunKeys = await createRunKeys();
  try {
    for (const make of [makeTerminalScreenshot, makePageScreenshots, makeStepScreenshots]) await makeWith(make);
  } finally {
    await deleteRunKeys();
  }
}

async function makeWith(make: (running: RunningConsole) => Promise<void>): Promise<void> {
  const running = await startConsole();
  try {
    await make(running);
  } finally {
    await running.close();
  }
}

await makeScreenshots();
