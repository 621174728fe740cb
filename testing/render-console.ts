import { afterAll } from '@jest/globals';
import { JSDOM } from 'jsdom';
import { type ComponentChild, h, render } from 'preact';
import * as v from 'valibot';
import { projectFolder } from '../infra/project-folder.ts';
import type { Contract } from '../lib/api/contract.ts';
import { waitFor } from './wait-for.ts';

/** A request of the console, with the parameters of the path decoded. */
export interface ConsoleRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** The API key of the request. */
  readonly key: string;
}

interface Route {
  readonly contract: Contract;
  readonly respond: (request: ConsoleRequest) => unknown;
}

/** The responses of the service to the requests of a contract. They are checked with its schema. */
export const respondTo = <Body>(
  contract: Contract & { readonly response: v.GenericSchema<Body, unknown> },
  respond: (request: ConsoleRequest) => Awaitable<NoInfer<Body> | HttpFailure>,
): Route => ({ contract, respond });

type Awaitable<T> = T | Promise<T>;

/** A response with an error. */
export interface HttpFailure {
  readonly ok: false;
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** A page of the console in jsdom, without a browser and a service. Layout, focus and CSP need `startConsole`. */
export interface RenderedConsole {
  /** Requests so far, such as `GET /v3/app`. */
  readonly requests: readonly string[];
  /** Reads the text of the page, or of the section, dialog or tab panel with a title. */
  readText(region?: string): string;
  waitForText(text: string | RegExp, region?: string): Promise<void>;
  findAll(selector: string, region?: string): Element[];
  /** Clicks the button, tab, link or checkbox with a name as soon as it is there. */
  click(name: string | RegExp, region?: string): Promise<void>;
  enter(label: string, value: string): Promise<void>;
  go(path: string): void;
  /** Presses a key in the page. */
  press(key: string, modifiers?: { readonly ctrlKey?: boolean }): void;
  /** Queries the service as a tab does that becomes visible again. */
  poll(): void;
  /** Throws if the page has sent a request without a route. */
  close(): void;
}

const { window } = new JSDOM('<!doctype html><meta name="emulator-url" content="http://stores"><div id="console">', {
  url: 'http://localhost/console',
  pretendToBeVisual: true,
});
afterAll(() => window.close());
// Not implemented by jsdom.
Object.assign(window.HTMLDialogElement.prototype, { showModal() {}, close() {} });

const browserGlobals = {
  window,
  document: window.document,
  location: window.location,
  history: window.history,
  navigator: window.navigator,
  sessionStorage: window.sessionStorage,
  localStorage: window.localStorage,
  HTMLElement: window.HTMLElement,
  HashChangeEvent: window.HashChangeEvent,
  addEventListener: window.addEventListener.bind(window),
  removeEventListener: window.removeEventListener.bind(window),
  dispatchEvent: window.dispatchEvent.bind(window),
  requestAnimationFrame: window.requestAnimationFrame.bind(window),
  cancelAnimationFrame: window.cancelAnimationFrame.bind(window),
  scrollTo: () => {},
  // The charts use these. They lack a size in jsdom and draw nothing.
  CustomEvent: window.CustomEvent,
  devicePixelRatio: 1,
  matchMedia: () => ({ matches: false, addEventListener() {}, removeEventListener() {} }),
  ResizeObserver: class {
    observe() {}
    disconnect() {}
  },
};

interface RenderOptions {
  readonly level?: 'secret' | 'viewer' | 'support';
  /** Changes state of the stores. Default: a clock that shows the time of the machine. */
  readonly respondAsStores?: (path: string, body: unknown) => object;
}

/** Opens a page of the console with a session. */
export async function renderConsole(
  path: string,
  routes: readonly Route[],
  { level = 'secret', respondAsStores = () => ({ now: new Date().toISOString() }) }: RenderOptions = {},
): Promise<RenderedConsole> {
  for (const [name, value] of Object.entries(browserGlobals))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  const requests: string[] = [];
  const problems: string[] = [];
  globalThis.fetch = async (input, init) => {
    const url = new URL(String(input));
    const method = init?.method ?? 'GET';
    const body = typeof init?.body === 'string' ? (JSON.parse(init.body) as unknown) : undefined;
    if (url.hostname === 'stores') return Response.json(respondAsStores(url.pathname, body));
    requests.push(`${method} ${url.pathname}${url.search}`);
    init?.signal?.throwIfAborted();
    const response = await respond(routes, { method, url, body, key: readKey(init) });
    init?.signal?.throwIfAborted();
    if (!response) problems.push(`No route for ${method} ${url.pathname}`);
    return response ?? new Response('', { status: 404 });
  };
  window.location.hash = path;
  const { startSession, endSession } = await loadConsoleModule('session.ts');
  const { App } = await loadConsoleModule('app.tsx');
  startSession?.({ appName: 'demo', key: 'key', keyName: 'default', level });
  const root = window.document.querySelector('#console') as unknown as Parameters<typeof render>[1];
  render(h(App as () => ComponentChild, {}), root);
  return {
    requests,
    ...createQueries(),
    press: (key, modifiers) =>
      void window.dispatchEvent(new window.KeyboardEvent('keydown', { key, cancelable: true, ...modifiers })),
    go(target) {
      window.location.hash = target;
    },
    poll: () => void window.document.dispatchEvent(new window.Event('visibilitychange')),
    close() {
      render(null, root);
      endSession?.();
      if (problems.length > 0) throw new Error(problems.join('\n'));
    },
  };
}

/** Imports a module of the console at run time: its types need the DOM. */
export const loadConsoleModule = async (file: string): Promise<Record<string, (...args: unknown[]) => unknown>> =>
  await import(`${projectFolder}/console/${file}`);

interface ReceivedRequest extends Pick<ConsoleRequest, 'body' | 'key'> {
  readonly method: string;
  readonly url: URL;
}

/** Reads the API key of a request with Basic authentication. */
function readKey(init: RequestInit | undefined): string {
  const [, credentials = ''] = (new Headers(init?.headers).get('authorization') ?? '').split(' ');
  return Buffer.from(credentials, 'base64').toString().split(':')[1] ?? '';
}

async function respond(
  routes: readonly Route[],
  { method, url, body, key }: ReceivedRequest,
): Promise<Response | undefined> {
  for (const { contract, respond: create } of routes) {
    const pattern = new RegExp(`^${contract.path.replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`);
    const match = contract.method === method ? pattern.exec(url.pathname) : null;
    if (!match) continue;
    const params = Object.fromEntries(
      Object.entries(match.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]),
    );
    const result = await create({ params, query: Object.fromEntries(url.searchParams), body, key });
    const { status } = result as Partial<HttpFailure>;
    if (typeof status === 'number') return Response.json(result, { status });
    v.assert(contract.response, result);
    return Response.json(result);
  }
  return undefined;
}

const getName = (element: Element): string =>
  (element.getAttribute('aria-label') ?? element.textContent ?? '').replace(/\s+/g, ' ').trim();

const matches = (text: string, pattern: string | RegExp): boolean =>
  typeof pattern === 'string' ? text.includes(pattern) : pattern.test(text);

function createQueries(): Pick<RenderedConsole, 'readText' | 'waitForText' | 'findAll' | 'click' | 'enter'> {
  const { document } = window;
  const findRegion = (title?: string): Element | undefined => {
    if (title === undefined) return document.body;
    const select = (selector: string) =>
      [...document.querySelectorAll(selector)].find((region) => region.querySelector('h2')?.textContent === title);
    // The section of a table can contain a dialog with the same title.
    return select('dialog') ?? select('section');
  };
  const readText = (region?: string): string => (findRegion(region)?.textContent ?? '').replace(/\s+/g, ' ');
  const findAll = (selector: string, region?: string): Element[] => [
    ...(findRegion(region)?.querySelectorAll(selector) ?? []),
  ];
  const waitForElement = async (name: string, find: () => Element | undefined): Promise<Element> =>
    (await waitFor(`${name} in: ${readText()}`, find)) as Element;
  return {
    readText,
    findAll,
    waitForText: async (text, region) =>
      void (await waitFor(
        `the text ${text}`,
        () => readText(region),
        (shown) => matches(shown, text),
      )),
    async click(name, region) {
      const element = await waitForElement(`the button ${name}`, () =>
        findAll('button:not([disabled]), a, label.checkbox', region).find((candidate) =>
          typeof name === 'string' ? getName(candidate) === name : name.test(getName(candidate)),
        ),
      );
      (element as HTMLElement).click();
    },
    async enter(label, value) {
      const field = (await waitForElement(`the field ${label}`, () => {
        const id = findAll('label')
          .find((candidate) => getName(candidate) === label)
          ?.getAttribute('for');
        return id ? (document.getElementById(id) ?? undefined) : undefined;
      })) as HTMLInputElement;
      field.value = value;
      for (const type of ['input', 'change']) field.dispatchEvent(new window.Event(type, { bubbles: true }));
    },
  };
}
