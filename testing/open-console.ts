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
  /** Loads the console in a new tab. Default: false. */
  readonly isNewTab?: boolean;
}

/** A page of the console, with everything that went wrong in it. */
export interface ConsolePage {
  readonly page: Page;
  /** Errors in the console of the browser, CSP violations and uncaught exceptions. */
  readonly problems: readonly string[];
  /** Method and path of each request to the service that could change something. */
  readonly changes: readonly string[];
  /** Requests of the page that wait for a response. */
  readonly pending: ReadonlySet<Request>;
  /** Opens another page of the console: a path such as `/customers/alice?skip=100`. */
  go(path: string): Promise<void>;
  /** Leaves the tab to the next page of the app, or closes it. */
  close(): Promise<void>;
}

interface Tab extends ConsolePage {
  readonly problems: string[];
  readonly changes: string[];
}

/** A tab with the secret key of an app, for one page after the other. */
interface SharedTab {
  readonly appName: string;
  readonly tab: Tab;
  isUsed: boolean;
}

interface Tabs {
  readonly context: BrowserContext;
  shared?: SharedTab;
}

/** A local service and a browser, for the tests of one file. */
export interface RunningConsole {
  readonly service: LocalService;
  readonly tabs: Tabs;
  /**
   * Signs in by a link that names the page: in the shared tab of the app, if no other page uses it, and otherwise in a
   * new one, which takes six times the processor time. The link replaces all elements of the former page. Tabs share
   * nothing but the theme and the cache.
   */
  open(path: string, options?: PageOptions): Promise<ConsolePage>;
  /** Opens the console without signing in. */
  openSignedOut(options?: PageOptions): Promise<ConsolePage>;
  /** Opens a page of the documentation site, such as `guides/credits.html`. */
  openDocument(path: string, options?: PageOptions): Promise<ConsolePage>;
  /** Ends the use of all opened tabs, which otherwise go on polling. */
  closeTabs(): Promise<void>;
  close(): Promise<void>;
}

const profile = { locale: 'en-US', timezoneId: 'America/New_York', reducedMotion: 'reduce' } as const;

/** Starts the local service and a browser. They cost seconds: start them once for a file. */
export async function startConsole(): Promise<RunningConsole> {
  const [service, browser] = await Promise.all([startLocalService({ hasDocumentation: true }), launchBrowser()]);
  const context = await browser.newContext(profile);
  // Keeps the process of the tabs, which otherwise ends with the last one.
  await (await context.newPage()).goto(`${service.baseUrl}/console/none`);
  const tabs: Tabs = { context };
  return {
    ...createOpeners(tabs, service),
    tabs,
    async close() {
      await Promise.all([browser.close(), service.close()]);
    },
  };
}

/** Returns the console for another app of the same service, with the keys of `app`. */
export const withApp = ({ service, tabs, close }: RunningConsole, app: IssuedApiKeys): RunningConsole => {
  const fragment = new URLSearchParams({ app: app.appName, key: app.secretKey });
  return {
    ...createOpeners(tabs, { ...service, ...app, consoleUrl: `${service.baseUrl}/console#${fragment}` }),
    tabs,
    close,
  };
};

function createOpeners(
  tabs: Tabs,
  service: LocalService,
): Pick<RunningConsole, 'service' | 'open' | 'openSignedOut' | 'openDocument' | 'closeTabs'> {
  const { context } = tabs;
  return {
    service,
    async open(path, options = {}) {
      const { key, isUncached = false, isNewTab = isUncached || key !== undefined } = options;
      const link = `${replaceKey(service, key)}${path === '/' ? '' : `&page=${encodeURIComponent(path)}`}`;
      const consolePage = isNewTab
        ? await openTab(context, link, options)
        : await openSharedTab(tabs, service, { ...options, link });
      await consolePage.page.locator('#navigation').waitFor({ state: 'attached' });
      return consolePage;
    },
    openSignedOut: async (options = {}) => await openTab(context, `${service.baseUrl}/console`, options),
    openDocument: async (path, options = {}) => await openTab(context, `${service.baseUrl}/docs/${path}`, options),
    async closeTabs() {
      const [_idle, ...opened] = context.pages();
      const { shared } = tabs;
      await Promise.all(opened.map((page) => (page === shared?.tab.page ? leave(shared) : page.close())));
    },
  };
}

const replaceKey = ({ consoleUrl, secretKey }: LocalService, key = secretKey): string =>
  consoleUrl.replace(secretKey, key);

/** Opens the link in the shared tab of the app, unless another page uses it. */
async function openSharedTab(
  tabs: Tabs,
  { appName }: LocalService,
  { link, ...options }: PageOptions & { readonly link: string },
): Promise<ConsolePage> {
  const { context, shared } = tabs;
  if (shared?.appName === appName && !shared.tab.page.isClosed()) {
    if (shared.isUsed) return await openTab(context, link, options);
    shared.isUsed = true;
    await setView(shared.tab.page, options);
    await shared.tab.page.goto(link);
    return shared.tab;
  }
  await shared?.tab.page.close();
  const tab = await openTab(context, link, options);
  const opened: SharedTab = { appName, tab: { ...tab, close: async () => await leave(opened) }, isUsed: true };
  tabs.shared = opened;
  return opened.tab;
}

/** Ends the use of the shared tab: opens a page that does not poll, and removes the traces of the former page. */
async function leave(shared: SharedTab): Promise<void> {
  const { page, problems, changes, pending } = shared.tab;
  if (!shared.isUsed || page.isClosed()) return;
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await shared.tab.go('/none');
  // Elements of the next page must not have the colors of hovered ones.
  await page.mouse.move(0, 0);
  await waitFor('the last response', () => pending.size === 0);
  problems.length = 0;
  changes.length = 0;
  shared.isUsed = false;
}

async function setView(page: Page, { theme = 'light', width = 1280, height = 800 }: PageOptions): Promise<void> {
  await page.emulateMedia({ colorScheme: theme });
  await page.setViewportSize({ width, height });
}

async function openTab(context: BrowserContext, url: string, options: PageOptions): Promise<Tab> {
  const { isUncached = false } = options;
  const page = await (isUncached ? ((await context.browser()?.newContext(profile)) ?? context) : context).newPage();
  await setView(page, options);
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
    close: async () => await page.close(),
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
