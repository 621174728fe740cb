import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { LocalService } from '../local/start-local.ts';
import { launchBrowser } from './launch-browser.ts';
import { startLocalService } from './local-service.ts';

const timeoutMs = 180_000;

export type Theme = 'light' | 'dark';

interface PageOptions {
  readonly theme?: Theme;
  /** In pixels; 1280 by default. */
  readonly width?: number;
  readonly height?: number;
  /** Default: the secret key of the demo app. */
  readonly key?: string;
}

/** A page of the console, with everything that went wrong in it. */
export interface ConsolePage {
  readonly page: Page;
  /** Errors in the console of the browser, CSP violations and uncaught exceptions. */
  readonly problems: readonly string[];
  /** Method and path of each request to the service that could change something. */
  readonly changes: readonly string[];
  /** Opens another page of the console: a path such as `/customers/alice?skip=100`. */
  go(path: string): Promise<void>;
}

/** A local service and a browser, for the tests of one file. */
export interface RunningConsole {
  readonly service: LocalService;
  /** Signs in by the link that `npm start` prints, and opens a page of the console in a tab without earlier data. */
  open(path: string, options?: PageOptions): Promise<ConsolePage>;
  /** Opens a new tab with a link that signs in and names the page. */
  openLink(path: string, options?: PageOptions): Promise<ConsolePage>;
  /** Opens the console without signing in. */
  openSignedOut(options?: PageOptions): Promise<ConsolePage>;
  /** Closes all tabs, which otherwise go on polling. */
  closeTabs(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the local service and a browser. They cost seconds: start them once for a file. */
export async function startConsole(): Promise<RunningConsole> {
  const [service, browser] = await Promise.all([startLocalService(), launchBrowser()]);
  const openUrl = async (url: string, options: PageOptions = {}) => await openTab(browser, url, options);
  return {
    service,
    async open(path, options) {
      const consolePage = await openUrl(replaceKey(service, options?.key), options);
      await consolePage.page.locator('#navigation').waitFor({ state: 'attached' });
      if (path !== '/') await consolePage.go(path);
      return consolePage;
    },
    openLink: async (path, options) =>
      await openUrl(`${replaceKey(service, options?.key)}&page=${encodeURIComponent(path)}`, options),
    openSignedOut: async (options) => await openUrl(`${service.baseUrl}/console`, options),
    closeTabs: async () => void (await Promise.all(browser.contexts().map((context) => context.close()))),
    async close() {
      await Promise.all([browser.close(), service.close()]);
    },
  };
}

const replaceKey = ({ consoleUrl, secretKey }: LocalService, key = secretKey): string =>
  consoleUrl.replace(secretKey, key);

async function openTab(
  browser: Browser,
  url: string,
  { theme = 'light', width = 1280, height = 800 }: PageOptions,
): Promise<ConsolePage> {
  const options: BrowserContextOptions = {
    colorScheme: theme,
    viewport: { width, height },
    locale: 'en-US',
    timezoneId: 'America/New_York',
    reducedMotion: 'reduce',
  };
  const page = await (await browser.newContext(options)).newPage();
  // Far above any duration: a test must not fail because the machine is slow.
  page.setDefaultTimeout(timeoutMs);
  const problems: string[] = [];
  const changes: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      problems.push(`${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => {
    if (request.method() !== 'GET') changes.push(`${request.method()} ${new URL(request.url()).pathname}`);
  });
  await page.goto(url);
  return {
    page,
    problems,
    changes,
    async go(path) {
      await page.evaluate((fragment) => {
        (globalThis as unknown as { location: { hash: string } }).location.hash = fragment;
      }, path);
    },
  };
}

/** Waits until the page has shown its data: no part of it is loading. */
export async function waitUntilLoaded({ page }: ConsolePage): Promise<void> {
  await page.locator('main h1').waitFor();
  await page.locator('.skeleton, .skeleton-text, [aria-busy=true]').first().waitFor({ state: 'detached' });
  await page.waitForLoadState('networkidle');
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Lists the violations that axe finds on the page, with their elements. */
export async function findAccessibilityViolations({ page }: ConsolePage): Promise<string[]> {
  // Not by a script element, which the content security policy of the console forbids.
  await page.evaluate(axeSource);
  const { violations } = (await page.evaluate('axe.run()')) as AxeResults;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** Returns by how many pixels the page is wider than the window. */
export const getHorizontalOverflow = async ({ page }: ConsolePage): Promise<number> =>
  await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
