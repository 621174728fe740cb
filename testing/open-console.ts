import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { BrowserContext, Page, Request } from 'playwright-core';
import type { IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import type { LocalService } from '../local/start-local.ts';
import { launchBrowser } from './launch-browser.ts';
import { startLocalService } from './local-service.ts';
import { waitFor } from './wait-for.ts';

const timeoutMs = 180_000;

export type Theme = 'light' | 'dark';

interface PageOptions {
  readonly theme?: Theme;
  /** In pixels; 1280 by default. */
  readonly width?: number;
  readonly height?: number;
  /** Default: the secret key of the app. */
  readonly key?: string;
  /** Uses no file that earlier tabs have loaded. Default: false. */
  readonly isUncached?: boolean;
}

/** A page of the console, with everything that went wrong in it. */
export interface ConsolePage {
  readonly page: Page;
  /** Errors in the console of the browser, CSP violations and uncaught exceptions. */
  readonly problems: readonly string[];
  /** Method and path of each request to the service that could change something. */
  readonly changes: readonly string[];
  /** Requests of the page that have no response yet. */
  readonly pending: ReadonlySet<Request>;
  /** Opens another page of the console: a path such as `/customers/alice?skip=100`. */
  go(path: string): Promise<void>;
}

/** A local service and a browser, for the tests of one file. */
export interface RunningConsole {
  readonly service: LocalService;
  readonly context: BrowserContext;
  /** Signs in by a link that names the page, in a new tab. Tabs share nothing but the theme and the cache. */
  open(path: string, options?: PageOptions): Promise<ConsolePage>;
  /** Opens the console without signing in. */
  openSignedOut(options?: PageOptions): Promise<ConsolePage>;
  /** Closes all opened tabs, which otherwise go on polling. */
  closeTabs(): Promise<void>;
  close(): Promise<void>;
}

const profile = { locale: 'en-US', timezoneId: 'America/New_York', reducedMotion: 'reduce' } as const;

/** Starts the local service and a browser. They cost seconds: start them once for a file. */
export async function startConsole(): Promise<RunningConsole> {
  const [service, browser] = await Promise.all([startLocalService(), launchBrowser()]);
  const context = await browser.newContext(profile);
  // Keeps the process of the tabs, which otherwise ends with the last one.
  await (await context.newPage()).goto(`${service.baseUrl}/console/none`);
  return {
    ...createTabs(context, service),
    async close() {
      await Promise.all([browser.close(), service.close()]);
    },
  };
}

/** Returns the console for another app of the same service, with the keys of `app`. */
export const withApp = ({ service, context, close }: RunningConsole, app: IssuedApiKeys): RunningConsole => {
  const fragment = new URLSearchParams({ app: app.appName, key: app.secretKey });
  return {
    ...createTabs(context, { ...service, ...app, consoleUrl: `${service.baseUrl}/console#${fragment}` }),
    close,
  };
};

function createTabs(context: BrowserContext, service: LocalService): Omit<RunningConsole, 'close'> {
  return {
    service,
    context,
    async open(path, options = {}) {
      const link = `${replaceKey(service, options.key)}${path === '/' ? '' : `&page=${encodeURIComponent(path)}`}`;
      const consolePage = await openTab(context, link, options);
      await consolePage.page.locator('#navigation').waitFor({ state: 'attached' });
      return consolePage;
    },
    openSignedOut: async (options = {}) => await openTab(context, `${service.baseUrl}/console`, options),
    async closeTabs() {
      const [_idle, ...opened] = context.pages();
      await Promise.all(opened.map((page) => page.close()));
    },
  };
}

const replaceKey = ({ consoleUrl, secretKey }: LocalService, key = secretKey): string =>
  consoleUrl.replace(secretKey, key);

async function openTab(
  context: BrowserContext,
  url: string,
  { theme = 'light', width = 1280, height = 800, isUncached = false }: PageOptions,
): Promise<ConsolePage> {
  const page = await (isUncached ? ((await context.browser()?.newContext(profile)) ?? context) : context).newPage();
  await page.emulateMedia({ colorScheme: theme });
  await page.setViewportSize({ width, height });
  // Far above any duration: a test must not fail because the machine is slow.
  page.setDefaultTimeout(timeoutMs);
  const problems: string[] = [];
  const changes: string[] = [];
  const pending = new Set<Request>();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      problems.push(`${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => {
    if (request.method() !== 'GET') changes.push(`${request.method()} ${new URL(request.url()).pathname}`);
    pending.add(request);
  });
  for (const event of ['requestfinished', 'requestfailed'] as const)
    page.on(event as 'requestfinished', (request) => pending.delete(request));
  await page.goto(url);
  return {
    page,
    problems,
    changes,
    pending,
    async go(path) {
      await page.evaluate((fragment) => {
        (globalThis as unknown as { location: { hash: string } }).location.hash = fragment;
      }, path);
    },
  };
}

/** A program of the page that ends after the next rendering and its effects, which can send requests. */
const render =
  'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))';

/** Waits until the page has shown its data: no part of it is loading, and no request waits for its response. */
export async function waitUntilLoaded({ page, pending }: ConsolePage): Promise<void> {
  await page.locator('main h1').waitFor();
  const loading = page.locator('.skeleton, .skeleton-text, [aria-busy=true]');
  await waitFor('the end of loading', async () => {
    await loading.first().waitFor({ state: 'detached' });
    await page.evaluate(render);
    return pending.size === 0 && (await loading.count()) === 0;
  });
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const colorRules = ['color-contrast', 'link-in-text-block'];
const ruleSets = {
  all: undefined,
  colors: colorRules,
  layout: [...colorRules, 'target-size', 'scrollable-region-focusable', 'button-name', 'aria-hidden-focus', 'region'],
} as const;
export type RuleSet = keyof typeof ruleSets;

/** Lists the violations that axe finds on the page, with their elements. */
export async function findAccessibilityViolations({ page }: ConsolePage, rules: RuleSet = 'all'): Promise<string[]> {
  // Not by a script element, which the content security policy of the console forbids.
  // Sends the library to each document once. An expression with the library as its value would also send it back.
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(`(() => { ${axeSource} })()`);
  const values = ruleSets[rules];
  const options = { resultTypes: ['violations'], ...(values ? { runOnly: { type: 'rule', values } } : {}) };
  // The results of the rules that pass contain each element of the page: a tenth of the suite's CPU time to transfer.
  const violations = await page.evaluate<AxeResults['violations']>(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** Returns by how many pixels the page is wider than the window. */
export const getHorizontalOverflow = async ({ page }: ConsolePage): Promise<number> =>
  await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
